/*
Copyright 2026 Dmitrii Zolotov.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
//   - the store of the user, which `make setup-envtest` fills,
//   - bin/k8s in the project, which the Makefiles of kubebuilder fill,
//   - /usr/local/kubebuilder/bin, the default of envtest.
//
// In a store the Kubernetes version ENVTEST_K8S_VERSION is taken, by default
// that of client-go in go.mod; without a patch number, its newest patch. The
// result is empty when USE_EXISTING_CLUSTER asks envtest to start nothing.
func EnvtestAssets() (string, error) {
	if existing, _ := strconv.ParseBool(os.Getenv("USE_EXISTING_CLUSTER")); existing {
		return "", nil
	}
	const variable = "KUBEBUILDER_ASSETS"
	if dir := os.Getenv(variable); dir != "" {
		return dir, nil // right or wrong: who set it does not want the specs to be skipped
	}
	// Set but empty, it would make envtest look in the working folder.
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

// newestRelease returns the folder <store>/<release>-<os>-<arch> of the wanted
// version, for a version without a patch the one with the highest, or "".
func newestRelease(store, version string) string {
	best, dir := -1, ""
	entries, _ := os.ReadDir(store) // a store that is not there holds nothing
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

// kubernetesMinor returns 1.N for k8s.io/client-go v0.N in go.mod: client
// libraries carry the minor version of the Kubernetes they belong to.
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
