// Package external runs plugins that are programs of their own, and turns their responses into
// changes of a plan. They speak the protocol of kubebuilder: see docs/plugins.md.
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

// Found is an installed plugin.
type Found struct {
	Name, Version string // such as sample and v1
	Path          string // of the program
}

// Key returns the key of the plugin in PROJECT, such as sample/v1.
func (f Found) Key() string { return f.Name + "/" + f.Version }

// ConfigDir returns the folder of the user's configuration, an absolute path: XDG_CONFIG_HOME, or else the folder that
// the system has for it. It is "" if there is none.
func ConfigDir(getenv func(string) string) string {
	dir := ""
	home := getenv("HOME")
	switch {
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

// Folder is the path of the folder with the installed plugins, or "" if there is none. In it, the program of
// sample/v1 is sample/v1/sample, with any extension.
type Folder string

// InstallFolder returns the folder of the user, as an absolute path: EXTERNAL_PLUGINS_PATH, which can be relative to
// the working folder, or else the folder of kubebuilder's plugins in the configuration folder.
func InstallFolder(getenv func(string) string, workingDir string) Folder {
	config := ConfigDir(getenv)
	dir := getenv("EXTERNAL_PLUGINS_PATH")
	switch {
	case filepath.IsAbs(dir):
		return Folder(dir)
	case dir != "":
		return Folder(filepath.Join(workingDir, dir))
	case config != "":
		return Folder(filepath.Join(config, "kubebuilder", "plugins"))
	}
	return ""
}

// key matches the key or the name of a plugin that a user can install.
var key = lazyregexp.New(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)(/(v[1-9][0-9]*(-alpha|-beta)?))?$`)

// reserved are the domains of the keys of operon and its peers, which no installed program can have.
var reserved = []string{".operon.dev", ".kubebuilder.io", ".operatorframework.io"}

// CanBe reports whether a key in PROJECT or a name in --plugins can belong to an installed plugin.
func CanBe(name string) bool {
	owner, _, _ := strings.Cut(name, "/")
	return key().MatchString(name) && !slices.ContainsFunc(reserved, func(d string) bool { return strings.HasSuffix(owner, d) })
}

// Find returns the installed plugin with a key, or with a name that has one version. found is false if there is none.
// A program that is not executable is an error.
func (f Folder) Find(name string) (plugin Found, found bool, err error) {
	if f == "" || !CanBe(name) {
		return Found{}, false, nil
	}
	name, version, _ := strings.Cut(name, "/")
	versions := []string{version}
	if version == "" {
		versions = slices.DeleteFunc(folders(filepath.Join(string(f), name)), func(v string) bool { return !CanBe(name + "/" + v) })
	}
	switch len(versions) {
	case 0:
		return Found{}, false, nil
	case 1:
	default:
		hint := "use one of " + name + "/" + strings.Join(versions, ", "+name+"/")
		return Found{}, false, fault.Usage(hint, "the plugin %s has several versions", name)
	}
	path, err := program(filepath.Join(string(f), name, versions[0]), name)
	if err != nil || path == "" {
		return Found{}, false, err
	}
	return Found{name, versions[0], path}, true, nil
}

// Keys returns the keys of all installed plugins, sorted.
func (f Folder) Keys() []string {
	if f == "" {
		return nil
	}
	var keys []string
	for _, name := range folders(string(f)) {
		for _, version := range folders(filepath.Join(string(f), name)) {
			if path, err := program(filepath.Join(string(f), name, version), name); err == nil && path != "" && CanBe(name+"/"+version) {
				keys = append(keys, name+"/"+version)
			}
		}
	}
	slices.Sort(keys)
	return keys
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
		info, err := os.Stat(path)
		switch {
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
