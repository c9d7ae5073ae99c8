package hooktest

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
			r.fail(key, "", "%s has the key %s twice", what, key.Value)
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
		r.fail(n, "", "%s must be a string", what)
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
		read, err := objects.ReadRegular(filepath.Join(r.file.dir, filepath.FromSlash(n.Value)), n.Value)
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
		r.fail(n, "", "expected an object with apiVersion and kind")
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
