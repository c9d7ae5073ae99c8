// Package charttest reads and runs tests of the charts of a Helm operator. A test lists custom
// resources, what happens to them, and the objects or the error that it expects. The files have the
// form of hook tests.
package charttest

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	"github.com/operon-dev/operon/internal/input"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Dir is the folder of a project with the tests of its charts.
const Dir = "test/charts"

// File is a test file for the chart of a kind.
type File struct {
	Path  string // as shown to the user
	Kind  string // as in watches.yaml, or with its group, such as Galley.ship.example.org
	Line  int    // of the key kind
	Tests []*Test
}

// Test is a single test.
type Test struct {
	File   *File
	Name   string
	Line   int
	Env    map[string]string            // of the operator, for overrideValues
	Given  []*unstructured.Unstructured // objects in the cluster before the operator starts
	Events []Event
	Expect *Expect // compared after the last event; may be nil
}

// FullName returns the name in the form kind/name.
func (t *Test) FullName() string { return t.File.Kind + "/" + t.Name }

// Event is a change that a user makes.
type Event struct {
	Line   int
	Type   string // one of eventTypes
	Object *unstructured.Unstructured
	Expect *Expect // may be nil
}

// eventTypes are the keys that define the type of an event.
var eventTypes = []string{"apply", "patch", "delete"}

// Expect is an expectation.
type Expect struct {
	Line            int
	Objects, Absent []Reference
	Error           string // part of the reason why a release fails; "" if none may fail
}

// Reference is an expected or absent object.
type Reference struct {
	Line   int
	Object *unstructured.Unstructured
}

// formatHint is the hint for invalid test files.
const formatHint = "operon chart test --help describes test files"

// readFile reads a test file. Errors contain the line.
func readFile(path, shown string) (*File, error) {
	content, err := input.ReadFile(path, input.Text)
	if err != nil {
		return nil, fault.Usage("name a file or a folder with tests", "%s: %v", shown, fault.Reason(err))
	}
	root, err := testfile.Parse(content, shown, formatHint, "kind and tests")
	if err != nil {
		return nil, err
	}
	r := &reader{testfile.Reader{Path: shown, Dir: filepath.Dir(path)}, &File{Path: shown}}
	r.read(root.Content[0])
	return r.file, r.Err
}

// reader reads a test file.
type reader struct {
	testfile.Reader
	file *File
}

func (r *reader) read(n *yaml.Node) {
	f := r.file
	r.Mapping(n, "the file", []testfile.Field{
		testfile.Key("kind", func(n *yaml.Node) { f.Line = n.Line; r.Text(n, "kind", &f.Kind) }),
		testfile.Key("tests", func(n *yaml.Node) {
			r.List(n, "tests", func(n *yaml.Node) { f.Tests = append(f.Tests, r.test(n)) })
		}),
	})
	for i, t := range f.Tests {
		if j := slices.IndexFunc(f.Tests[:i], func(o *Test) bool { return o.Name == t.Name }); j >= 0 {
			r.Fail(&yaml.Node{Line: t.Line}, "", "the test on line %d has the same name, %q", f.Tests[j].Line, t.Name)
		}
	}
	switch {
	case f.Kind == "":
		r.Fail(n, "such as kind: Galley", "the key kind is missing: it has a kind of watches.yaml")
	case len(f.Tests) == 0:
		r.Fail(n, "", "there are no tests")
	}
}

func (r *reader) test(n *yaml.Node) *Test {
	t := &Test{File: r.file, Line: n.Line}
	r.Mapping(n, "a test", []testfile.Field{
		testfile.Key("name", func(n *yaml.Node) { r.Text(n, "name", &t.Name) }),
		testfile.Key("env", func(n *yaml.Node) { r.Decode(n, "env", "an object of strings", &t.Env) }),
		testfile.Key("given", func(n *yaml.Node) {
			r.List(n, "given", func(n *yaml.Node) { t.Given = append(t.Given, r.Objects(n)...) })
		}),
		testfile.Key("events", func(n *yaml.Node) {
			r.List(n, "events", func(n *yaml.Node) { t.Events = append(t.Events, r.event(n)) })
		}),
		testfile.Key("expect", func(n *yaml.Node) { t.Expect = r.expect(n) }),
	})
	if strings.TrimSpace(t.Name) == "" {
		r.Fail(n, "", "a test needs a name")
	}
	if t.Expect == nil && !slices.ContainsFunc(t.Events, func(e Event) bool { return e.Expect != nil }) {
		r.Fail(n, "add expect: with objects, absent or error", "the test %q expects nothing", t.Name)
	}
	return t
}

func (r *reader) event(n *yaml.Node) Event {
	e := Event{Line: n.Line}
	fields := []testfile.Field{testfile.Key("expect", func(n *yaml.Node) { e.Expect = r.expect(n) })}
	for _, key := range eventTypes {
		fields = append(fields, testfile.Key(key, func(n *yaml.Node) {
			if e.Type != "" {
				r.Fail(n, "", "an event has one type, but this one has %s and %s", e.Type, key)
			}
			e.Type = key
			e.Object = r.Object(n)
		}))
	}
	r.Mapping(n, "an event", fields)
	if e.Type == "" {
		r.Fail(n, "one of "+strings.Join(eventTypes, ", "), "the event has no type")
	}
	return e
}

func (r *reader) expect(n *yaml.Node) *Expect {
	x := &Expect{Line: n.Line}
	objects := func(key string, into *[]Reference) testfile.Field {
		return testfile.Key(key, func(n *yaml.Node) {
			r.List(n, key, func(n *yaml.Node) { *into = append(*into, Reference{n.Line, r.Reference(n)}) })
		})
	}
	r.Mapping(n, "expect", []testfile.Field{
		objects("objects", &x.Objects), objects("absent", &x.Absent),
		testfile.Key("error", func(n *yaml.Node) {
			if r.Text(n, "error", &x.Error); x.Error == "" {
				r.Fail(n, "write a part of the message", "error is empty")
			}
		}),
	})
	if len(x.Objects)+len(x.Absent) == 0 && x.Error == "" {
		r.Fail(n, "add objects, absent or error", "expect is empty")
	}
	return x
}
