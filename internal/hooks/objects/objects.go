// Package objects reads Kubernetes objects from files.
package objects

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Read reads the objects in a YAML or JSON file, or in the YAML and JSON files of a folder in
// the order of their names. Each document is an object or a List. shown is the path in errors.
func Read(path, shown string) ([]*unstructured.Unstructured, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		content, err := input.ReadFile(path, input.Text)
		return parse(content, shown, err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			continue
		}
		content, err := input.ReadFile(filepath.Join(path, e.Name()), input.Text)
		read, err := parse(content, filepath.Join(shown, e.Name()), err)
		if err != nil {
			return nil, err
		}
		all = append(all, read...)
	}
	return all, nil
}

// parse returns the objects in the content of a file. err is the error of reading it.
func parse(content []byte, shown string, err error) ([]*unstructured.Unstructured, error) {
	if err != nil {
		return nil, fault.Usage("specify a file with a Kubernetes object in YAML or JSON", "%s: %v", shown, fault.Reason(err))
	}
	var all []*unstructured.Unstructured
	dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		u := &unstructured.Unstructured{}
		err := dec.Decode(&u.Object)
		switch {
		case errors.Is(err, io.EOF):
			if len(all) == 0 {
				return nil, fault.Usage("specify a file with a Kubernetes object in YAML or JSON", "%s contains no object", shown)
			}
			return all, nil
		case err != nil:
			return nil, syntaxError(content, shown, err)
		case len(u.Object) == 0: // only comments
		case u.IsList():
			if err := u.EachListItem(func(item runtime.Object) error {
				all = append(all, item.(*unstructured.Unstructured))
				return nil
			}); err != nil {
				return nil, fault.Usage("write objects in items", "%s: %v", shown, err)
			}
		case u.GetKind() == "" || u.GetAPIVersion() == "":
			return nil, fault.Usage("add them, for example apiVersion: v1 and kind: Secret", "%s: an object lacks apiVersion or kind", shown)
		default:
			all = append(all, u)
		}
	}
}

// syntaxError returns the error for a file that is neither YAML nor JSON, with its position if
// it is known. err is the error of the library, which counts lines from the start of a document.
func syntaxError(content []byte, shown string, err error) error {
	const hint = "write objects in YAML or JSON, as for kubectl apply"
	if err := yamledit.CheckSyntax(shown, content); err != nil {
		return fault.Usage(hint, "%v", err)
	}
	return fault.Usage(hint, "%s: %v", shown, err)
}
