package golang

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/golang/internal/specs"
)

// ruleNoSpecs is the rule of the warning that new tests have no specs on an API server.
const ruleNoSpecs = "no-specs"

// testSuite is the suite that the specs of a package join. A package has at most one, because
// Ginkgo runs the specs of a test binary once.
type testSuite struct {
	file string // with BeforeSuite; "" if the tests of the folder have no place for our specs
	why  string // the folder has no place for them

	isNew bool // the suite does not exist before this command

	matchers bool // without a place for specs, whether tests can use Gomega
	untested bool // tests cannot import the helpers in test/utils either
}

// sink returns a sink for files that can be tests. It omits what the tests of the folder have no
// place for.
func (s testSuite) sink(sink render.Sink) render.Sink {
	switch {
	case s.untested:
		return func(name string, mode fs.FileMode, content []byte) error {
			if source.IsTest(name) {
				return nil
			}
			return sink(name, mode, content)
		}
	case s.why != "":
		return specs.Without(sink, s.matchers)
	}
	return sink
}

// suiteKind is a kind of suite that operon writes.
type suiteKind struct {
	file     string                    // of a new suite
	crds     string                    // the folder of the CRDs
	declares []string                  // the names that a new suite declares
	needs    []string                  // the variables that specs use besides ctx, which completeSuite adds
	starts   func(f *goedit.File) bool // reports whether BeforeSuite has what specs need
}

// controllerSuite and webhookSuite return the suites in the folders of r.
func controllerSuite(c *project.Config, r project.Resource) suiteKind {
	return suiteKind{
		file:     c.ControllerDir(r) + "/suite_test.go",
		crds:     outputFolder(c, "crd", crdBases),
		declares: []string{"ctx", "cancel", "testEnv", "cfg", "k8sClient", "TestControllers"},
		needs:    []string{"cfg", "k8sClient"},
		starts:   func(*goedit.File) bool { return true },
	}
}

func webhookSuite(c *project.Config, r project.Resource) suiteKind {
	return suiteKind{
		file:     c.WebhookDir(r) + "/webhook_suite_test.go",
		crds:     outputFolder(c, "crd", crdBases),
		declares: []string{"ctx", "cancel", "testEnv", "cfg", "k8sClient", "TestWebhooks"},
		needs:    []string{"k8sClient"},
		starts:   func(f *goedit.File) bool { return f.Mentions("NewManager") },
	}
}

// findSuite returns the suite for the specs of a package in a folder. If the folder has another
// kind of tests, new tests there have no specs, and it warns about that.
func findSuite(kind suiteKind, dir, pkg string, p *scaffold.Plan) (testSuite, error) {
	if p.HasBase(kind.file) || isReplay(p) {
		return testSuite{file: kind.file, isNew: !p.Exists(kind.file)}, nil
	}
	files, err := source.Files(dir, true, p)
	if err != nil {
		return testSuite{}, err
	}
	goMod, err := p.Read(modules.GoMod)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return testSuite{}, err
	}
	var suite source.File
	for _, s := range files {
		if source.IsTest(s.Name) && s.Parsed.Mentions("RunSpecs") {
			suite = s
		}
	}
	found := testSuite{file: kind.file}
	obstacle, err := helperObstacle(p)
	if err != nil {
		return testSuite{}, err
	}
	switch {
	case obstacle != "":
		found = testSuite{untested: true, why: obstacle}
	case suite.Parsed == nil && bytes.Contains(goMod, []byte(controllerRuntime+" ")) && !bytes.Contains(goMod, []byte(specs.Ginkgo+" ")):
		found = testSuite{why: "the module does not require " + specs.Ginkgo}
	case suite.Parsed == nil:
		found = newSuite(kind, pkg, files, p)
	case suite.Parsed.Package() != pkg:
		found = testSuite{why: fmt.Sprintf("the suite in %s belongs to the package %s", suite.Name, suite.Parsed.Package())}
	default:
		found = usersSuite(kind, suite, files)
	}
	found.isNew = found.file != "" && !p.Exists(found.file)
	if found.file == "" {
		found.matchers = bytes.Contains(goMod, []byte(specs.Gomega+" "))
		consequence := ": the new tests here use no API server"
		if found.untested {
			consequence = ": the new code here has no tests"
		}
		p.Warn(scaffold.Warning{File: dir, Rule: ruleNoSpecs, Message: found.why + consequence})
	}
	return found, nil
}

// helperObstacle says why the repository cannot have the helpers of tests in test/utils, or returns "".
func helperObstacle(p *scaffold.Plan) (string, error) {
	const dir = "test/utils"
	if p.Exists("test/go.mod") || p.Exists(dir+"/go.mod") {
		return "test is in a Go module of its own, so that tests cannot import helpers from it", nil
	}
	files, err := source.Files(dir, true, p)
	for _, s := range files {
		if name := strings.TrimSuffix(s.Parsed.Package(), "_test"); name != path.Base(dir) {
			return dir + " has the package " + name + ", so that it cannot have helpers of tests", err
		}
	}
	return "", err
}

// newSuite returns the suite for a folder without one.
func newSuite(kind suiteKind, pkg string, files []source.File, p *scaffold.Plan) testSuite {
	if p.Exists(kind.file) {
		return testSuite{why: kind.file + " is no suite of Ginkgo"}
	}
	for _, s := range files {
		if s.Parsed.Package() != pkg {
			continue
		}
		declared := s.Parsed.Declares()
		for _, name := range kind.declares {
			if line := declared[name]; line > 0 {
				return testSuite{why: fmt.Sprintf("%s:%d declares %s, as a suite would", s.Name, line, name)}
			}
		}
	}
	return testSuite{file: kind.file}
}

// usersSuite returns the suite that another tool or the user wrote, if it has what specs use.
func usersSuite(kind suiteKind, suite source.File, files []source.File) testSuite {
	for _, s := range files {
		if s.Parsed.Package() == suite.Parsed.Package() && s.Parsed.Has(goedit.EndOfFunc("BeforeSuite")) {
			suite = s
		}
	}
	for _, name := range kind.needs {
		declares := func(s source.File) bool {
			return s.Parsed.Package() == suite.Parsed.Package() && s.Parsed.Declares()[name] > 0
		}
		if !slices.ContainsFunc(files, declares) {
			return testSuite{why: "the suite in " + suite.Name + " has no variable " + name}
		}
	}
	if !suite.Parsed.Has(goedit.BeforeCall("BeforeSuite", "testEnv.Start")) && !suite.Parsed.Has(goedit.Marker("scheme")) || !kind.starts(suite.Parsed) {
		return testSuite{why: "the suite in " + suite.Name + " starts no API server in a way that operon knows"}
	}
	if crds := kind.crds; !strings.Contains(string(suite.Src), path.Base(crds)) {
		return testSuite{why: "the suite in " + suite.Name + " installs no CRDs from " + crds}
	}
	return testSuite{file: suite.Name}
}

// completeSuite declares ctx in a suite of another tool or of the user if the new specs of its folder use it
// and no file of the folder declares it.
func completeSuite(suite testSuite, p *scaffold.Plan) error {
	if suite.file == "" {
		return nil
	}
	dir := path.Dir(suite.file)
	files, err := source.Files(dir, true, p)
	if err != nil || slices.ContainsFunc(files, func(s source.File) bool { return s.Parsed.Declares()["ctx"] > 0 }) || !newSpecsMention("ctx", dir, p) {
		return err
	}
	return source.Edit(p, suite.file, func(f *goedit.File) error {
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

// The folders of generated manifests, unless the project has other arguments for the generators.
const (
	crdBases       = "config/crd/bases"
	webhookConfigs = "config/webhook"
)

// outputFolder returns the folder to which the generators write the artifacts of one of them, crd or
// webhook, by the arguments in PROJECT. Suites install them from there.
func outputFolder(c *project.Config, generator, usual string) string {
	recorded, _ := c.Plugins[request.ConfigKey].(map[string]any)
	args, _ := recorded["args"].([]any)
	for _, arg := range args {
		text, _ := arg.(string)
		for _, rule := range []string{":artifacts:config=", ":dir="} {
			if dir, ok := strings.CutPrefix(text, "output:"+generator+rule); ok && dir != "" && !path.IsAbs(dir) {
				return path.Clean(dir)
			}
		}
	}
	return usual
}
