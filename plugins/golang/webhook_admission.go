package golang

import (
	"io/fs"
	"path"
	"slices"
	"strconv"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/golang/internal/suites"
)

// admission is a webhook that the API server calls before it stores an object.
type admission struct {
	tree         string   // template tree with the folders code, for the webhook file, and test
	typeName     string   // the type with the webhook's methods
	next         string   // the type that is declared after it, or ""
	calls        []string // calls in the setup function that serve it
	alternatives []string // other calls that serve it
	before       []string // calls that must follow
}

// admissionTypes are the types with the methods of a kind's admission webhooks.
type admissionTypes struct {
	Defaulter, Validator string
}

// admissionTypesOf returns the types of r's webhooks. A file that has a type with an older name keeps these names. What
// operon wrote counts more than the disk, so that a repeat writes the same.
func admissionTypesOf(r project.Resource, file string, p *scaffold.Plan) admissionTypes {
	names := source.AdmissionTypes(r)
	types, older := names[:2], names[2:]
	disk, base, _ := p.Before(file) // other code reports the error
	for _, src := range [][]byte{base, disk} {
		f, err := goedit.Parse(file, src)
		if err == nil && slices.ContainsFunc(types, f.Mentions) {
			break
		}
		if err == nil && slices.ContainsFunc(older, f.Mentions) {
			types = older
		}
	}
	return admissionTypes{types[0], types[1]}
}

// admissions returns the admission webhooks that r requests.
func admissions(r project.Resource, types admissionTypes) []admission {
	var list []admission
	if r.Webhooks.Defaulting {
		w := admission{
			tree: "defaulter", typeName: types.Defaulter, next: types.Validator,
			alternatives: []string{"WithDefaulter", "WithCustomDefaulter"},
			before:       []string{"WithValidator", "WithCustomValidator", "WithValidatorCustomPath"},
		}
		w.calls = []string{"WithDefaulter(&" + w.typeName + "{})"}
		if path := r.Webhooks.DefaultingPath; path != "" {
			w.calls = append(w.calls, "WithDefaulterCustomPath("+strconv.Quote(path)+")")
		}
		list = append(list, w)
	}
	if r.Webhooks.Validation {
		w := admission{tree: "validator", typeName: types.Validator, alternatives: []string{"WithValidator", "WithCustomValidator"}}
		w.calls = []string{"WithValidator(&" + w.typeName + "{})"}
		if path := r.Webhooks.ValidationPath; path != "" {
			w.calls = append(w.calls, "WithValidatorCustomPath("+strconv.Quote(path)+")")
		}
		list = append(list, w)
	}
	return list
}

// plan adds the webhook to the file with the setup function, and plans its test.
func (w admission) plan(
	c *project.Config, r project.Resource, file string, suite suites.Suite, p *scaffold.Plan,
	vars map[string]string, data webhookValues,
) error {
	dir := path.Dir(file)
	declaring, err := source.Declaring(dir, w.typeName, p)
	if err != nil {
		return err
	}
	users := !p.Seeded(file) // the user's file is edited first, and then its base
	err = source.EditMoved(p, file, setupFile(c, r), func(f *goedit.File) error {
		declared := users && declaring != ""
		users = false // the base must not depend on files of the user
		if err := w.serve(f, r, file, data.Has[libraries.GenericWebhooks]); err != nil {
			return err
		}
		if declared || f.Declares()[w.typeName] > 0 || !f.Mentions(w.typeName) {
			return nil
		}
		return w.declare(f, vars, data, p)
	})
	if err != nil {
		return err
	}
	if declaring, err = source.Declaring(dir, w.typeName, p); declaring == "" || err != nil {
		return err // the user renamed the type, and has tests for it
	}
	recorded, err := recordedWebhooks(r, p)
	if err != nil {
		return err
	}
	test := part{name: w.typeName, recorded: recorded, hint: renameHint, suite: suite}
	return tree(p, w.tree+"/test", vars, data, test.seed(p))
}

// serve adds the webhook to the chain of the setup function. generic says which form of the
// builder the project's controller-runtime has.
func (w admission) serve(f *goedit.File, r project.Resource, file string, generic bool) error {
	setup := r.WebhookSetup()
	if f.CallsIn(setup, w.alternatives...) {
		return nil
	}
	if generic && f.CallsIn(setup, "For") {
		return fault.Failed("use NewWebhookManagedBy(mgr, &"+r.ImportAlias()+"."+r.Kind+"{}) without For, then repeat the command",
			"%s: func %s uses the webhook builder of controller-runtime before v0.23", file, setup)
	}
	return f.InsertCalls(setup, "Complete", w.calls, w.before...)
}

// declare adds the type and its methods. They use the names by which the file imports
// packages.
func (w admission) declare(f *goedit.File, vars map[string]string, data webhookValues, p *scaffold.Plan) error {
	data.Import.API = f.Import(data.Alias, data.APIPath)
	data.Import.Context = f.Import("", "context")
	if !data.Has[libraries.GenericWebhooks] {
		data.Import.Fmt = f.Import("", "fmt")
		data.Import.Runtime = f.Import("", "k8s.io/apimachinery/pkg/runtime")
	}
	if w.tree == "validator" {
		data.Import.Admission = f.Import("", source.ControllerRuntime+"/pkg/webhook/admission")
		data.Import.APIErrors = f.Import("apierrors", "k8s.io/apimachinery/pkg/api/errors")
		data.Import.Schema = f.Import("", "k8s.io/apimachinery/pkg/runtime/schema")
		data.Import.Field = f.Import("", "k8s.io/apimachinery/pkg/util/validation/field")
	}
	return tree(p, w.tree+"/code", vars, data, func(_ string, _ fs.FileMode, content []byte) error {
		return f.InsertDecls(string(content), w.next)
	})
}
