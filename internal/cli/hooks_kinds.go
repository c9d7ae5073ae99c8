package cli

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func bindCRDs(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVar(files, "crd", nil, "`file` or folder with CRDs, beside those in config/crd/bases")
}

// kinds are those of Kubernetes, of the CRDs in the project's config/crd/bases, and
// of files that the user names.
func projectKinds(a *command.App, root string, files []string) (*kinds.Table, error) {
	objects, err := crds(a, root, files)
	if err != nil {
		return nil, err
	}
	var all []kinds.CRD
	for _, o := range objects {
		crd, err := kinds.FromObject(o)
		if err != nil {
			return nil, fault.Usage("", "%v", err)
		}
		all = append(all, crd)
	}
	return kinds.Builtin().With(all...), nil
}

// crds are the CRDs in the project's config/crd/bases, and in files that the user
// names, in each of which there must be one.
func crds(a *command.App, root string, files []string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	bases := filepath.Join("config", "crd", "bases")
	if names, err := filepath.Glob(filepath.Join(root, bases, "*.yaml")); err == nil && len(names) > 0 {
		read, err := objects.Read(filepath.Join(root, bases), bases)
		if err != nil {
			return nil, err
		}
		all = onlyCRDs(read)
	}
	for _, name := range files {
		read, err := readObjects(a, name)
		if err != nil {
			return nil, err
		}
		crds := onlyCRDs(read)
		if len(crds) == 0 {
			return nil, fault.Usage("name a file with a CustomResourceDefinition", "%s holds no CRD", name)
		}
		all = append(all, crds...)
	}
	return all, nil
}

func onlyCRDs(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return !kinds.IsCRD(o.GroupVersionKind()) })
}

// aroundHooks is the project that a folder of hooks is in, or else the folder that
// it is in.
func aroundHooks(dir string) string {
	for root := dir; ; root = filepath.Dir(root) {
		if info, err := os.Stat(filepath.Join(root, "PROJECT")); err == nil && info.Mode().IsRegular() {
			return root
		}
		if filepath.Dir(root) == root {
			return filepath.Dir(dir)
		}
	}
}
