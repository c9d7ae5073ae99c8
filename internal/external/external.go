// Package external runs plugins that are programs of their own, and turns their responses into
// changes of a plan. There are two protocols. A program in the folder of kubebuilder's plugins
// speaks kubebuilder's (kubebuilderplugin.go); one in operon's folder speaks operon's (operonplugin.go).
// docs/plugins.md describes both.
//
// Plugins are not trusted: see Program for what limits their processes, and response.go for what their
// responses can change.
package external

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// Protocol is the language of a plugin.
type Protocol string

// The protocols.
const (
	Kubebuilder Protocol = "kubebuilder" // version v1alpha1
	Operon      Protocol = "operon"
)

// Found is an installed plugin.
type Found struct {
	Name, Version string // such as sample and v1
	Path          string // of the program
	Protocol      Protocol
}

// Key returns the key of the plugin in PROJECT, such as sample/v1.
func (f Found) Key() string { return f.Name + "/" + f.Version }

// ConfigDir returns the folder of the user's configuration, an absolute path: XDG_CONFIG_HOME, or else that of
// the system. It is "" if there is none.
func ConfigDir(getenv func(string) string) string {
	dir := ""
	switch home := getenv("HOME"); {
	case filepath.IsAbs(getenv("XDG_CONFIG_HOME")):
		return getenv("XDG_CONFIG_HOME")
	case runtime.GOOS == "windows":
		dir = getenv("APPDATA")
	case runtime.GOOS == "darwin":
		dir = filepath.Join(home, "Library", "Application Support")
	default:
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}

// Folders has the folders of installed plugins, by protocol. In them, the program of sample/v1 is
// sample/v1/sample, with any extension.
type Folders struct{ operon, kubebuilder string }

// InstallFolders returns the folders of the user, as absolute paths: those in OPERON_PLUGINS and
// EXTERNAL_PLUGINS_PATH, which can be relative to the working folder, or else those in the configuration folder.
func InstallFolders(getenv func(string) string, workingDir string) Folders {
	config := ConfigDir(getenv)
	folder := func(variable, program string) string {
		switch dir := getenv(variable); {
		case filepath.IsAbs(dir):
			return dir
		case dir != "":
			return filepath.Join(workingDir, dir)
		case config != "":
			return filepath.Join(config, program, "plugins")
		}
		return ""
	}
	return Folders{folder("OPERON_PLUGINS", "operon"), folder("EXTERNAL_PLUGINS_PATH", "kubebuilder")}
}

// key matches the key or the name of a plugin that a user can install.
var key = lazyregexp.New(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)(/(v[1-9][0-9]*(-alpha|-beta)?))?$`)

// reserved are the domains of the keys of operon and its peers, which no installed program can have.
var reserved = []string{".operon.dev", ".kubebuilder.io", ".operatorframework.io"}

// CanBe reports whether a key in PROJECT or a name in --plugins can be that of an installed plugin.
func CanBe(name string) bool {
	owner, _, _ := strings.Cut(name, "/")
	return key().MatchString(name) && !slices.ContainsFunc(reserved, func(d string) bool { return strings.HasSuffix(owner, d) })
}

// Find returns the installed plugin with a key, or with a name that has one version. found is false if there is none.
// A program that is not executable is an error.
func (f Folders) Find(name string) (plugin Found, found bool, err error) {
	if !CanBe(name) {
		return Found{}, false, nil
	}
	name, version, _ := strings.Cut(name, "/")
	for _, root := range f.roots() {
		versions := []string{version}
		if version == "" {
			versions = slices.DeleteFunc(folders(filepath.Join(root.dir, name)), func(v string) bool { return !CanBe(name + "/" + v) })
		}
		switch len(versions) {
		case 0:
			continue
		case 1:
		default:
			return Found{}, false, fault.Usage("use one of "+name+"/"+strings.Join(versions, ", "+name+"/"), "the plugin %s has several versions", name)
		}
		path, err := program(filepath.Join(root.dir, name, versions[0]), name)
		if err != nil || path != "" {
			return Found{name, versions[0], path, root.protocol}, err == nil, err
		}
	}
	return Found{}, false, nil
}

// Inputs returns the paths that decide which program Find finds for a key, and what its manifest says.
func (f Folders) Inputs(key string) []string {
	var paths []string
	for _, root := range f.roots() {
		dir := filepath.Join(root.dir, filepath.FromSlash(key))
		paths = append(paths, dir, filepath.Join(dir, manifestFile))
	}
	return paths
}

// Keys returns the keys of all installed plugins, sorted.
func (f Folders) Keys() []string {
	var keys []string
	for _, root := range f.roots() {
		for _, name := range folders(root.dir) {
			for _, version := range folders(filepath.Join(root.dir, name)) {
				if path, err := program(filepath.Join(root.dir, name, version), name); err == nil && path != "" && CanBe(name+"/"+version) {
					keys = append(keys, name+"/"+version)
				}
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

type root struct {
	dir      string
	protocol Protocol
}

func (f Folders) roots() []root {
	all := []root{{f.operon, Operon}, {f.kubebuilder, Kubebuilder}}
	return slices.DeleteFunc(all, func(r root) bool { return r.dir == "" })
}

// folders returns the names of the folders in dir, sorted. An unreadable folder has none.
func folders(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// program returns the path of the program with this name, with any extension, in a folder, or "". If
// several files have the name, the executable one counts.
func program(dir, name string) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fault.Failed("make the folder readable", "plugin %s: %v", name, err)
	}
	var programs, others []string
	for _, e := range entries {
		if e.Name() != name && strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())) != name {
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch info, err := os.Stat(path); {
		case err != nil || !info.Mode().IsRegular():
		case runtime.GOOS == "windows" || info.Mode()&0o111 != 0:
			programs = append(programs, path)
		default:
			others = append(others, path)
		}
	}
	switch {
	case len(programs) > 1:
		return "", fault.Usage("leave one of them executable", "the plugin %s has several programs: %s", name, strings.Join(programs, ", "))
	case len(programs) == 1:
		return programs[0], nil
	case len(others) > 0:
		return "", fault.Usage("make it executable: chmod +x "+others[0], "the plugin %s is not executable", name)
	}
	return "", nil
}
