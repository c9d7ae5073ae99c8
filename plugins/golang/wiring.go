package golang

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

const mainFile = "cmd/main.go"

// Import paths that inserted lines need.
const (
	utilRuntime  = "k8s.io/apimachinery/pkg/util/runtime"
	clientScheme = "k8s.io/client-go/kubernetes/scheme"
)

// setupController is the form in which other tools of this layout add
// controllers too, so that main.go stays even.
const setupController = `if err := (&%s.%sReconciler{
	Client: mgr.GetClient(),
	Scheme: mgr.GetScheme(),
}).SetupWithManager(mgr); err != nil {
	setupLog.Error(err, "cannot set up the controller", "controller", %q)
	%s.Exit(1)
}`

// checkMain stops before anything is planned when main.go is not where it can
// be wired, and gives the lines that belong there.
func checkMain(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if p.Exists(mainFile) {
		return nil
	}
	return fault.Failed("move the manager's main package back to "+mainFile+"; these lines will be added there:\n"+mainLines(c, r),
		"%s is missing: %s %s cannot be made known to the manager", mainFile, r.Article(), r.Kind)
}

// mainLines are the lines that wireMain adds, for a person to add them.
func mainLines(c *project.Config, r project.Resource) string {
	lines := fmt.Sprintf("import %s %q\nutilruntime.Must(%s.AddToScheme(scheme)) // in func init", r.ImportAlias(), c.APIPath(r), r.ImportAlias())
	if !r.HasController() {
		return lines
	}
	name := cmp.Or(c.ControllerAlias(r), c.ControllerPackage(r))
	setup := fmt.Sprintf(setupController, name, r.Kind, controllerName(c, r), "os")
	return lines + fmt.Sprintf("\nimport %s %q\n%s", name, c.ControllerPath(r), setup)
}

// wireMain registers the types of r with the manager's scheme, and sets its
// controller up. What is there already, in whatever form, stays. Where one place
// is missing, the error gives all the lines, for the other may be missing too.
func wireMain(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	return change(p, mainFile, func(f *edit.GoFile) error {
		err := registerTypes(c, r, f)
		if err == nil {
			err = setUpController(c, r, f)
		}
		if err == nil {
			return nil
		}
		return &fault.Error{Code: fault.Code(err), Err: err,
			Hint: "add these lines by hand where they belong, then run the command again:\n" + mainLines(c, r)}
	})
}

func registerTypes(c *project.Config, r project.Resource, f *edit.GoFile) error {
	types := c.APIPath(r)
	if f.Uses(types, "AddToScheme") {
		return nil
	}
	must, api := f.Import("utilruntime", utilRuntime), f.Import(r.ImportAlias(), types)
	return f.Insert(fmt.Sprintf("%s.Must(%s.AddToScheme(scheme))", must, api),
		edit.Marker("scheme"), edit.AfterCall("init", "AddToScheme"), edit.EndOfFunc("init"))
}

func setUpController(c *project.Config, r project.Resource, f *edit.GoFile) error {
	controllers := c.ControllerPath(r)
	if !r.HasController() || f.Uses(controllers, r.Kind+"Reconciler") {
		return nil
	}
	local, exit := f.Import(c.ControllerAlias(r), controllers), f.Import("", "os")
	return f.Insert(fmt.Sprintf(setupController, local, r.Kind, controllerName(c, r), exit),
		edit.Marker("builder"), edit.BeforeCall("main", "mgr.AddHealthzCheck"), edit.BeforeCall("main", "mgr.Start"))
}

// wireSuite registers the types of r with the scheme of the controllers' suite.
func wireSuite(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	return change(p, c.ControllerDir(r)+"/suite_test.go", func(f *edit.GoFile) error {
		types := c.APIPath(r)
		if f.Uses(types, "AddToScheme") {
			return nil
		}
		api, scheme := f.Import(r.ImportAlias(), types), f.Import("", clientScheme)
		// Other tools of this layout look for these very lines.
		return f.Insert(fmt.Sprintf("err = %s.AddToScheme(%s.Scheme)\nExpect(err).NotTo(HaveOccurred())", api, scheme),
			edit.Marker("scheme"), edit.AfterCall("BeforeSuite", "AddToScheme"), edit.BeforeCall("BeforeSuite", "testEnv.Start"))
	})
}

// change edits a Go file of the user.
func change(p *scaffold.Plan, name string, f func(*edit.GoFile) error) error {
	err := p.Edit(name, func(src []byte) ([]byte, error) {
		file, err := edit.ParseGo(name, src)
		if err != nil {
			return nil, err
		}
		if err := f(file); err != nil {
			return nil, err
		}
		return file.Bytes()
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Failed("restore it from version control, then repeat the command", "%s is missing", name)
	}
	return err
}
