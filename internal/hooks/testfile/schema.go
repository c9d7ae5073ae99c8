package testfile

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// checkSchema rejects an object of a built-in kind with an unknown field or with a value
// of the wrong type. An API server drops the former, which changes the meaning of the
// test, and rejects the latter. The node contains the object or the path of its file.
func (r *Reader) checkSchema(n *yaml.Node, o *unstructured.Unstructured) {
	typed := kinds.NewTyped(o.GroupVersionKind())
	if typed == nil {
		return
	}
	content, err := json.Marshal(o.Object)
	if err != nil {
		r.Fail(n, "", "%v", err)
		return
	}
	unknown, err := kjson.UnmarshalStrict(content, typed, kjson.DisallowUnknownFields)
	name := strings.TrimSpace(o.GetKind() + " " + o.GetName())
	var typeErr *json.UnmarshalTypeError
	var field kjson.FieldError
	switch {
	case errors.As(err, &typeErr):
		r.Fail(nodeAt(n, keysOf(typeErr.Field)), "", "%s: %s", name, output.DecodeMessage(err.Error()))
	case err != nil:
		hint := ""
		if o.GetKind() == "Secret" {
			hint = "use stringData for plain text"
		}
		r.Fail(n, hint, "%s: %v", name, err)
	case len(unknown) > 0 && errors.As(unknown[0], &field):
		path := keysOf(field.FieldPath())
		hint := ""
		if near := fault.Nearest(path[len(path)-1], fieldNames(reflect.TypeOf(typed), path[:len(path)-1])); near != "" {
			hint = "did you mean " + near + "?"
		}
		r.Fail(nodeAt(n, path), hint, "%s has no field %s", name, field.FieldPath())
	}
}

var pathKey = lazyregexp.New(`[^.\[\]]+`)

// keysOf splits a path as decoders print it, such as spec.ports[0].name, into keys and
// indices.
func keysOf(path string) []string { return pathKey().FindAllString(path, -1) }

// nodeAt returns the node at a path below n, or the closest enclosing one.
func nodeAt(n *yaml.Node, path []string) *yaml.Node {
	place := n
next:
	for _, key := range path {
		n = resolved(n)
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				place, n = n.Content[i], n.Content[i+1]
				continue next
			}
		}
		index, err := strconv.Atoi(key)
		if err != nil || n.Kind != yaml.SequenceNode || index >= len(n.Content) {
			break
		}
		n = n.Content[index]
		place = n
	}
	return place
}

// fieldNames returns the JSON names of the fields of the struct at a path below a type.
func fieldNames(t reflect.Type, path []string) []string {
	switch t.Kind() {
	case reflect.Pointer:
		return fieldNames(t.Elem(), path)
	case reflect.Slice, reflect.Map:
		if len(path) == 0 {
			return nil
		}
		return fieldNames(t.Elem(), path[1:])
	case reflect.Struct:
	default:
		return nil
	}
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, fieldNames(f.Type, path)...)
		case len(path) == 0:
			names = append(names, name)
		case name == path[0]:
			return fieldNames(f.Type, path[1:])
		}
	}
	return names
}
