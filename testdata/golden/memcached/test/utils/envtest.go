// Package utils contains helpers for tests.
package utils

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// EnvtestAssets returns the folder with the etcd and kube-apiserver binaries that
// envtest starts. It searches, in this order,
//
//   - KUBEBUILDER_ASSETS,
//   - the per-user store, which `make setup-envtest` fills,
//   - bin/k8s in the project, which kubebuilder Makefiles fill,
//   - /usr/local/kubebuilder/bin, the default of envtest.
//
// In a store it selects the Kubernetes version ENVTEST_K8S_VERSION, by default the
// version of client-go in go.mod. Without a patch number it selects the newest patch.
// The result is empty if USE_EXISTING_CLUSTER is set, because envtest starts nothing.
func EnvtestAssets() (string, error) {
	if existing, _ := strconv.ParseBool(os.Getenv("USE_EXISTING_CLUSTER")); existing {
		return "", nil
	}
	const variable = "KUBEBUILDER_ASSETS"
	if dir := os.Getenv(variable); dir != "" {
		return dir, nil // even if wrong: specs must fail then, and not be skipped
	}
	// If it is set but empty, envtest searches the working folder.
	if err := os.Unsetenv(variable); err != nil {
		return "", err
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	version := strings.TrimSuffix(os.Getenv("ENVTEST_K8S_VERSION"), ".x")
	if version == "" {
		if version, err = kubernetesMinor(root); err != nil {
			return "", err
		}
	}
	for _, store := range []string{userStore(), filepath.Join(root, "bin")} {
		if dir := newestRelease(filepath.Join(store, "k8s"), version); dir != "" {
			return dir, nil
		}
	}
	if dir := "/usr/local/kubebuilder/bin"; hasControlPlane(dir) {
		return dir, nil
	}
	return "", fmt.Errorf("no etcd and kube-apiserver for Kubernetes %s found: "+
		"run `make setup-envtest`, or set %s", version, variable)
}

func hasControlPlane(dir string) bool {
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// userStore returns the default folder of setup-envtest's downloads, or "" if the
// environment does not define it.
func userStore() string {
	home, _ := os.UserHomeDir()
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(os.Getenv("LocalAppData"), "kubebuilder-envtest")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "io.kubebuilder.envtest")
	}
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "kubebuilder-envtest")
}

// newestRelease returns the folder <store>/<release>-<os>-<arch> of the version, or ""
// if there is none. For a version without a patch number it is the newest patch.
func newestRelease(store, version string) string {
	best, dir := -1, ""
	entries, _ := os.ReadDir(store) // a missing store is empty
	for _, e := range entries {
		release, platform, _ := strings.Cut(e.Name(), "-")
		dot := max(strings.LastIndex(release, "."), 0)
		patch, err := strconv.Atoi(strings.TrimPrefix(release[dot:], "."))
		if err != nil || patch <= best || platform != runtime.GOOS+"-"+runtime.GOARCH ||
			version != release && version != release[:dot] {
			continue
		}
		if candidate := filepath.Join(store, e.Name()); hasControlPlane(candidate) {
			best, dir = patch, candidate
		}
	}
	return dir
}

var clientGo = regexp.MustCompile(`(?m)^(?:require)?\s+k8s\.io/client-go v0\.(\d+)\.`)

// kubernetesMinor returns 1.N for k8s.io/client-go v0.N in go.mod: client-go v0.N
// belongs to Kubernetes 1.N.
func kubernetesMinor(root string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	m := clientGo.FindSubmatch(mod)
	if m == nil {
		return "", errors.New("go.mod does not require k8s.io/client-go")
	}
	return "1." + string(m[1]), nil
}

// moduleRoot returns the folder with go.mod: the working folder, which in a test is
// the folder of the package, or a parent of it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in the working folder or above it")
		}
		dir = parent
	}
}
