package assets

import (
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/environ"
)

// Find returns the folder with the programs of a Kubernetes version. It looks where
// the generated test suites look: KUBEBUILDER_ASSETS, the user's store, the project's
// own folder as kubebuilder fills it, and envtest's default. env has the form of
// os.Environ, and root is the project's folder. The error is about the user's store.
func Find(env []string, root, version string) (string, error) {
	var first error
	for _, o := range []Options{
		{Env: env},
		{Env: env, Root: filepath.Join(root, "bin")},
		{Env: append(slices.Clone(env), Var+"=/usr/local/kubebuilder/bin")},
	} {
		store, err := Open(o)
		if err == nil {
			var dir string
			if dir, err = store.Path(version); err == nil {
				return dir, nil
			}
		}
		if first == nil {
			first = err
		}
		if environ.Get(env, Var) != "" {
			break // it takes precedence, even if it is invalid
		}
	}
	return "", first
}
