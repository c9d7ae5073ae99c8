package chart

import (
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Objects returns the objects in rendered files, in the order of files and documents. It ignores
// NOTES.txt. The error is an *Error.
func Objects(rendered map[string]string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if path.Base(name) == "NOTES.txt" {
			continue
		}
		found, err := parseObjects(name, rendered[name])
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// parseObjects returns the objects in a rendered file.
func parseObjects(name, text string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		err := d.Decode(&o.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, &Error{File: name, Msg: invalidOutput(err)}
		case len(o.Object) > 0:
			objects = append(objects, o)
		}
	}
}

var notAnObject = lazyregexp.New(`cannot unmarshal (\w+) into Go value of type map\[string\]`)

// invalidOutput explains why a document is not an object in YAML.
func invalidOutput(err error) string {
	if m := notAnObject().FindStringSubmatch(err.Error()); m != nil {
		return "the template renders " + yamlType(m[1]) + ", not an object"
	}
	return "the output is not valid YAML: " + strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: ")
}

// Lint returns the reasons why an API server would reject a rendered object. It checks only rules
// that do not depend on the kind.
func Lint(o *unstructured.Unstructured) []string {
	var problems []string
	if o.GetKind() == "" {
		return []string{"renders an object without a kind"}
	}
	name := o.GetKind() + " " + o.GetName()
	if o.GetAPIVersion() == "" {
		problems = append(problems, name+" has no apiVersion")
	}
	if o.IsList() {
		_ = o.EachListItem(func(item runtime.Object) error {
			if item := item.(*unstructured.Unstructured); item.GetAnnotations()["helm.sh/resource-policy"] != "" {
				problems = append(problems, "Helm ignores the annotation helm.sh/resource-policy of "+item.GetKind()+" "+item.GetName()+", which is in a "+o.GetKind())
			}
			return nil
		})
		return problems
	}
	if o.GetName() == "" && o.GetGenerateName() == "" {
		return append(problems, o.GetKind()+" has no metadata.name")
	}
	for _, msg := range nameRule(o.GroupVersionKind().GroupKind())(o.GetName(), false) {
		problems = append(problems, name+": "+msg)
	}
	if slices.Contains([]string{"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"}, o.GetKind()) {
		if _, exists, _ := unstructured.NestedMap(o.Object, "spec", "selector"); !exists {
			problems = append(problems, name+" has no spec.selector")
		}
	}
	return problems
}

// nameRule returns the rule for names of a kind.
func nameRule(gk schema.GroupKind) validation.ValidateNameFunc {
	switch {
	case gk.Group == "rbac.authorization.k8s.io":
		return func(name string, _ bool) []string { return content.IsPathSegmentName(name) }
	case gk == schema.GroupKind{Kind: "Service"}:
		return validation.NameIsDNS1035Label
	case gk == schema.GroupKind{Kind: "Namespace"}:
		return validation.ValidateNamespaceName
	}
	return validation.NameIsDNSSubdomain
}
