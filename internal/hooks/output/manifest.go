package output

import (
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"
)

// Manifest returns the object to create, as the engine sends it to the API server.
func (o Operation) Manifest() (*unstructured.Unstructured, error) {
	v, err := parseString(o.Object)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	if err := utiljson.Unmarshal(content, &m); err != nil || m == nil {
		return nil, errors.New("it is " + typeOf(v))
	}
	return &unstructured.Unstructured{Object: m}, nil
}

// Body returns the merge patch or JSON patch, as the engine sends it to the API server.
func (o Operation) Body() ([]byte, error) {
	patch := o.MergePatch
	if o.Operation == "JSONPatch" {
		patch = o.JSONPatch
	}
	v, err := parseString(patch)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// parseString parses a string as YAML or JSON, and returns other values unchanged.
func parseString(v any) (any, error) {
	text, isString := v.(string)
	if !isString {
		return v, nil
	}
	var value any
	if err := kyaml.Unmarshal([]byte(text), &value); err != nil {
		_, message := yamlError(err)
		return nil, errors.New(message)
	}
	return value, nil
}
