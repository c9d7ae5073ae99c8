// Package hooktest reads, runs and reports tests of hooks. A test lists the objects in
// the cluster, the events, and the expected results. Project runs the tests of a
// project; a Backend provides the cluster of each test, in memory or on an API server.
package hooktest

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	"github.com/operon-dev/operon/internal/input"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// File is a test file for one hook or one module.
type File struct {
	Path   string // as shown to the user
	Hook   string // the name of the hook: its path in the folder of hooks
	Module string // or the name of the module whose chart is tested without hooks
	Tests  []*Test

	dir  string // the folder of the file
	text []byte // the content
}

// subject returns the name of the tested hook or module.
func (f *File) subject() string { return cmp.Or(f.Hook, f.Module) }

// Test is a single test.
type Test struct {
	File       *File
	Name       string
	Line       int
	Given      []*unstructured.Unstructured // objects in the cluster at the start
	Env        map[string]string            // additional environment of the hook
	Path       []string                     // absolute folders to prepend to PATH
	Events     []Event
	Expect     *Expect // checked after the last event; may be nil
	Idempotent bool    // repeating the last run must change nothing
	RoundTrip  bool    // converting objects there and back must change nothing

	// Initial values of addon-operator, by module key and global: Values as patched by
	// hooks, Config from the ConfigMap.
	Values, Config *expected
}

// Event is an event of a test.
type Event struct {
	Line   int
	Type   string // one of eventKeys
	Expect *Expect

	Object   *unstructured.Unstructured   // for apply, delete and patch
	Patch    map[string]any               // for patch
	Schedule string                       // for schedule: the binding name
	Request  binding.Request              // for validate and mutate
	Binding  string                       // for validate, mutate and convert; may be ""
	To       string                       // for convert: the requested API version
	Objects  []*unstructured.Unstructured // for convert
}

// Expect is an expectation. Nil fields are not compared.
type Expect struct {
	Line      int
	EmptyKeys []emptyKey // keys without a value; one without a name means the expectation itself is empty
	ExitCode  *int
	Runs      *int
	Error     string
	Output    []string

	Patches, Objects, Absent, Metrics, Contexts, Converted *expected
	Response                                               *expected

	Values, Config, ValuesPatches, ConfigPatches, Rendered *expected // for addon-operator
	Enabled                                                *bool     // the result of the module's enabled script
	Reason                                                 *string   // why the module is disabled
}

// emptyKey is a key whose value --update fills in. The key "" is the expectation itself.
type emptyKey struct {
	key  string
	line int
}

// has reports whether one of the keys has no value.
func (x *Expect) has(keys ...string) bool {
	return slices.ContainsFunc(x.EmptyKeys, func(b emptyKey) bool { return slices.Contains(keys, b.key) })
}

// expected is an expected value with its position in the file.
type expected struct {
	node  *yaml.Node
	value any
}

// line returns the line of the i-th list item, or of the whole value.
func (w *expected) line(i int) int {
	if w.node.Kind == yaml.SequenceNode && i >= 0 && i < len(w.node.Content) {
		return w.node.Content[i].Line
	}
	return w.node.Line
}

func (w *expected) list() []any {
	list, _ := w.value.([]any)
	return list
}

// readAll reads one test file, or all test files below a folder. It skips files in the
// folder that contain Kubernetes objects. shown is the path to show to the user.
func readAll(path, shown string) ([]*File, error) { return testfile.ReadAll(path, shown, readFile) }

// formatHint is the hint for invalid test files.
const formatHint = "operon hooks test --help describes test files"

// readFile reads a test file. Errors contain the line.
func readFile(path, shown string) (*File, error) {
	content, err := input.ReadFile(path, input.Text)
	if err != nil {
		return nil, fault.Usage("", "%s: %v", shown, fault.Reason(err))
	}
	return read(content, shown, filepath.Dir(path))
}

// read parses the content of a test file. dir is its folder.
func read(content []byte, shown, dir string) (*File, error) {
	root, err := testfile.Parse(content, shown, formatHint, "hook and tests")
	if err != nil {
		return nil, err
	}
	f := &File{Path: shown, dir: dir, text: content}
	r := &reader{testfile.Reader{Path: shown, Dir: dir}, f}
	r.read(root.Content[0])
	if r.Err != nil {
		return nil, r.Err
	}
	return f, nil
}
