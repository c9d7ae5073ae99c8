package generatecmd

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/pins"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// controlPlane returns the environment of go test, with a control plane of the version
// that the project's Makefile and suites choose. An API server also serves older clients, so if
// the version of an older client is not installed, it is the version that operon builds. If none
// is installed and build is false, missing is the reason.
func controlPlane(ctx context.Context, a *command.App, root string, build bool) (env []string, missing, err error) {
	if existing, _ := strconv.ParseBool(a.Getenv("USE_EXISTING_CLUSTER")); existing {
		return a.Environ, nil, nil
	}
	const name = "ENVTEST_K8S_VERSION"
	version, older := a.Getenv(name), false
	if version == "" {
		if version, err = clientVersion(root); err != nil {
			return nil, nil, err
		}
		older = version != "" && semver.Compare("v"+version, semver.MajorMinor("v"+pins.Kubernetes)) < 0
	}
	dir, err := assets.Find(a.Environ, root, version)
	if err != nil && older {
		version = pins.Kubernetes
		dir, err = assets.Find(a.Environ, root, version)
	}
	if err != nil && build {
		var store *assets.Store
		if store, err = assets.Open(assets.Options{Env: a.Environ}); err == nil {
			dir, err = store.Ensure(ctx, version, false, a.Progress)
		}
	}
	env = append(slices.Clone(a.Environ), name+"="+version)
	switch {
	case err == nil:
		return append(env, assets.Var+"="+dir), nil, nil
	case fault.Code(err) == fault.CodeUsage && a.Getenv(name) != "":
		return nil, nil, fault.In(name, err)
	case build || fault.Code(err) != fault.CodeFailed || a.Getenv(assets.Var) != "":
		return nil, nil, err
	}
	return env, err, nil
}

// clientVersion returns 1.N for k8s.io/client-go v0.N in go.mod, because client libraries
// have the minor version of their Kubernetes release. It returns "" without a
// module, or if the module does not require client-go.
func clientVersion(root string) (string, error) {
	src, err := input.ReadFile(filepath.Join(root, "go.mod"), input.Text)
	if errors.Is(err, fs.ErrNotExist) { // a project without Go code
		return "", nil
	}
	if err != nil {
		return "", fault.In("go.mod", err)
	}
	file, err := modfile.ParseLax("go.mod", src, nil)
	if err != nil {
		return "", err
	}
	for _, r := range file.Require {
		if r.Mod.Path == "k8s.io/client-go" {
			if minor, ok := strings.CutPrefix(r.Mod.Version, "v0."); ok {
				minor, _, _ = strings.Cut(minor, ".")
				return "1." + minor, nil
			}
		}
	}
	return "", nil
}
