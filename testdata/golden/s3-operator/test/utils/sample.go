/*
Copyright 2026.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package utils

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ReadSample returns the first object in a YAML file, whose path is relative to
// the root of the project.
func ReadSample(name string) (*unstructured.Unstructured, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content))
	var first runtime.RawExtension
	for len(first.Raw) == 0 { // only comments stand before a "---"
		if err := documents.Decode(&first); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(first.Raw); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return obj, nil
}

// ReadSampleAs is ReadSample for an object of a Go type, a pointer. Fields that
// the type does not have are an error.
func ReadSampleAs(name string, obj any) error {
	sample, err := ReadSample(name)
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(sample.Object, obj, true); err != nil {
		return fmt.Errorf("%s does not fit the type %T: %w", name, obj, err)
	}
	return nil
}
