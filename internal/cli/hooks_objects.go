package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hook/binding"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// inDir makes a path of the user's absolute.
func (a *App) inDir(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(a.Dir, name)
}

// cluster reads objects from files, and from the YAML and JSON files of folders.
func (a *App) cluster(names []string) (binding.Cluster, error) {
	var c binding.Cluster
	for _, given := range names {
		files := []string{given}
		if info, err := os.Stat(a.inDir(given)); err == nil && info.IsDir() {
			entries, err := os.ReadDir(a.inDir(given))
			if err != nil {
				return nil, fault.Failed("", "%v", err)
			}
			files = nil
			for _, e := range entries {
				if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) && !e.IsDir() {
					files = append(files, filepath.Join(given, e.Name()))
				}
			}
		}
		for _, file := range files {
			objects, err := a.readObjects(file)
			if err != nil {
				return nil, err
			}
			c = append(c, objects...)
		}
	}
	return c, nil
}

// readObjects reads the Kubernetes objects of a file, one a document, or a List.
func (a *App) readObjects(name string) ([]*unstructured.Unstructured, error) {
	f, err := os.Open(a.inDir(name))
	if err != nil {
		return nil, fault.Usage("name a file with a Kubernetes object in YAML or JSON", "%s: %s", name, reasonOf(err))
	}
	defer func() { _ = f.Close() }()
	var objects []*unstructured.Unstructured
	for dec := yaml.NewYAMLOrJSONDecoder(f, 4096); ; {
		u := &unstructured.Unstructured{}
		switch err := dec.Decode(&u.Object); {
		case errors.Is(err, io.EOF):
			if len(objects) == 0 {
				return nil, fault.Usage("name a file with a Kubernetes object in YAML or JSON", "%s holds no object", name)
			}
			return objects, nil
		case err != nil:
			return nil, fault.Usage("", "%s: %v", name, err)
		case len(u.Object) == 0: // a document with comments alone
		case u.IsList():
			if err := u.EachListItem(func(item runtime.Object) error {
				objects = append(objects, item.(*unstructured.Unstructured))
				return nil
			}); err != nil {
				return nil, fault.Usage("", "%s: %v", name, err)
			}
		case u.GetKind() == "" || u.GetAPIVersion() == "":
			return nil, fault.Usage("", "%s: an object needs apiVersion and kind", name)
		default:
			objects = append(objects, u)
		}
	}
}

func reasonOf(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return fmt.Sprint(p.Err)
	}
	return err.Error()
}
