// Package objects reads Kubernetes objects from files.
package objects

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Read reads the objects in a YAML or JSON file, or in the YAML and JSON files of a folder in
// the order of their names. Each document is an object or a List. shown is the path in errors.
func Read(path, shown string) ([]*unstructured.Unstructured, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return readFile(path, shown)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fault.Failed("", "%v", err)
	}
	var all []*unstructured.Unstructured
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			continue
		}
		read, err := readFile(filepath.Join(path, e.Name()), filepath.Join(shown, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, read...)
	}
	return all, nil
}

func readFile(path, shown string) ([]*unstructured.Unstructured, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Usage("specify a file with a Kubernetes object in YAML or JSON", "%s: %v", shown, fault.Reason(err))
	}
	defer func() { _ = f.Close() }()
	var all []*unstructured.Unstructured
	dec := yaml.NewYAMLOrJSONDecoder(f, 4096)
	for document := 1; ; document++ {
		u := &unstructured.Unstructured{}
		switch err := dec.Decode(&u.Object); {
		case errors.Is(err, io.EOF):
			if len(all) == 0 {
				return nil, fault.Usage("specify a file with a Kubernetes object in YAML or JSON", "%s contains no object", shown)
			}
			return all, nil
		case err != nil:
			return nil, fault.Usage("write objects in YAML or JSON, as for kubectl apply", "%s%s", shown, atLine(document, err))
		case len(u.Object) == 0: // only comments
		case u.IsList():
			if err := u.EachListItem(func(item runtime.Object) error {
				all = append(all, item.(*unstructured.Unstructured))
				return nil
			}); err != nil {
				return nil, fault.Usage("", "%s: %v", shown, err)
			}
		case u.GetKind() == "" || u.GetAPIVersion() == "":
			return nil, fault.Usage("add them, for example apiVersion: v1 and kind: Secret", "%s: an object lacks apiVersion or kind", shown)
		default:
			all = append(all, u)
		}
	}
}

var yamlLine = lazyregexp.New(`^(?:error converting YAML to JSON: )?yaml: (?:line (\d+): )?`)

// atLine returns the text of an error with its position. The library counts lines from the start
// of the document.
func atLine(document int, err error) string {
	text := err.Error()
	m := yamlLine().FindStringSubmatch(text)
	switch {
	case m == nil:
		return ": " + text
	case m[1] == "":
		m[1] = "1"
	}
	text = text[len(m[0]):]
	if document == 1 {
		return ":" + m[1] + ": " + text
	}
	return fmt.Sprintf(": line %s of document %d: %s", m[1], document, text)
}
