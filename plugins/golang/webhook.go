package golang

import (
	"cmp"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// webhookValues is what the templates of webhooks and of their tests print.
type webhookValues struct {
	Project *project.Config
	Header  string
	Package string

	Kind, Lower, Version, Plural, Article string
	Group, MarkerGroup                    string // with the domain; as markers write it
	Own, Core                             bool   // whose types they are: the project's, Kubernetes'; else another module's
	Alias, APIPath                        string // how the types are imported
	Var                                   string // a variable that holds an object of the kind
	DefaultingPath, ValidationPath        string // of the URLs
	Name                                  string // of the webhooks in their configurations, behind m or v
	Sample                                string // path of the sample from the root
	CRDPath, ForeignCRDPath               string // from the package's folder, as Go strings
	ManifestsPath                         string

	Import webhookImports // in what is added to a file of the user
}

// webhookImports are the names by which a file knows the packages that its
// webhooks need.
type webhookImports struct {
	API, Context, Admission, APIErrors, Field, Schema string
}

// createWebhook plans the webhooks that e asks for, with their tests, and has
// the manager serve them. A conversion is served by the same setup function.
func createWebhook(e plugin.Event, p *scaffold.Plan) error {
	c, r := e.Project, *e.Resource
	if c.Repo == "" {
		return fault.Usage("add the line: repo: example.com/name (the module path in go.mod)", "%s has no repo", project.File)
	}
	if err := checkMain(r, webhookLines(c, r), p); err != nil {
		return err
	}
	data, err := webhookValuesOf(e, p)
	if err != nil {
		return err
	}
	vars := map[string]string{"webhookdir": c.WebhookDir(r), "kind": r.Lower()}
	file, err := planWebhookFile(c, r, p, vars, data)
	if err != nil {
		return err
	}
	if p.Seeded(file) {
		// Its pristine content has all webhooks of the kind, in canonical order.
		if known := c.Find(r.Group, r.Version, r.Kind); known != nil && known.Webhooks != nil {
			r.Webhooks = known.Webhooks
		}
	}
	for _, w := range admissions(r) {
		if err := w.plan(r, file, p, vars, data); err != nil {
			return err
		}
	}
	if err := planWebhookSuite(c, r, p, vars, data); err != nil {
		return err
	}
	if err := wireWebhook(c, r, p); err != nil {
		return err
	}
	if err := wireE2E(c, r, p); err != nil {
		return err
	}
	if e.Resource.Webhooks.Conversion {
		if err := planConversion(e, p); err != nil {
			return err
		}
	}
	needed := forAPI
	if inClientScheme(r) {
		needed = everything
	}
	return planModules(c.Repo, needed, p)
}

func webhookValuesOf(e plugin.Event, p *scaffold.Plan) (webhookValues, error) {
	c, r := e.Project, *e.Resource
	header, err := readHeader(e, p)
	if err != nil {
		return webhookValues{}, err
	}
	v := webhookValues{
		Project:        c,
		Header:         header,
		Package:        r.Version,
		Kind:           r.Kind,
		Lower:          r.Lower(),
		Version:        r.Version,
		Plural:         r.PluralName(),
		Article:        r.Article(),
		Group:          r.QualifiedGroup(),
		MarkerGroup:    r.QualifiedGroup(),
		Own:            !r.Foreign(),
		Core:           r.Core,
		Alias:          r.ImportAlias(),
		APIPath:        c.APIPath(r),
		Var:            r.VarName(),
		DefaultingPath: r.DefaultingPath(),
		ValidationPath: r.ValidationPath(),
		Name:           webhookName(c, r),
		Sample:         c.SamplePath(r),
		CRDPath:        climb(c.WebhookDir(r), "config/crd/bases"),
		ForeignCRDPath: climb(c.WebhookDir(r), "test/crd"),
		ManifestsPath:  climb(c.WebhookDir(r), "config/webhook/manifests.yaml"),
	}
	if v.MarkerGroup == "" {
		v.MarkerGroup = `""`
	}
	return v, nil
}

// webhookName is kubebuilder's name for the webhooks of r. Kinds of one name in
// several groups would then share it, which the API server refuses: those that
// PROJECT has later are told apart by their group. What PROJECT has earlier never
// changes, so the name stays.
func webhookName(c *project.Config, r project.Resource) string {
	for _, o := range c.Resources {
		if o.SameVersion(r) {
			break
		}
		if o.Lower() == r.Lower() && o.Version == r.Version {
			return r.Lower() + "-" + r.Version + "." + cmp.Or(r.QualifiedGroup(), r.Group) + ".kb.io"
		}
	}
	return r.Lower() + "-" + r.Version + ".kb.io"
}

func webhookSetup(r project.Resource) string { return "Setup" + r.Kind + "WebhookWithManager" }

// planWebhookFile plans the file with the setup function, which stays where the
// user has it, and returns that file.
func planWebhookFile(c *project.Config, r project.Resource, p *scaffold.Plan, vars map[string]string, data webhookValues) (string, error) {
	held, err := heldWebhooks(r, p)
	if err != nil {
		return "", err
	}
	setup := part{name: webhookSetup(r), held: held != nil, hint: "rename what is there"}
	file := c.WebhookDir(r) + "/" + r.Lower() + "_webhook.go"
	disk, base, err := p.Before(file)
	if err != nil {
		return "", err
	}
	there, err := declaredIn(c.WebhookDir(r), setup.name, p)
	if err != nil {
		return "", err
	}
	again := p.Seeded(mainFile) || p.Forced()
	if known := there != "" || disk != nil && (base != nil || setup.held); !known || again {
		if err := tree("webhook", vars, data, setup.seed(p)); err != nil {
			return "", err
		}
	}
	if there, err = declaredIn(c.WebhookDir(r), setup.name, p); there != "" {
		file = there
	}
	return file, err
}

// heldWebhooks returns the webhooks of r that PROJECT recorded before this
// command, or nil.
func heldWebhooks(r project.Resource, p *scaffold.Plan) (*project.Webhooks, error) {
	before, err := recorded(p)
	if before == nil || err != nil {
		return nil, err
	}
	for _, old := range before.Resources {
		if old.SameVersion(r) {
			return old.Webhooks, nil
		}
	}
	return nil, nil
}

// declaredIn returns the file of the package in dir that declares name and is no
// test, or "".
func declaredIn(dir, name string, p *scaffold.Plan) (string, error) {
	files, err := p.Files(dir)
	if err != nil {
		return "", err
	}
	for _, base := range files {
		file := path.Join(dir, base)
		if !strings.HasSuffix(base, ".go") || isTest(base) {
			continue
		}
		src, err := p.Read(file)
		if err != nil {
			return "", err
		}
		if f, err := edit.ParseGo(file, src); err == nil && f.Declares()[name] > 0 {
			return file, nil
		}
	}
	return "", nil
}

// admission is a webhook that the API server calls before it stores an object.
type admission struct {
	tree   string   // of templates: code, which is added to a file, and test
	typ    string   // the type that is called
	next   string   // the type whose declaration stands behind it, or ""
	calls  []string // what serves it, in the chain of the setup function
	done   []string // what serves it too
	before []string // what stands behind it in the chain
}

// admissions are the admission webhooks that r asks for.
func admissions(r project.Resource) []admission {
	var list []admission
	validator := r.Kind + "CustomValidator"
	if r.Webhooks.Defaulting {
		w := admission{
			tree: "defaulter", typ: r.Kind + "CustomDefaulter", next: validator,
			done:   []string{"WithDefaulter", "WithCustomDefaulter"},
			before: []string{"WithValidator", "WithCustomValidator", "WithValidatorCustomPath"},
		}
		w.calls = []string{"WithDefaulter(&" + w.typ + "{})"}
		if path := r.Webhooks.DefaultingPath; path != "" {
			w.calls = append(w.calls, "WithDefaulterCustomPath("+strconv.Quote(path)+")")
		}
		list = append(list, w)
	}
	if r.Webhooks.Validation {
		w := admission{tree: "validator", typ: validator, done: []string{"WithValidator", "WithCustomValidator"}}
		w.calls = []string{"WithValidator(&" + w.typ + "{})"}
		if path := r.Webhooks.ValidationPath; path != "" {
			w.calls = append(w.calls, "WithValidatorCustomPath("+strconv.Quote(path)+")")
		}
		list = append(list, w)
	}
	return list
}

// plan adds the webhook to the file with the setup function, and plans its test.
func (w admission) plan(r project.Resource, file string, p *scaffold.Plan, vars map[string]string, data webhookValues) error {
	dir := path.Dir(file)
	there, err := declaredIn(dir, w.typ, p)
	if err != nil {
		return err
	}
	users := !p.Seeded(file) // the user's file is edited first, and then its base
	err = change(p, file, func(f *edit.GoFile) error {
		declared := users && there != ""
		users = false // what is pristine depends on no file of the user
		if err := w.serve(f, r, file); err != nil {
			return err
		}
		if declared || f.Declares()[w.typ] > 0 || !f.Mentions(w.typ) {
			return nil
		}
		return w.declare(f, vars, data)
	})
	if err != nil {
		return err
	}
	if there, err = declaredIn(dir, w.typ, p); there == "" || err != nil {
		return err // the user has a type of another name, and tests of it
	}
	test := part{name: w.typ, hint: "rename what is there"}
	held, err := heldWebhooks(r, p)
	if err != nil {
		return err
	}
	test.held = held != nil
	return tree(w.tree+"/test", vars, data, test.seed(p))
}

// serve adds the webhook to the chain of the setup function.
func (w admission) serve(f *edit.GoFile, r project.Resource, file string) error {
	setup := webhookSetup(r)
	if f.CallsIn(setup, w.done...) {
		return nil
	}
	if f.CallsIn(setup, "For") {
		return fault.Failed("write there NewWebhookManagedBy(mgr, &"+r.ImportAlias()+"."+r.Kind+"{}), without For, then run the command again",
			"%s: func %s builds its webhooks as controller-runtime did before v0.23", file, setup)
	}
	return f.InsertCalls(setup, "Complete", w.calls, w.before...)
}

// declare adds the type and its methods, with the file's own names for the
// packages that they need.
func (w admission) declare(f *edit.GoFile, vars map[string]string, data webhookValues) error {
	data.Import.API = f.Import(data.Alias, data.APIPath)
	data.Import.Context = f.Import("", "context")
	if w.tree == "validator" {
		data.Import.Admission = f.Import("", controllerRuntime+"/pkg/webhook/admission")
		data.Import.APIErrors = f.Import("apierrors", "k8s.io/apimachinery/pkg/api/errors")
		data.Import.Schema = f.Import("", "k8s.io/apimachinery/pkg/runtime/schema")
		data.Import.Field = f.Import("", "k8s.io/apimachinery/pkg/util/validation/field")
	}
	return tree(w.tree+"/code", vars, data, func(_ string, _ fs.FileMode, content []byte) error {
		return f.InsertDecls(string(content), w.next)
	})
}
