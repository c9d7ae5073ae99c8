package cli

import (
	"path/filepath"

	"github.com/operon-dev/operon/internal/hook/binding"
	"github.com/operon-dev/operon/internal/hook/objects"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bindHooks adds the flag that names the folder of hooks.
func bindHooks(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "hooks", "hooks", "`folder` of the hooks")
	must(cmd.MarkFlagDirname("hooks"))
}

// inDir makes a path of the user's absolute.
func (a *App) inDir(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(a.Dir, name)
}

// cluster reads objects from files and folders.
func (a *App) cluster(names []string) (binding.Cluster, error) {
	var c binding.Cluster
	for _, name := range names {
		read, err := a.readObjects(name)
		if err != nil {
			return nil, err
		}
		c = append(c, read...)
	}
	return c, nil
}

func (a *App) readObjects(name string) ([]*unstructured.Unstructured, error) {
	return objects.Read(a.inDir(name), name)
}
