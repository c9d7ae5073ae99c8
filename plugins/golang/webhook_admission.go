package golang

import (
	"io/fs"
	"path"
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

// admissions returns the admission webhooks that r requests.
func admissions(r project.Resource) []admission {
	var list []admission
	validator := r.Kind + "CustomValidator"
	if r.Webhooks.Defaulting {
		w := admission{
			tree: "defaulter", typeName: r.Kind + "CustomDefaulter", next: validator,
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
		w := admission{tree: "validator", typeName: validator, alternatives: []string{"WithValidator", "WithCustomValidator"}}
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
