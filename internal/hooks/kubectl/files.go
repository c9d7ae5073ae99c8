package kubectl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// fromFiles returns the objects in the files of -f.
func (r *runner) fromFiles() ([]target, error) {
	var targets []target
	for _, name := range r.filenames {
		source, content, err := r.read(name)
		if err != nil {
			return nil, err
		}
		found, err := r.decode(source, content)
		if err != nil {
			return nil, err
		}
		targets = append(targets, found...)
	}
	return targets, nil
}

// read returns the content of a file, a folder or stdin, and its name in messages.
func (r *runner) read(name string) (source string, content []byte, err error) {
	if name == "-" || name == "/dev/stdin" {
		if r.Stdin == nil {
			return "STDIN", nil, nil
		}
		content, err = io.ReadAll(r.Stdin)
		return "STDIN", content, err
	}
	if strings.Contains(name, "://") {
		return name, nil, fmt.Errorf("kubectl does not read URLs in hook tests: %s", name)
	}
	if content, sent := r.files[name]; sent {
		return name, content, nil
	}
	path := r.path(name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return name, nil, fmt.Errorf("the path %q does not exist", name)
	case !info.IsDir():
		content, err = os.ReadFile(path)
		return name, content, err
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return name, nil, err
	}
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(e.Name())) {
			continue
		}
		one, err := os.ReadFile(filepath.Join(path, e.Name()))
		if err != nil {
			return name, nil, err
		}
		content = append(append(content, "\n---\n"...), one...)
	}
	return name, content, nil
}

// readFile reads a file or stdin.
func (r *runner) readFile(name string) ([]byte, error) {
	if content, sent := r.files[name]; sent {
		return content, nil
	}
	if name == "/dev/stdin" || name == "-" {
		return io.ReadAll(r.Stdin)
	}
	return os.ReadFile(r.path(name))
}

func (r *runner) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Dir, name)
}

// decode reads the objects of a file. A List becomes its items.
func (r *runner) decode(source string, content []byte) ([]target, error) {
	var targets []target
	for dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		o := &unstructured.Unstructured{}
		err := dec.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return targets, nil
		}
		if err != nil {
			return nil, fmt.Errorf("error parsing %s: %w", source, err)
		}
		if len(o.Object) == 0 {
			continue
		}
		all := []*unstructured.Unstructured{o}
		if o.IsList() {
			if all, err = items(o); err != nil {
				return nil, fmt.Errorf("unable to decode %q: %w", source, err)
			}
		}
		for _, one := range all {
			t, err := r.fileTarget(source, one)
			if err != nil {
				return nil, err
			}
			targets = append(targets, t)
		}
	}
}

func items(list *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	err := list.EachListItem(func(o runtime.Object) error {
		all = append(all, o.(*unstructured.Unstructured))
		return nil
	})
	return all, err
}

// fileTarget returns the target for an object from a file.
func (r *runner) fileTarget(source string, o *unstructured.Unstructured) (target, error) {
	gvk := o.GroupVersionKind()
	for _, name := range []string{"apiVersion", "kind"} {
		if text, _ := o.Object[name].(string); text == "" && slices.Contains([]string{"create", "apply", "replace"}, r.command) {
			return target{}, fmt.Errorf("error validating %q: error validating data: %s not set; if you choose to ignore these errors, turn validation off with --validate=false", source, name)
		}
	}
	switch {
	case gvk.Kind == "":
		return target{}, fmt.Errorf("unable to decode %q: Object 'Kind' is missing in '%s'", source, compact(o))
	case gvk.Version == "":
		return target{}, fmt.Errorf("unable to decode %q: Object 'apiVersion' is missing in '%s'", source, compact(o))
	}
	k, err := r.api.Table().FindObject(gvk)
	if err != nil {
		return target{}, fmt.Errorf("resource mapping not found for name: %q namespace: %q from %q: no matches for kind %q in version %q\nensure CRDs are installed first",
			o.GetName(), o.GetNamespace(), source, gvk.Kind, o.GetAPIVersion())
	}
	if k.Namespaced {
		switch in := o.GetNamespace(); {
		case in == "":
			o.SetNamespace(r.currentNamespace())
		case r.namespace != "" && in != r.namespace:
			return target{}, fmt.Errorf("the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation.", in, r.namespace, in) //nolint:staticcheck // kubectl's words
		}
	} else {
		o.SetNamespace("")
	}
	return target{kind: k, namespace: o.GetNamespace(), name: o.GetName(), object: o, source: source}, nil
}
