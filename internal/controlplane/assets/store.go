// Package assets finds, builds and downloads the programs of a Kubernetes control
// plane. The test suites of operators start etcd, kube-apiserver and kubectl through
// envtest. A control plane for development can also run kube-controller-manager. The
// package shares the user's store with setup-envtest, so that each of them can use
// what the other has added.
//
// The package does not read the process environment and does not print: the caller
// passes Options and Progress.
package assets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

// Var is the environment variable with the folder of the programs. envtest reads it
// too. It takes precedence over the store.
const Var = "KUBEBUILDER_ASSETS"

// programs are the programs that a folder must have for tests; setup-envtest requires
// the same ones. They are sorted, so that messages are stable.
var programs = []string{"etcd", "kube-apiserver", "kubectl"}

// ControllerManager is the program that operon builds in addition to the ones that
// setup-envtest provides.
const ControllerManager = "kube-controller-manager"

// withControllers lists all programs that operon builds.
var withControllers = []string{"etcd", "kube-apiserver", ControllerManager, "kubectl"}

// Options are the settings of a Store.
type Options struct {
	// Env is the environment in the form of os.Environ. It determines the place of
	// the store, which go command runs, and the environment of that command.
	Env []string
	// Root is the store's folder; empty means the folder of setup-envtest.
	Root string
}

// Store is the user's folder of control planes:
// <root>/k8s/<version>-<os>-<arch>/{etcd,kube-apiserver,kubectl}. Folders that operon
// built also have kube-controller-manager.
type Store struct {
	root     string
	env      []string
	patience time.Duration // with a server that sends almost nothing
}

// Open returns the store that the options describe. It does not access the disk.
// Build and Download create the folder.
func Open(o Options) (*Store, error) {
	root := o.Root
	if root == "" {
		var err error
		if root, err = defaultRoot(runtime.GOOS, o.Env); err != nil {
			return nil, err
		}
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fault.In("envtest store "+root, err)
	}
	return &Store{root: root, env: o.Env, patience: time.Minute}, nil
}

// defaultRoot returns the folder that setup-envtest uses on a system, so
// that both see the same control planes: kubebuilder-envtest in the user's folder for
// data, or io.kubebuilder.envtest on macOS. (Source: DefaultStoreDir in
// sigs.k8s.io/controller-runtime/tools/setup-envtest/store.)
func defaultRoot(goos string, env []string) (string, error) {
	data, err := environ.DataFolder(goos, env)
	if err != nil {
		return "", fault.Failed(fmt.Sprintf("correct that, or point %s at a folder with %s", Var, list(programs)),
			"cannot determine the folder of the envtest store: %v", err)
	}
	if goos == "darwin" {
		return filepath.Join(data, "io.kubebuilder.envtest"), nil
	}
	return filepath.Join(data, "kubebuilder-envtest"), nil
}

// Path returns the absolute path of a folder with a complete control plane, for
// use as KUBEBUILDER_ASSETS. If that variable is set, Path checks that folder and
// returns it. Otherwise version selects a folder of the store: "1.37.1" is that
// version, "1.37" and "1.37.x" are the newest patch of a minor version, and "" is the
// version that operon pins.
//
// Path builds nothing. If the store has no complete folder, the error has exit code 1
// and a hint with the commands that install it. A version in another form is an error
// with exit code 2.
func (s *Store) Path(version string) (string, error) {
	want, err := parseVersion(version)
	if err != nil {
		return "", err
	}
	if dir := environ.Get(s.env, Var); dir != "" {
		return checkVar(dir, programs)
	}
	dir, broken, err := s.find(want, programs)
	if err != nil || dir != "" {
		return dir, err
	}
	msg := fmt.Sprintf("no control plane for Kubernetes %s in %s", want, s.versions())
	if broken != nil {
		msg += " (" + broken.Error() + ")"
	}
	return "", fault.Failed(missingHint(want), "%s", msg)
}

// missingHint returns a hint with the command that installs the wanted version.
func missingHint(want version) string {
	switch {
	case !want.matches(pinned()):
		return fmt.Sprintf("operon envtest path --download --k8s-version %s (operon builds only %s), or set %s", want, pins.Kubernetes, Var)
	case want == pinned():
		return "operon envtest path --download (takes seconds), or operon envtest build (minutes, from Go modules)"
	}
	return fmt.Sprintf("operon envtest path --download --k8s-version %[1]s (takes seconds), or operon envtest build --k8s-version %[1]s (minutes, from Go modules)", want)
}

// checkVar checks that the folder in KUBEBUILDER_ASSETS has the named programs.
// envtest would fail later, with a message that is harder to understand.
func checkVar(dir string, names []string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.In(Var, err)
	}
	if err := complete(abs, names); err != nil {
		return "", fault.Failed("correct "+Var+", or unset it to use operon's own store",
			"%s=%s: %s", Var, dir, err)
	}
	return abs, nil
}

// find returns the folder of the newest version that matches and has the named
// programs, or "". broken describes the newest matching folder that is incomplete, if
// there is one.
func (s *Store) find(want version, names []string) (dir string, broken, err error) {
	entries, err := os.ReadDir(s.versions())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, explainStore(fault.In("envtest store", err), s.root)
	}
	var best, bad version
	for _, e := range entries {
		v, ok := parseFolder(e.Name())
		if !ok || !want.matches(v) {
			continue
		}
		at := filepath.Join(s.versions(), e.Name())
		if err := complete(at, names); err != nil {
			if broken == nil || bad.less(v) {
				bad, broken = v, fmt.Errorf("%s is incomplete: %w", e.Name(), err)
			}
			continue
		}
		if dir == "" || best.less(v) {
			best, dir = v, at
		}
	}
	return dir, broken, nil
}

// complete reports which of the named programs a folder lacks.
func complete(dir string, names []string) error {
	var missing []string
	for _, name := range names {
		err := checkProgram(Program(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, executable(name))
		case err != nil:
			return fmt.Errorf("%s %w", executable(name), err)
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s is missing", missing[0])
	}
	return fmt.Errorf("%s are missing", list(missing))
}

// versions returns the folder that has a folder for each version and platform.
func (s *Store) versions() string { return filepath.Join(s.root, "k8s") }

// folder returns the folder of a version for this platform.
func (s *Store) folder(v version) string {
	return filepath.Join(s.versions(), v.String()+"-"+platform())
}

// platform returns the suffix of this system's folders.
func platform() string { return runtime.GOOS + "-" + runtime.GOARCH }

// Program returns the path of a program in a folder that this package returned.
func Program(dir, name string) string { return filepath.Join(dir, executable(name)) }

// executable returns the file name of a program on this system. envtest starts "etcd"
// on every system, and Windows finds etcd.exe under that name.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// list joins names with commas and "and".
func list(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
