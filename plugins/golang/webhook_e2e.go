package golang

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

const (
	e2eFile   = "test/e2e/e2e_test.go"
	e2eChecks = "e2e-webhooks-checks" // the marker for calls of tests
)

// e2eValues are the values for the templates of end-to-end tests of webhooks.
type e2eValues struct {
	Project *project.Config
	Header  string
	Tagged  bool // whether the files need the tag e2e, because e2eFile has it
	Bytes   bool // utils.Run returns bytes, as in early projects of kubebuilder

	Prefix string // of Go names
	Sample string // path of the sample from the root

	Hub, Group, Plural          string
	SamplesBefore, SamplesAfter string // the path of a sample up to its version, and after it
}

// e2eTest is the end-to-end test of a webhook: a file with specs, and the call in e2eFile.
type e2eTest struct {
	tree    string
	subject string
	specs   string // the suffix of the function in the file
}

func e2eTests(r project.Resource) []e2eTest {
	var tests []e2eTest
	if r.Webhooks.Defaulting {
		tests = append(tests, e2eTest{"defaulter", "the defaulting", "Defaulting"})
	}
	if r.Webhooks.Validation {
		tests = append(tests, e2eTest{"validator", "the validation", "Validation"})
	}
	if r.Webhooks.Conversion {
		tests = append(tests, e2eTest{"conversion", "the conversion", "Conversion"})
	}
	return tests
}

// planE2E plans end-to-end tests of r's webhooks, if the project has such tests and utils.Run for
// them. A cluster may lack the kinds of other modules, so they have none.
func planE2E(c *project.Config, r project.Resource, data webhookValues, p *scaffold.Plan) error {
	src, err := p.Read(e2eFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !data.Own && !r.Core {
		return nil
	}
	if err != nil {
		return err
	}
	if !p.HasBase(e2eFile) && !p.Seeded(e2eFile) && !bytes.Contains(src, []byte("+kubebuilder:scaffold:"+e2eChecks)) {
		return nil // tests of another kind, in which nothing would call ours
	}
	result, err := resultOfRun(p)
	if result == "" || err != nil {
		return err
	}
	v := e2eValues{
		Project: c, Header: data.Header, Bytes: result == "[]byte", Tagged: bytes.Contains(src, []byte("//go:build e2e")),
		Prefix: r.ImportAlias() + r.Kind, Sample: data.Sample,
		Hub: r.Version, Group: data.Group, Plural: data.Plural,
	}
	v.SamplesBefore, v.SamplesAfter = samples(c, r)
	if err := wireE2E(webhooksReady(c), p); err != nil {
		return err
	}
	if err := tree(p, "e2e/objects", nil, v, p.Seed); err != nil {
		return err
	}
	vars := map[string]string{"sample": strings.TrimSuffix(path.Base(v.Sample), ".yaml")}
	for _, test := range e2eTests(r) {
		if err := tree(p, "e2e/"+test.tree, vars, v, p.Seed); err != nil {
			return err
		}
		if err := wireE2E(test.lines(r, v.Prefix), p); err != nil {
			return err
		}
	}
	return nil
}

// resultOfRun returns the type of what utils.Run returns in addition to an error, or "" if there is no
// such function.
func resultOfRun(p *scaffold.Plan) (string, error) {
	name, err := source.Declaring("test/utils", "Run", p)
	if name == "" || err != nil {
		return "", err
	}
	src, err := p.Read(name)
	if err != nil {
		return "", err
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "Run" && fn.Type.Results.NumFields() == 2 {
			return types.ExprString(fn.Type.Results.List[0].Type), nil
		}
	}
	return "", nil
}

// e2eLines are lines of e2eFile.
type e2eLines struct {
	marker  string
	done    string   // word in a file that has the lines, in any form
	imports []string // packages
	text    string   // %[1]s is the name of the first package
}

// endpointsCheck waits until the API server can reach the webhooks.
const endpointsCheck = `By("waiting until the webhooks can be reached")
Eventually(func(g Gomega) {
	output, err := %%[2]s.Run(%%[1]s.Command("kubectl", "get", "endpointslices", "--namespace", namespace,
		"--selector", "kubernetes.io/service-name=%[1]s",
		"--output", "jsonpath={.items[*].endpoints[*].conditions.ready}"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(output).To(ContainSubstring("true"))
}).Should(Succeed())`

func webhooksReady(c *project.Config) e2eLines {
	service := c.ProjectName + "-webhook-service"
	return e2eLines{
		marker: "e2e-metrics-webhooks-readiness", done: service,
		imports: []string{"os/exec", c.Repo + "/test/utils"}, text: fmt.Sprintf(endpointsCheck, service),
	}
}

// lines returns the line that adds the specs of a webhook to the suite.
func (test e2eTest) lines(r project.Resource, prefix string) e2eLines {
	specs := prefix + test.specs
	subject := test.subject + " of " + r.Kind + " (" + path.Join(r.QualifiedGroup(), r.Version) + ")"
	return e2eLines{marker: e2eChecks, done: specs, text: fmt.Sprintf("Describe(%q, %s)", subject, specs)}
}

// named returns the lines with the names of the imported packages.
func (l e2eLines) named(name func(path string) string) string {
	var names []any
	for _, path := range l.imports {
		names = append(names, name(path))
	}
	return fmt.Sprintf(l.text, names...)
}

// wireE2E adds lines to e2eFile. If the marker is missing, a warning has the lines.
func wireE2E(lines e2eLines, p *scaffold.Plan) error {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(lines.done) + `\b`)
	users := !p.Seeded(e2eFile) // the user's file is edited first, and then its base
	return source.Edit(p, e2eFile, func(f *goedit.File) error {
		mine := users
		users = false
		if src, err := f.Bytes(); err != nil || word.Match(src) {
			return err
		}
		at := goedit.Marker(lines.marker)
		if f.ScopeAt(at) != nil {
			return f.Insert(lines.named(func(path string) string { return f.ImportAt("", path, at) }), at)
		}
		if mine {
			p.Warn(scaffold.Warning{File: e2eFile, Rule: "e2e",
				Message: "the marker +kubebuilder:scaffold:" + lines.marker + " is missing; add these lines by hand",
				Lines:   lines.named(path.Base)})
		}
		return nil
	})
}
