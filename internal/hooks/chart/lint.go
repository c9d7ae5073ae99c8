package chart

import (
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Objects returns the rendered objects in the order of files and documents, without
// NOTES.txt. The error is an Error.
func Objects(rendered map[string]string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		found, err := documents(name, rendered[name])
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

func documents(name, text string) ([]*unstructured.Unstructured, error) {
	if path.Base(name) == "NOTES.txt" {
		return nil, nil
	}
	var objects []*unstructured.Unstructured
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		switch err := d.Decode(&o.Object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, &Error{File: name, Msg: "what it renders is no YAML: " + strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: ")}
		case len(o.Object) > 0:
			objects = append(objects, o)
		}
	}
}

// Lint checks a rendered object with the rules that need no cluster.
func Lint(o *unstructured.Unstructured) []string {
	var wrong []string
	if o.GetKind() == "" {
		return []string{"renders an object without a kind"}
	}
	what := o.GetKind() + " " + o.GetName()
	if o.GetAPIVersion() == "" {
		wrong = append(wrong, what+" has no apiVersion")
	}
	if o.IsList() {
		return wrong
	}
	if o.GetName() == "" && o.GetGenerateName() == "" {
		return append(wrong, o.GetKind()+" has no metadata.name")
	}
	if strings.Contains(o.GetAPIVersion(), "rbac.authorization.k8s.io/") {
		return wrong // names there have almost no restrictions
	}
	for _, msg := range validation.NameIsDNSSubdomain(o.GetName(), false) {
		wrong = append(wrong, what+": "+msg)
	}
	if slices.Contains([]string{"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"}, o.GetKind()) {
		if _, there, _ := unstructured.NestedMap(o.Object, "spec", "selector"); !there {
			wrong = append(wrong, what+" has no spec.selector")
		}
	}
	return wrong
}
