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

// File is a file of tests of one hook, or of a module.
type File struct {
	Path   string // as it is shown
	Hook   string // its name: the path from the folder of hooks; or
	Module string // the name of a module, whose chart is tested without its hooks
	Tests  []*Test

	dir  string // the folder of the file
	root *yaml.Node
}

// Subject is what the tests are about: the name of a hook or of a module.
func (f *File) Subject() string { return cmp.Or(f.Hook, f.Module) }

// Test is one test.
type Test struct {
	File       *File
	Name       string
	Line       int
	Given      []*unstructured.Unstructured // in the cluster before the start
	Env        map[string]string            // for the hook
	Path       []string                     // absolute folders that come before PATH
	Events     []Event
	Expect     *Expect // after the last event, or nil
	Idempotent bool    // the last run may be repeated, and changes nothing
	RoundTrip  bool    // what is converted there and back is as it was

	// Values of addon-operator before the start, by the key of the module and
	// global: what hooks patched, and what the ConfigMap has.
	Values, Config *expected
}

// Event is something that happens.
type Event struct {
	Line   int
	Type   string // one of the keys of events
	Expect *Expect

	Object   *unstructured.Unstructured   // of apply, delete, patch
	Patch    map[string]any               // of patch
	Schedule string                       // name of a schedule
	Request  binding.Request              // of validate and mutate
	Binding  string                       // of validate, mutate and convert, or ""
	To       string                       // of convert: the version that is asked for
	Objects  []*unstructured.Unstructured // of convert
}

// Expect is what a test expects. What is nil is not compared.
type Expect struct {
	Line      int
	EmptyKeys []emptyKey // keys without a value, or the only one that has no name
	ExitCode  *int
	Runs      *int
	Error     string
	Output    []string

	Patches, Objects, Absent, Metrics, Contexts, Converted *expected
	Response                                               *expected

	Values, Config, ValuesPatches, ConfigPatches, Rendered *expected // of addon-operator
	Enabled                                                *bool     // what the script of a module says
	Reason                                                 *string   // why it is not
}

// blank is a key, of an expectation or "" for that itself, whose value an update is to
// fill in.
type emptyKey struct {
	key  string
	line int
}

// has reports whether a key stands there without a value.
func (x *Expect) has(keys ...string) bool {
	return slices.ContainsFunc(x.EmptyKeys, func(b emptyKey) bool { return slices.Contains(keys, b.key) })
}

// wanted is a value that is expected, and where it stands.
type expected struct {
	node  *yaml.Node
	value any
}

// line is where the i-th item of a list stands.
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

// ReadAll reads a file of tests; or all in a folder and those below, which may hold
// files of objects beside.
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

// holdsObjects reports whether a file begins with an object of Kubernetes.
func holdsObjects(path string) bool {
	content, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var keys map[string]any
	err = yaml.NewDecoder(bytes.NewReader(content)).Decode(&keys)
	return err == nil && keys["apiVersion"] != nil && keys["kind"] != nil
}

// formatHint is a hint for files that are not test files.
const formatHint = "operon hooks test --help describes test files"

// Read reads a file of tests. An error names the line.
func Read(path, shown string) (*File, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Usage("", "%s: %v", shown, fault.Reason(err))
	}
	return read(content, shown, filepath.Dir(path))
}

// read reads the content of a file in a folder.
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

// reader keeps the first error, so that the code that reads can go on.
type reader struct {
	file *File
	err  error
}

func (r *reader) fail(n *yaml.Node, hint, format string, args ...any) {
	if r.err == nil {
		r.err = fault.Usage(hint, "%s:%d: %s", r.file.Path, n.Line, fmt.Sprintf(format, args...))
	}
}

// field is a key that a mapping may have, and what reads its value.
type field struct {
	key  string
	read func(*yaml.Node)
}

// mapping reads the keys of a mapping. Others are errors.
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

// value is a node as kubectl would read it.
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

// object reads an object, or with a string the objects of a file or a folder beside
// the file of tests.
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

// reference reads as much of an object as the test has to say about it.
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

// integers makes whole numbers what they are in objects of a cluster.
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

// resolved follows an alias.
func resolved(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// plain is a node without anchors and aliases. around are the nodes that it stands in:
// an alias may be of one of them.
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
