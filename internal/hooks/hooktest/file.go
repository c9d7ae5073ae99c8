// Package hooktest reads, runs and reports tests of hooks. A test says what the cluster
// holds, which events happen, and what is expected of the hook. Project runs the tests of a
// project; a Backend provides the cluster of each test, in memory or on an API server.
package hooktest

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kyaml "sigs.k8s.io/yaml"
)

// File is a test file for one hook or one module.
type File struct {
	Path   string // as shown to the user
	Hook   string // the name of the hook: its path in the folder of hooks
	Module string // or the name of the module whose chart is tested without hooks
	Tests  []*Test

	dir  string // the folder of the file
	root *yaml.Node
}

// Subject returns the name of the tested hook or module.
func (f *File) Subject() string { return cmp.Or(f.Hook, f.Module) }

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

// ReadAll reads one test file, or all test files below a folder. It skips files in the
// folder that contain Kubernetes objects. shown is the path to show to the user.
func ReadAll(path, shown string) ([]*File, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		f, err := Read(path, shown)
		return []*File{f}, err
	}
	var files []*File
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".yaml" && filepath.Ext(name) != ".yml" {
			return err
		}
		rel, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		if holdsObjects(name) {
			return nil
		}
		f, err := Read(name, filepath.ToSlash(filepath.Join(shown, rel)))
		files = append(files, f)
		return err
	})
	return files, err
}

// holdsObjects reports whether a file starts with a Kubernetes object.
func holdsObjects(path string) bool {
	content, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var keys map[string]any
	err = yaml.NewDecoder(bytes.NewReader(content)).Decode(&keys)
	return err == nil && keys["apiVersion"] != nil && keys["kind"] != nil
}

// formatHint is the hint for invalid test files.
const formatHint = "operon hooks test --help describes test files"

// Read reads a test file. Errors contain the line.
func Read(path, shown string) (*File, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Usage("", "%s: %v", shown, fault.Reason(err))
	}
	return read(content, shown, filepath.Dir(path))
}

// read parses the content of a test file. dir is its folder.
func read(content []byte, shown, dir string) (*File, error) {
	f := &File{Path: shown, dir: dir, root: &yaml.Node{}}
	if err := yaml.Unmarshal(content, f.root); err != nil {
		place, what := ": ", strings.TrimPrefix(err.Error(), "yaml: ")
		if rest, lined := strings.CutPrefix(what, "line "); lined {
			place, what = ":", rest
		}
		return nil, fault.Usage(formatHint, "%s%s%s", shown, place, what)
	}
	if len(f.root.Content) == 0 {
		return nil, fault.Usage(formatHint, "%s: is empty; it needs hook and tests", shown)
	}
	r := &reader{file: f}
	r.read(f.root.Content[0])
	if r.err != nil {
		return nil, r.err
	}
	return f, nil
}

// reader parses a test file. It keeps the first error, so that callers need not check for
// errors after each value.
type reader struct {
	file *File
	err  error
}

func (r *reader) fail(n *yaml.Node, hint, format string, args ...any) {
	if r.err == nil {
		r.err = fault.Usage(hint, "%s:%d: %s", r.file.Path, n.Line, fmt.Sprintf(format, args...))
	}
}

// field is an allowed key of a mapping, with the function that reads its value.
type field struct {
	key  string
	read func(*yaml.Node)
}

// mapping reads the keys of a mapping. Unknown and duplicate keys are errors.
func (r *reader) mapping(n *yaml.Node, what string, fields []field) {
	if n = resolved(n); n.Kind != yaml.MappingNode {
		r.fail(n, "", "%s must be an object", what)
		return
	}
	var known []string
	for _, f := range fields {
		known = append(known, f.key)
	}
	seen := map[string]bool{}
next:
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			r.fail(key, "", "%s has %s twice", what, key.Value)
		}
		seen[key.Value] = true
		for _, f := range fields {
			if f.key == key.Value {
				f.read(resolved(n.Content[i+1]))
				continue next
			}
		}
		hint := "keys: " + strings.Join(known, ", ")
		if near := fault.Nearest(key.Value, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		r.fail(key, hint, "%s has no key %s", what, key.Value)
	}
}

func (r *reader) list(n *yaml.Node, what string, read func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "", "%s must be a list", what)
		return
	}
	for _, item := range n.Content {
		read(resolved(item))
	}
}

func (r *reader) decode(n *yaml.Node, what, want string, into any) {
	if err := n.Decode(into); err != nil {
		r.fail(n, "", "%s must be %s", what, want)
	}
}

func (r *reader) text(n *yaml.Node, what string, into *string) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!int" {
		r.fail(n, "", "%s must be a text", what)
		return
	}
	*into = n.Value
}

// value converts a node to the value that kubectl reads from it.
func (r *reader) value(n *yaml.Node) any {
	text, err := yaml.Marshal(r.plain(n))
	var v any
	if err == nil {
		err = kyaml.Unmarshal(text, &v)
	}
	if err != nil {
		r.fail(n, "", "%v", err)
	}
	return v
}

// objects reads one object inline. A string is the path of a file or folder with objects,
// relative to the test file.
func (r *reader) objects(n *yaml.Node) []*unstructured.Unstructured {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		read, err := objects.Read(filepath.Join(r.file.dir, filepath.FromSlash(n.Value)), n.Value)
		if err != nil {
			r.fail(n, fault.HintOf(err), "%v", err)
		}
		for _, o := range read {
			r.checkSchema(n, o)
		}
		return read
	}
	if o := r.object(n); o != nil {
		return []*unstructured.Unstructured{o}
	}
	return nil
}

func (r *reader) object(n *yaml.Node) *unstructured.Unstructured {
	o := r.reference(n)
	if o != nil {
		r.checkSchema(n, o)
	}
	return o
}

// reference reads a possibly incomplete object with apiVersion and kind.
func (r *reader) reference(n *yaml.Node) *unstructured.Unstructured {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "", "this must be an object with apiVersion and kind")
		return nil
	}
	fields, _ := integers(r.value(n)).(map[string]any)
	o := &unstructured.Unstructured{Object: fields}
	if o.GetAPIVersion() == "" || o.GetKind() == "" {
		r.fail(n, "such as {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b}}", "an object needs apiVersion and kind")
	}
	return o
}

// integers converts whole numbers to int64, as in decoded Kubernetes objects.
func integers(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k := range x {
			x[k] = integers(x[k])
		}
	case []any:
		for i := range x {
			x[i] = integers(x[i])
		}
	case float64:
		if whole := int64(x); float64(whole) == x {
			return whole
		}
	}
	return v
}

// resolved follows aliases.
func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// plain returns a copy of a node without anchors and aliases. around are the enclosing
// nodes, to detect cycles.
func (r *reader) plain(n *yaml.Node, around ...*yaml.Node) *yaml.Node {
	if slices.Contains(around, resolved(n)) {
		r.fail(n, "", "*%s refers to a value that contains it", n.Value)
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	n = resolved(n)
	around = append(around[:len(around):len(around)], n)
	next := *n
	next.Anchor, next.Content = "", nil
	for _, c := range n.Content {
		next.Content = append(next.Content, r.plain(c, around...))
	}
	return &next
}
