// Package utils holds what the tests of several packages need.
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

// EnvtestAssets returns the folder with the programs etcd and kube-apiserver,
// which envtest starts. It looks, in this order, at
//
//   - KUBEBUILDER_ASSETS,
//   - the store of the user, which `operon envtest build` and `setup-envtest use` fill,
//   - bin/k8s in the project, which `make setup-envtest` fills,
//   - /usr/local/kubebuilder/bin, the default of envtest.
//
// In a store the newest release of the Kubernetes minor version that go.mod
// names is taken. The result is empty when USE_EXISTING_CLUSTER asks envtest to
// start nothing.
func EnvtestAssets() (string, error) {
	if existing, _ := strconv.ParseBool(os.Getenv("USE_EXISTING_CLUSTER")); existing {
		return "", nil
	}
	const variable = "KUBEBUILDER_ASSETS"
	if dir := os.Getenv(variable); dir != "" {
		if !hasControlPlane(dir) {
			return "", fmt.Errorf("%s is %s, which does not hold etcd and kube-apiserver", variable, dir)
		}
		return dir, nil
	}
	// Set but empty, it would make envtest look in the working folder.
	if err := os.Unsetenv(variable); err != nil {
		return "", err
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	minor, err := kubernetesMinor(root)
	if err != nil {
		return "", err
	}
	for _, store := range []string{userStore(), filepath.Join(root, "bin")} {
		if dir := newestRelease(filepath.Join(store, "k8s"), minor); dir != "" {
			return dir, nil
		}
	}
	if dir := "/usr/local/kubebuilder/bin"; hasControlPlane(dir) {
		return dir, nil
	}
	return "", fmt.Errorf("no etcd and kube-apiserver for Kubernetes 1.%d found: "+
		"run `operon envtest build` or `make setup-envtest`, or set %s", minor, variable)
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

// userStore is where setup-envtest keeps its downloads by default, or "" when
// the environment does not tell.
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

// newestRelease returns the folder <store>/1.<minor>.<patch>-<os>-<arch> with the
// highest patch, or "".
func newestRelease(store string, minor int) string {
	best, dir := -1, ""
	entries, _ := os.ReadDir(store) // a store that is not there holds nothing
	for _, e := range entries {
		version, platform, _ := strings.Cut(e.Name(), "-")
		patch, ok := strings.CutPrefix(version, fmt.Sprintf("1.%d.", minor))
		n, err := strconv.Atoi(patch)
		if !ok || err != nil || platform != runtime.GOOS+"-"+runtime.GOARCH || n <= best {
			continue
		}
		if candidate := filepath.Join(store, e.Name()); hasControlPlane(candidate) {
			best, dir = n, candidate
		}
	}
	return dir
}

var clientGo = regexp.MustCompile(`(?m)^(?:require)?\s+k8s\.io/client-go v0\.(\d+)\.`)

// kubernetesMinor returns 37 for k8s.io/client-go v0.37.1 in go.mod: client
// libraries carry the minor version of the Kubernetes they belong to.
func kubernetesMinor(root string) (int, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return 0, err
	}
	m := clientGo.FindSubmatch(mod)
	if m == nil {
		return 0, errors.New("go.mod does not require k8s.io/client-go")
	}
	return strconv.Atoi(string(m[1]))
}

// moduleRoot finds the folder of go.mod upward from the working folder, which
// in a test is the folder of its package.
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
