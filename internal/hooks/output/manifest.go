package output

import (
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"
)

// Manifest is the object to create, as an API server gets it from the engine. The
// error says what keeps the engine from sending it.
func (o Operation) Manifest() (*unstructured.Unstructured, error) {
	v, err := fromText(o.Object)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	if err := utiljson.Unmarshal(content, &m); err != nil || m == nil {
		return nil, errors.New("it is " + article(kindOf(v)))
	}
	return &unstructured.Unstructured{Object: m}, nil
}

// Body is the merge patch or JSON patch, as an API server gets it from the engine.
// The error says what keeps the engine from sending it.
func (o Operation) Body() ([]byte, error) {
	patch := o.MergePatch
	if o.Operation == "JSONPatch" {
		patch = o.JSONPatch
	}
	v, err := fromText(patch)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// fromText is the value that a text stands for, which is YAML or JSON, or the
// value itself.
func fromText(v any) (any, error) {
	text, isText := v.(string)
	if !isText {
		return v, nil
	}
	var parsed any
	if err := kyaml.Unmarshal([]byte(text), &parsed); err != nil {
		_, message := yamlFault(err)
		return nil, errors.New(message)
	}
	return parsed, nil
}
