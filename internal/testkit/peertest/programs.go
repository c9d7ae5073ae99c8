package peertest

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"golang.org/x/mod/modfile"
)

func find(name string) (Peer, error) {
	path, err := build(name)
	if err != nil {
		return Peer{}, err
	}
	return at(path)
}

// OLM returns the path of a program of the Operator Lifecycle Manager: olm, catalog or opm, which
// testdata/peers/olm pins. The first use on a machine compiles its 1,000 packages, which takes minutes of CPU time.
func OLM(t testing.TB, name string) string {
	t.Helper()
	path, err := build(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return path
}

// pinnedIn returns the folder of the module that pins a program, or requires one of the modules that Module finds.
func pinnedIn(name string) string {
	switch path.Base(name) {
	case "controller-gen", "helm", "kubebuilder":
		return repository.Path("testdata", "peers")
	case "operator-sdk":
		return repository.Path("testdata", "peers", "operator-sdk")
	}
	return repository.Path("testdata", "peers", "olm")
}

// Module returns the folder with the sources of operator-sdk or of a module of OLM.
func Module(t testing.TB, module string) string {
	t.Helper()
	dir, err := goCommand(pinnedIn(module), "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(dir)
}

// build builds a pinned program, and returns its path in the user's cache folder. With -trimpath, which go tool
// does not use, it shares compiled packages with operon.
func build(name string) (file string, err error) {
	module := pinnedIn(name)
	var parts []string
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", err
		}
		parts = append(parts, string(content))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	pkg, err := goCommand(module, "tool")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(pkg) {
		if line = strings.TrimSpace(line); path.Base(majorVersion.ReplaceAllString(line, "")) == name {
			pkg = line
		}
	}
	key := store.KeyOf(append(parts, runtime.Version())...)
	dir := filepath.Join(cache, "operon-dev", "peers", hex.EncodeToString(key[:8]))
	file = filepath.Join(dir, name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(dir, "build-") // tests that run at the same time can build the same program
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	next := filepath.Join(temp, name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s", "-tags=containers_image_openpgp", "-o", next, pkg)
	cmd.Dir, cmd.Env = module, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return file, os.Rename(next, file)
}

// majorVersion is the end of the path of a main package that is the root of its module.
var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

// moduleOf has the module of each program whose answers are recorded.
var moduleOf = map[string]string{"controller-gen": "sigs.k8s.io/controller-tools", "kubebuilder": "sigs.k8s.io/kubebuilder/v4"}

// pinnedVersion returns the version of a program that testdata/peers pins.
func pinnedVersion(program string) (string, error) {
	file := filepath.Join(pinnedIn(program), "go.mod")
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	mod, err := modfile.ParseLax(file, content, nil)
	if err != nil {
		return "", err
	}
	for _, r := range mod.Require {
		if r.Mod.Path == moduleOf[program] {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not pin %s", file, program)
}
