package testfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kyaml "sigs.k8s.io/yaml"
)

// Reader reads the values in a test file. It keeps the first error, so that callers need not
// check for errors after each value.
type Reader struct {
	Path string // of the file, as shown to the user
	Dir  string // of the file
	Err  error  // the first error
}

// Fail records an error at a node, unless there is one.
func (r *Reader) Fail(n *yaml.Node, hint, format string, args ...any) {
	if r.Err == nil {
		r.Err = fault.Usage(hint, "%s:%d: %s", r.Path, n.Line, fmt.Sprintf(format, args...))
	}
}

// Field is an allowed key of a mapping, with the function that reads its value.
type Field struct {
	Key  string
	Read func(*yaml.Node)
}

// Key returns a field.
func Key(key string, read func(*yaml.Node)) Field { return Field{key, read} }

// Mapping reads the keys of a mapping. Unknown and duplicate keys are errors.
func (r *Reader) Mapping(n *yaml.Node, what string, fields []Field) {
	if n = resolved(n); n.Kind != yaml.MappingNode {
		r.Fail(n, "", "%s must be an object", what)
		return
	}
	var known []string
	for _, f := range fields {
		known = append(known, f.Key)
	}
	seen := map[string]bool{}
next:
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			r.Fail(key, "", "%s has the key %s twice", what, key.Value)
		}
		seen[key.Value] = true
		for _, f := range fields {
			if f.Key == key.Value {
				f.Read(resolved(n.Content[i+1]))
				continue next
			}
		}
		hint := "keys: " + strings.Join(known, ", ")
		if near := fault.Nearest(key.Value, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		r.Fail(key, hint, "%s has no key %s", what, key.Value)
	}
}

// List reads the items of a list.
func (r *Reader) List(n *yaml.Node, what string, read func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.Fail(n, "", "%s must be a list", what)
		return
	}
	for _, item := range n.Content {
		read(resolved(item))
	}
}

// Decode decodes a value. want describes it in the error.
func (r *Reader) Decode(n *yaml.Node, what, want string, into any) {
	if err := n.Decode(into); err != nil {
		r.Fail(n, "", "%s must be %s", what, want)
	}
}

// Text reads a string.
func (r *Reader) Text(n *yaml.Node, what string, into *string) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!int" {
		r.Fail(n, "", "%s must be a string", what)
		return
	}
	*into = n.Value
}

// Value converts a node to the value that kubectl reads from it.
func (r *Reader) Value(n *yaml.Node) any {
	text, err := yaml.Marshal(r.plain(n))
	var v any
	if err == nil {
		err = kyaml.Unmarshal(text, &v)
	}
	if err != nil {
		r.Fail(n, "", "%v", err)
	}
	return v
}

// Objects reads one object inline. A string is the path of a file or folder with objects,
// relative to the test file.
func (r *Reader) Objects(n *yaml.Node) []*unstructured.Unstructured {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		read, err := objects.Read(filepath.Join(r.Dir, filepath.FromSlash(n.Value)), n.Value)
		if err != nil {
			r.Fail(n, fault.HintOf(err), "%v", err)
		}
		for _, o := range read {
			r.checkSchema(n, o)
		}
		return read
	}
	if o := r.Object(n); o != nil {
		return []*unstructured.Unstructured{o}
	}
	return nil
}

// Object reads an object.
func (r *Reader) Object(n *yaml.Node) *unstructured.Unstructured {
	o := r.Reference(n)
	if o != nil {
		r.checkSchema(n, o)
	}
	return o
}

// Reference reads a possibly incomplete object with apiVersion and kind.
func (r *Reader) Reference(n *yaml.Node) *unstructured.Unstructured {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "", "expected an object with apiVersion and kind")
		return nil
	}
	fields, _ := Integers(r.Value(n)).(map[string]any)
	o := &unstructured.Unstructured{Object: fields}
	if o.GetAPIVersion() == "" || o.GetKind() == "" {
		r.Fail(n, "such as {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b}}", "an object needs apiVersion and kind")
	}
	return o
}

// Integers converts whole numbers to int64, as in decoded Kubernetes objects.
func Integers(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k := range x {
			x[k] = Integers(x[k])
		}
	case []any:
		for i := range x {
			x[i] = Integers(x[i])
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
func (r *Reader) plain(n *yaml.Node, around ...*yaml.Node) *yaml.Node {
	if slices.Contains(around, resolved(n)) {
		r.Fail(n, "", "*%s refers to a value that contains it", n.Value)
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
