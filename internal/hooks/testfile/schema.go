package testfile

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// checkSchema rejects an object of a built-in kind with an invalid field. The node contains the object or the path of
// its file.
func (r *Reader) checkSchema(n *yaml.Node, o *unstructured.Unstructured) {
	if path, problem, hint := InvalidField(o); problem != "" {
		r.Fail(nodeAt(n, path), hint, "%s", problem)
	}
}

// InvalidField returns what is wrong with the first field of a built-in object that its kind does not have, or whose
// value has another type, and the path of the field; or "". kubectl and Helm refuse such objects. API servers drop an
// unknown field unless they are asked to refuse it.
func InvalidField(o *unstructured.Unstructured) (path []string, problem, hint string) {
	typed := kubeapi.NewTyped(o.GroupVersionKind())
	if typed == nil {
		return nil, "", ""
	}
	content, err := json.Marshal(o.Object)
	if err != nil {
		return nil, err.Error(), ""
	}
	unknown, err := kjson.UnmarshalStrict(content, typed, kjson.DisallowUnknownFields)
	name := strings.TrimSpace(o.GetKind() + " " + o.GetName())
	var typeErr *json.UnmarshalTypeError
	var field kjson.FieldError
	switch {
	case errors.As(err, &typeErr):
		return keysOf(typeErr.Field), name + ": " + output.DecodeMessage(err.Error()), ""
	case err != nil:
		if o.GetKind() == "Secret" {
			hint = "use stringData for plain text"
		}
		return nil, name + ": " + err.Error(), hint
	case len(unknown) > 0 && errors.As(unknown[0], &field):
		path = keysOf(field.FieldPath())
		if near := fault.Nearest(path[len(path)-1], fieldNames(reflect.TypeOf(typed), path[:len(path)-1])); near != "" {
			hint = "did you mean " + near + "?"
		}
		return path, name + " has no field " + field.FieldPath(), hint
	}
	return nil, "", ""
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
