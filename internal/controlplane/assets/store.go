// Package assets finds and builds the programs of a Kubernetes control
// plane: etcd, kube-apiserver and kubectl, which the test suites of operators
// start through envtest, and kube-controller-manager, which a control plane for
// development may run too. It shares one per-user store, folder for folder, with
// setup-envtest, so what either of them put there serves both.
//
// It reads no environment variable and prints nothing by itself: both come in
// through Options and Progress.
package assets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

// Var names the environment variable that envtest itself reads: a folder
// that holds the programs. It wins over the store.
const Var = "KUBEBUILDER_ASSETS"

// programs is the complete set that makes a folder usable for tests, the same
// that setup-envtest asks for. Sorted, so that messages are stable.
var programs = []string{"etcd", "kube-apiserver", "kubectl"}

// ControllerManager is one more program, which setup-envtest does not have: the
// folders that operon builds hold it beside the others.
const ControllerManager = "kube-controller-manager"

// withControllers lists all programs that operon builds.
var withControllers = []string{"etcd", "kube-apiserver", ControllerManager, "kubectl"}

// Options are the settings of a Store.
type Options struct {
	// Env is the environment in the form of os.Environ. It decides where the
	// store is, which go command is used, and what that command is given.
	Env []string
	// Root is the store's folder; empty means DefaultRoot(Env).
	Root string
}

// Store is the per-user folder of control planes:
// <root>/k8s/<version>-<os>-<arch>/{etcd,kube-apiserver,kubectl}, and
// kube-controller-manager where operon built it.
type Store struct {
	root string
	env  environ
}

// Open returns the store that the options describe. It touches no disk; the
// folder comes into being with the first Build.
func Open(o Options) (*Store, error) {
	root := o.Root
	if root == "" {
		var err error
		if root, err = DefaultRoot(o.Env); err != nil {
			return nil, err
		}
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fault.In("envtest store "+root, err)
	}
	return &Store{root: root, env: o.Env}, nil
}

// DefaultRoot returns the folder that setup-envtest uses on this system, so
// that both see the same control planes: %LocalAppData%\kubebuilder-envtest on
// Windows, ~/Library/Application Support/io.kubebuilder.envtest on macOS,
// ${XDG_DATA_HOME:-~/.local/share}/kubebuilder-envtest elsewhere. (Source:
// DefaultStoreDir in sigs.k8s.io/controller-runtime/tools/setup-envtest/store.)
func DefaultRoot(env []string) (string, error) {
	return defaultRoot(runtime.GOOS, env)
}

func defaultRoot(goos string, env environ) (string, error) {
	missing := func(names string) (string, error) {
		return "", fault.Failed("set "+names+", or point "+Var+" at a folder with "+list(programs),
			"the envtest store has no place: %s is not set", names)
	}
	home := env.get("HOME")
	switch goos {
	case "windows":
		local := env.get("LocalAppData")
		if local == "" {
			return missing("LocalAppData")
		}
		return filepath.Join(local, "kubebuilder-envtest"), nil
	case "darwin":
		if home == "" {
			return missing("HOME")
		}
		return filepath.Join(home, "Library", "Application Support", "io.kubebuilder.envtest"), nil
	}
	data := env.get("XDG_DATA_HOME")
	if data == "" {
		if home == "" {
			return missing("HOME")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "kubebuilder-envtest"), nil
}

// Path returns the absolute path of a folder with a complete control plane, for
// use as KUBEBUILDER_ASSETS. That variable wins when it is set, and is checked.
// Otherwise version chooses from the store: "1.37.1" is that version, "1.37"
// and "1.37.x" the newest patch of a minor, "" the version that operon pins.
//
// Path never builds: when nothing complete is there the error has exit code 1
// and a hint that names the command that builds. A version that is not of
// these forms has exit code 2.
func (s *Store) Path(version string) (string, error) {
	want, err := parseVersion(version)
	if err != nil {
		return "", err
	}
	if dir := s.env.get(Var); dir != "" {
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

// missingHint returns a hint on how to get the wanted version.
func missingHint(want version) string {
	switch {
	case !want.matches(pinned()):
		return fmt.Sprintf("operon envtest path --download --k8s-version %s (operon builds %s alone), or set %s", want, pins.Kubernetes, Var)
	case want == pinned():
		return "operon envtest build"
	}
	return "operon envtest build --k8s-version " + want.String()
}

// checkVar makes sure that a folder the user named is what they think:
// envtest would fail much later, and with less to go by.
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
// programs, or "". broken then says what is wrong with the newest incomplete
// one, if there is one.
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

// versions is the folder that holds one folder per version and platform.
func (s *Store) versions() string { return filepath.Join(s.root, "k8s") }

// folder returns the folder of a version for this platform.
func (s *Store) folder(v version) string {
	return filepath.Join(s.versions(), v.String()+"-"+platform())
}

// platform is the suffix of this system's folders.
func platform() string { return runtime.GOOS + "-" + runtime.GOARCH }

// Program is the path of a program in a folder that this package returned.
func Program(dir, name string) string { return filepath.Join(dir, executable(name)) }

// executable is the file name of a program on this system. envtest asks for
// "etcd" everywhere; Windows finds etcd.exe under that name.
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
