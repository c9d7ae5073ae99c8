package gomod

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/input"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Module is one version of a module.
type Module struct {
	Path, Version string
	Dir           string // the folder of its files; "" if they are not on this machine
}

// String returns path@version, or the path only.
func (m Module) String() string {
	if m.Version == "" {
		return m.Path
	}
	return m.Path + "@" + m.Version
}

// Parse is the inverse of String.
func Parse(s string) Module {
	path, version, _ := strings.Cut(s, "@")
	return Module{Path: path, Version: version}
}

// Holds reports whether the package with an import path may be part of m.
func (m Module) Holds(path string) bool { return path == m.Path || strings.HasPrefix(path, m.Path+"/") }

// Required returns the modules that the go.mod file in the folder requires.
func (g Go) Required(ctx context.Context) ([]Module, error) {
	src, err := input.ReadFile(filepath.Join(g.Dir, "go.mod"), input.Text)
	if err != nil {
		return nil, err
	}
	f, err := modfile.ParseLax("go.mod", src, nil)
	if err != nil || len(f.Require) == 0 {
		return nil, err
	}
	// -mod=readonly comes last: listing modules must not write go.mod.
	args := []string{"list", "-mod=readonly", "-m", "-e", "-f", "{{.Path}}\t{{.Version}}\t{{.Dir}}"}
	for _, r := range f.Require {
		args = append(args, r.Mod.Path)
	}
	out, err := g.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	var all []Module
	for line := range strings.Lines(string(out)) {
		if words := strings.Split(strings.TrimRight(line, "\r\n"), "\t"); len(words) == 3 {
			all = append(all, Module{Path: words[0], Version: words[1], Dir: words[2]})
		}
	}
	return all, nil
}

// Cached completes m from the module cache: the newest cached version if m has none, and
// its folder. Fields that the module cache cannot complete stay empty. The folder of g is any
// folder.
func (g Go) Cached(ctx context.Context, m Module) (Module, error) {
	out, err := g.run(ctx, "env", "GOMODCACHE")
	switch {
	case err != nil && m.Version != "" && ctx.Err() == nil:
		return m, nil // without the go command, only the folder is unknown
	case err != nil:
		return m, err
	}
	cache := strings.TrimSpace(string(out))
	if m.Version == "" {
		if m.Version, err = newest(cache, m.Path); err != nil || m.Version == "" {
			return m, err
		}
	}
	if m.Dir = extracted(cache, m); m.Dir != "" {
		return m, nil
	}
	out, err = g.run(ctx, "mod", "download", "-json", m.String())
	if ctx.Err() != nil {
		return m, err
	}
	var at struct{ Dir string }
	if json.Unmarshal(out, &at) == nil { // otherwise the go command reports why it is missing
		m.Dir = at.Dir
	}
	return m, nil
}

// extracted returns the folder of a module version in the module cache, or "". Without network, go mod download
// does not find a version that another module requires: the go command fetches no .info file for it.
//
// https://go.dev/ref/mod#module-cache describes the layout. The go command removes the .partial file when the
// folder is complete.
func extracted(cache string, m Module) string {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return ""
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return ""
	}
	path = filepath.FromSlash(path)
	dir := filepath.Join(cache, path+"@"+version)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	if _, err := os.Stat(filepath.Join(cache, "cache", "download", path, "@v", version+".partial")); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return dir
}

// Resolves reports whether the go command finds the package with an import path: in the project, its
// workspace, or a module in the module cache.
func (g Go) Resolves(ctx context.Context, path string) (bool, error) {
	env := environ.With(g.Environ, "GOPROXY=off", "GOTOOLCHAIN=local")
	out, err := environ.Command(ctx, g.Dir, env, "go", "list", "-find", "-e", "-f", "{{if not .Error}}found{{end}}", "--", path).Output()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil && strings.TrimSpace(string(out)) == "found", nil
}

// newest returns the highest version whose files are in the module cache, releases
// before pre-releases, or "".
func newest(cache, path string) (string, error) {
	escaped, err := module.EscapePath(path)
	if err != nil {
		return "", nil // the path is not a valid module path
	}
	folder := filepath.Join(cache, "cache", "download", filepath.FromSlash(escaped), "@v")
	files, err := fs.Glob(input.Folder(folder, input.Text), "*.zip")
	if err != nil {
		return "", err
	}
	var releases, others []string
	for _, file := range files {
		version, err := module.UnescapeVersion(strings.TrimSuffix(file, ".zip"))
		switch {
		case err != nil || !semver.IsValid(version):
		case semver.Prerelease(version) == "":
			releases = append(releases, version)
		default:
			others = append(others, version)
		}
	}
	for _, versions := range [][]string{releases, others} {
		if len(versions) > 0 {
			return slices.MaxFunc(versions, semver.Compare), nil
		}
	}
	return "", nil
}

// RequiredBy returns the version of the module path that m requires, or "" if it does not, or if
// the module cache lacks m.
func (g Go) RequiredBy(ctx context.Context, m Module, path string) (string, error) {
	g.Dir = os.TempDir() // in a module, the go command would add m to go.sum
	m, err := g.Cached(ctx, m)
	if err != nil || m.Dir == "" {
		return "", err
	}
	src, err := input.ReadFile(filepath.Join(m.Dir, "go.mod"), input.Text)
	if err != nil {
		return "", err
	}
	f, err := modfile.ParseLax("go.mod", src, nil)
	if err != nil {
		return "", err
	}
	for _, r := range f.Require {
		if r.Mod.Path == path {
			return r.Mod.Version, nil
		}
	}
	return "", nil
}
