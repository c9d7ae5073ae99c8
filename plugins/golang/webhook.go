package golang

import (
	"cmp"
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/consistency"
	"github.com/operon-dev/operon/plugins/golang/internal/controllergen"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/golang/internal/suites"
)

// webhookValues are the values for the templates of webhooks and their tests.
type webhookValues struct {
	libraries.Values
	admissionTypes
	Project *project.Config
	Header  string
	outputs controllergen.Outputs
	Package string
	Unwired bool // existing code is not edited

	Kind, Lower, Version, Plural, Article string
	Group, MarkerGroup                    string // with the domain; in the syntax of markers
	Own, Core                             bool   // the project or Kubernetes defines the types; otherwise another module
	Alias, APIPath                        string // how the types are imported
	Var                                   string // a variable that holds an object of the kind
	DefaultingPath, ValidationPath        string // URL paths
	Name                                  string // of the webhooks in their configurations, after the prefix m or v
	Sample                                string // path of the sample from the root
	CRDPath, ExternalCRDPath              string // from the package's folder, as Go strings
	ManifestsPath                         string

	Import webhookImports // of the file to which the webhook is added
}

// webhookImports are the import names of a file for the packages that its webhooks need.
type webhookImports struct {
	API, Context, Admission, APIErrors, Field, Fmt, Runtime, Schema string
}

// createWebhook plans the requested webhooks with their tests, and their setup in the manager.
// The same setup function also serves conversions.
func createWebhook(ctx context.Context, e plugin.Event, library libraries.Values, p *scaffold.Plan) error {
	c, r := e.Project, *e.Resource
	if isWired(e) {
		if err := manager.Webhooks(c, r).CheckPlace(p); err != nil {
			return err
		}
	}
	if !p.HasBase(setupFile(c, r)) { // otherwise, init repeats what exists, and the user may have deleted the type
		if err := consistency.Types(c, r, p); err != nil {
			return err
		}
	}
	if err := consistency.Webhooks(c, r, p); err != nil {
		return err
	}
	data, err := webhookValuesOf(e, library, p)
	if err != nil {
		return err
	}
	vars := map[string]string{"webhookdir": c.WebhookDir(r), "kind": r.Lower()}
	file, err := planWebhookFile(c, r, p, vars, data)
	if err != nil {
		return err
	}
	// A planned file has all webhooks of the kind, in canonical order.
	if known := c.Find(r.Group, r.Version, r.Kind); p.Seeded(file) && known != nil && known.Webhooks != nil {
		r.Webhooks = known.Webhooks
	}
	suite, err := suites.Find(suites.ForWebhooks(c, r, data.outputs), c.WebhookDir(r), data.Package, p)
	if err != nil {
		return err
	}
	data.admissionTypes = admissionTypesOf(r, file, p)
	for _, w := range admissions(r, data.admissionTypes) {
		if err := w.plan(c, r, file, suite, p, vars, data); err != nil {
			return err
		}
	}
	if err := planWebhookSuite(c, r, suite, p, vars, data); err != nil {
		return err
	}
	if err := wire(manager.Webhooks(c, r), !data.Unwired, p); err != nil {
		return err
	}
	if e.Resource.Webhooks.Defaulting || e.Resource.Webhooks.Validation {
		if err := controllerGen(e, p).Read(c.WebhookDir(r), r, "webhook"); err != nil {
			return err
		}
	}
	if err := planE2E(c, r, data, p); err != nil {
		return err
	}
	if e.Resource.Webhooks.Conversion {
		if err := planConversion(e, suite, library, p); err != nil {
			return err
		}
	}
	if err := planModules(ctx, e, r.InClientScheme(), p); err != nil {
		return err
	}
	return planCertificates(e, p)
}

func webhookValuesOf(e plugin.Event, library libraries.Values, p *scaffold.Plan) (webhookValues, error) {
	c, r := e.Project, *e.Resource
	headerText, err := header.Read(e, p)
	if err != nil {
		return webhookValues{}, err
	}
	pkg, err := source.PackageIn(c.WebhookDir(r), c.WebhookPackage(r), p)
	if err != nil {
		return webhookValues{}, err
	}
	outputs := controllergen.OutputsOf(c, p)
	v := webhookValues{
		outputs:         outputs,
		Values:          library,
		Unwired:         !isWired(e),
		Project:         c,
		Header:          headerText,
		Package:         pkg,
		Kind:            r.Kind,
		Lower:           r.Lower(),
		Version:         r.Version,
		Plural:          r.PluralName(),
		Article:         r.Article(),
		Group:           r.QualifiedGroup(),
		MarkerGroup:     r.QualifiedGroup(),
		Own:             !r.HasExternalTypes(),
		Core:            r.Core,
		Alias:           r.ImportAlias(),
		APIPath:         c.APIPath(r),
		Var:             r.VarName(),
		DefaultingPath:  r.DefaultingPath(),
		ValidationPath:  r.ValidationPath(),
		Name:            webhookName(c, r),
		Sample:          c.SamplePath(r),
		CRDPath:         joinArgs(c.WebhookDir(r), outputs.CRDs),
		ExternalCRDPath: joinArgs(c.WebhookDir(r), "test/crd"),
		ManifestsPath:   joinArgs(c.WebhookDir(r), outputs.Webhooks+"/manifests.yaml"),
	}
	if v.MarkerGroup == "" {
		v.MarkerGroup = `""`
	}
	return v, nil
}

// webhookName returns kubebuilder's name for the webhooks of r. It contains the group
// only if an earlier resource in PROJECT has the same kind and version in another group,
// because the API server rejects duplicate names. The names of earlier resources never
// change.
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

// planWebhookFile plans the file with the setup function, unless the user moved the
// function to another file. It returns the name of the file.
func planWebhookFile(c *project.Config, r project.Resource, p *scaffold.Plan, vars map[string]string, data webhookValues) (string, error) {
	recorded, err := recordedWebhooks(r, p)
	if err != nil {
		return "", err
	}
	if err := checkLegacy(c, r, p); err != nil {
		return "", err
	}
	setup := part{name: r.WebhookSetup(), recorded: recorded, hint: renameHint}
	file := setupFile(c, r)
	disk, base, err := p.Before(file)
	if err != nil {
		return "", err
	}
	declaring, err := source.Declaring(c.WebhookDir(r), setup.name, p)
	if err != nil {
		return "", err
	}
	replay := source.IsReplay(p) || p.Forced()
	if exists := declaring != "" || disk != nil && (base != nil || setup.recorded); !exists || replay {
		if err := tree(p, "webhook", vars, data, setup.seed(p)); err != nil {
			return "", err
		}
	}
	if declaring, err = source.Declaring(c.WebhookDir(r), setup.name, p); declaring != "" {
		file = declaring
	}
	return file, err
}

// setupFile returns the file to which operon writes the setup function.
func setupFile(c *project.Config, r project.Resource) string {
	return c.WebhookDir(r) + "/" + r.Lower() + "_webhook.go"
}

// checkLegacy rejects a kind whose webhooks are methods of its type, as early versions of
// kubebuilder wrote them. controller-runtime no longer supports them.
func checkLegacy(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if r.HasExternalTypes() {
		return nil
	}
	dir := c.APIDir(r)
	file, err := source.Declaring(dir, r.Kind+".SetupWebhookWithManager", p)
	if file == "" || err != nil {
		return err
	}
	legacy, err := source.Declaring(dir, r.Kind+".ValidateCreate", p)
	if legacy == "" && err == nil {
		legacy, err = source.Declaring(dir, r.Kind+".Default", p)
	}
	if err != nil {
		return err
	}
	if legacy == "" {
		return checkMethod(file, r, p)
	}
	return fault.Failed("move their code out of "+file+", delete the methods, then repeat the command",
		"%s has the webhooks of %s as methods of the type, which controller-runtime no longer supports", file, r.Kind)
}

// checkMethod rejects admission webhooks of a kind whose method in file sets up others: two setups of one kind would serve
// the same paths. A method that only serves conversions can stay.
func checkMethod(file string, r project.Resource, p *scaffold.Plan) error {
	if !r.Webhooks.Defaulting && !r.Webhooks.Validation {
		return nil
	}
	s, err := source.NewReader(p).File(file)
	if err != nil || s.Parsed == nil || !slices.ContainsFunc(admissionSetters, s.Parsed.Mentions) {
		return err
	}
	return fault.Failed("add the webhook there, or move that code to internal/webhook, delete the method, then repeat the command",
		"%s sets up webhooks of %s in a method of the type, and a second setup would serve the same paths", file, r.Kind)
}

// admissionSetters are the methods of controller-runtime's builder that set an admission webhook.
var admissionSetters = []string{"WithValidator", "WithDefaulter", "WithCustomValidator", "WithCustomDefaulter"}

// recordedWebhooks reports whether PROJECT recorded webhooks of r before this command.
func recordedWebhooks(r project.Resource, p *scaffold.Plan) (bool, error) {
	before, err := source.RecordedProject(p)
	return err == nil && before.Recorded(r).Webhooks != nil, err
}
