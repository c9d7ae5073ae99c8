// Package suites finds the Ginkgo suite that the specs of a folder join, and edits suites so that
// they register the types and serve the webhooks of kinds.
package suites

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/goenv"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/controllergen"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/golang/internal/specs"
)

// ruleNoSpecs is the rule of the warning that new tests have no specs on an API server.
const ruleNoSpecs = "no-specs"

// Suite is the suite that the specs of a package join. A package has at most one, because
// Ginkgo runs the specs of a test binary once.
type Suite struct {
	File string // with BeforeSuite; "" if the tests of the folder have no place for our specs
	Why  string // the folder has no place for them

	IsNew bool // the suite does not exist before this command
	IsOwn bool // it is in the file that operon writes

	Matchers bool // without a place for specs, whether tests can use Gomega
	Untested bool // tests cannot import the helpers in test/utils either
}

// Sink returns a sink for files that can be tests. It omits what the tests of the folder have no
// place for.
func (s Suite) Sink(sink render.Sink) render.Sink {
	switch {
	case s.Untested:
		return func(name string, mode fs.FileMode, content []byte) error {
			if source.IsTest(name) {
				return nil
			}
			return sink(name, mode, content)
		}
	case s.Why != "":
		return specs.Without(sink, s.Matchers)
	}
	return sink
}

// Kind is a kind of suite that operon writes.
type Kind struct {
	File     string                    // of a new suite
	crds     string                    // the folder of the CRDs
	declares []string                  // the names that a new suite declares
	needs    []string                  // the variables that specs use besides ctx, which Complete adds
	starts   func(f *goedit.File) bool // reports whether BeforeSuite has what specs need
	obstacle string                    // why specs would fail; may be empty
}

// ForControllers returns the suite of controllers in the folder of r.
func ForControllers(c *project.Config, r project.Resource, o controllergen.Outputs) Kind {
	return Kind{
		File:     c.ControllerDir(r) + "/suite_test.go",
		crds:     o.CRDs,
		declares: []string{"ctx", "cancel", "testEnv", "cfg", "k8sClient", "TestControllers"},
		needs:    []string{"cfg", "k8sClient"},
		starts:   func(*goedit.File) bool { return true },
	}
}

// ForWebhooks returns the suite of webhooks in the folder of r.
func ForWebhooks(c *project.Config, r project.Resource, o controllergen.Outputs) Kind {
	obstacle := ""
	if call := o.WithoutWebhooks; call != "" {
		obstacle = "nothing generates the configuration of webhooks, which clusters and config/webhook need; add the argument webhook to the controller-gen call in " + call
	}
	return Kind{
		File:     c.WebhookDir(r) + "/webhook_suite_test.go",
		crds:     o.CRDs,
		declares: []string{"ctx", "cancel", "testEnv", "cfg", "k8sClient", "TestWebhooks"},
		needs:    []string{"k8sClient"},
		starts:   func(f *goedit.File) bool { return f.Mentions("NewManager") },
		obstacle: obstacle,
	}
}

// Find returns the suite for the specs of a package in a folder. If the folder has another
// kind of tests, new tests there have no specs, and it warns about that.
func Find(kind Kind, dir, pkg string, p *scaffold.Plan) (Suite, error) {
	if p.HasBase(kind.File) || source.IsReplay(p) {
		return Suite{File: kind.File, IsNew: !p.Exists(kind.File), IsOwn: true}, nil
	}
	files, err := source.FilesAndTests(dir, p)
	if err != nil {
		return Suite{}, err
	}
	goMod, err := p.Read(modules.GoMod)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Suite{}, err
	}
	var suite source.File
	for _, s := range files {
		if source.IsTest(s.Name) && s.Parsed.Mentions("RunSpecs") {
			suite = s
		}
	}
	found := Suite{File: kind.File}
	obstacle, err := helperObstacle(p)
	if err != nil {
		return Suite{}, err
	}
	switch {
	case obstacle != "":
		found = Suite{Untested: true, Why: obstacle}
	case kind.obstacle != "":
		found = Suite{Why: kind.obstacle}
	case suite.Parsed == nil &&
		bytes.Contains(goMod, []byte(source.ControllerRuntime+" ")) && !bytes.Contains(goMod, []byte(specs.Ginkgo+" ")):
		found = Suite{Why: "the module does not require " + specs.Ginkgo}
	case suite.Parsed == nil:
		found = newSuite(kind, pkg, files, p)
	case suite.Parsed.Package() != pkg:
		found = Suite{Why: fmt.Sprintf("the suite in %s belongs to the package %s", suite.Name, suite.Parsed.Package())}
	default:
		found = usersSuite(kind, suite, files)
	}
	found.IsNew, found.IsOwn = found.File != "" && !p.Exists(found.File), found.File == kind.File
	if found.File == "" {
		found.Matchers = bytes.Contains(goMod, []byte(specs.Gomega+" "))
		consequence := ": the new tests here use no API server"
		if found.Untested {
			consequence = ": the new code here has no tests"
		}
		p.Warn(scaffold.Warning{File: dir, Rule: ruleNoSpecs, Message: found.Why + consequence})
	}
	return found, nil
}

// helperObstacle says why the repository cannot have the helpers of tests in test/utils, or returns "".
func helperObstacle(p *scaffold.Plan) (string, error) {
	const dir = "test/utils"
	if p.Exists("test/go.mod") || p.Exists(dir+"/go.mod") {
		return "test is in a Go module of its own, so that tests cannot import helpers from it", nil
	}
	files, err := source.FilesAndTests(dir, p)
	for _, s := range files {
		if name := strings.TrimSuffix(s.Parsed.Package(), "_test"); name != path.Base(dir) {
			return dir + " has the package " + name + ", so that it cannot have helpers of tests", err
		}
	}
	return "", err
}

// newSuite returns the suite for a folder without one.
func newSuite(kind Kind, pkg string, files []source.File, p *scaffold.Plan) Suite {
	if p.Exists(kind.File) {
		return Suite{Why: kind.File + " is not a Ginkgo suite"}
	}
	for _, s := range files {
		if s.Parsed.Package() != pkg {
			continue
		}
		declared := s.Parsed.Declares()
		for _, name := range kind.declares {
			if line := declared[name]; line > 0 {
				return Suite{Why: fmt.Sprintf("%s:%d declares %s, as a suite would", s.Name, line, name)}
			}
		}
	}
	return Suite{File: kind.File}
}

// usersSuite returns the suite that another tool or the user wrote, if it has what specs use.
func usersSuite(kind Kind, suite source.File, files []source.File) Suite {
	for _, s := range files {
		if s.Parsed.Package() == suite.Parsed.Package() && s.Parsed.Has(goedit.EndOfFunc("BeforeSuite")) {
			suite = s
		}
	}
	if !goenv.Builds(suite.Name, suite.Src) {
		return Suite{Why: "the suite in " + suite.Name + " has a build constraint"}
	}
	for _, name := range kind.needs {
		declares := func(s source.File) bool {
			return s.Parsed.Package() == suite.Parsed.Package() && s.Parsed.Declares()[name] > 0
		}
		if !slices.ContainsFunc(files, declares) {
			return Suite{Why: "the suite in " + suite.Name + " has no variable " + name}
		}
	}
	knowsStart := suite.Parsed.Has(goedit.BeforeCall("BeforeSuite", "testEnv.Start")) || suite.Parsed.Has(goedit.Marker("scheme"))
	if !knowsStart || !kind.starts(suite.Parsed) {
		return Suite{Why: "the suite in " + suite.Name + " starts no API server in a way that operon knows"}
	}
	if crds := kind.crds; !strings.Contains(string(suite.Src), path.Base(crds)) {
		return Suite{Why: "the suite in " + suite.Name + " installs no CRDs from " + crds}
	}
	return Suite{File: suite.Name}
}

// Complete declares ctx in a suite of another tool or of the user if the new specs of its folder use it
// and no file of the folder declares it.
func (s Suite) Complete(p *scaffold.Plan) error {
	if s.File == "" {
		return nil
	}
	dir := path.Dir(s.File)
	files, err := source.FilesAndTests(dir, p)
	declares := func(f source.File) bool { return f.Parsed.Declares()["ctx"] > 0 }
	if err != nil || slices.ContainsFunc(files, declares) || !newSpecsMention("ctx", dir, p) {
		return err
	}
	return source.Edit(p, s.File, func(f *goedit.File) error {
		return f.InsertDecls("// ctx is the context of the specs.\nvar ctx = "+f.Import("", "context")+".Background()\n", "")
	})
}

// newSpecsMention reports whether new tests in a folder mention a name.
func newSpecsMention(name, dir string, p *scaffold.Plan) bool {
	return slices.ContainsFunc(p.Changes(), func(c scaffold.Change) bool {
		if c.Op != scaffold.Create || path.Dir(c.Path) != dir || !strings.HasSuffix(c.Path, "_test.go") {
			return false
		}
		f, err := goedit.Parse(c.Path, c.After)
		return err == nil && f.Mentions(name)
	})
}
