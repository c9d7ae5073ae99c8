package listing

import (
	"encoding/json"
	"fmt"
	"go/version"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/input"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// mainModule is the module of a query.
type mainModule struct {
	dir, path string
	settings  load.Settings
	key       store.Key // what determines the packages of other modules, except for go.sum
	sums      []string  // the lines of go.sum, sorted
}

// moduleOf reads go.mod and go.sum. It returns a [golist.Inexact] if they, or GOFLAGS, make the
// go command look for packages in unusual places.
func moduleOf(q *load.Query) (*mainModule, error) {
	if err := q.Plain(); err != nil {
		return nil, err
	}
	if q.Project.HasDir(filepath.Join(q.Dir, "vendor")) {
		return nil, golist.Inexact("the module has a folder vendor")
	}
	text, err := q.Project.Read(filepath.Join(q.Dir, "go.mod"))
	if err != nil {
		return nil, golist.Inexact("go.mod cannot be read")
	}
	f, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, golist.Inexact("go.mod cannot be parsed")
	}
	if err := checkModFile(f); err != nil {
		return nil, err
	}
	m := &mainModule{dir: q.Dir, path: f.Module.Mod.Path, settings: q.Settings}
	release, err := input.ReadFile(filepath.Join(q.Settings.Root, "VERSION"), input.Data)
	if err != nil {
		return nil, golist.Inexact("GOROOT has no file VERSION")
	}
	m.key = store.KeyOf(slices.Concat([]string{"2", string(release), fmt.Sprint(q.System)}, requirements(f))...)
	sums, err := q.Project.Read(filepath.Join(q.Dir, "go.sum"))
	if err != nil {
		return nil, golist.Inexact("go.sum cannot be read")
	}
	m.sums = strings.FieldsFunc(string(sums), func(r rune) bool { return r == '\n' || r == '\r' })
	slices.Sort(m.sums)
	return m, nil
}

// checkModFile returns a [golist.Inexact] unless a go.mod names only versions of modules, and
// prunes the graph of modules, so that the go command looks for packages only in these.
func checkModFile(f *modfile.File) error {
	switch {
	case f.Module == nil || module.CheckImportPath(f.Module.Mod.Path) != nil || f.Module.Mod.Path == "std" || f.Module.Mod.Path == "cmd":
		return golist.Inexact("go.mod has no usual path of a module")
	case f.Go == nil || version.Compare("go"+f.Go.Version, "go1.17") < 0:
		return golist.Inexact("go.mod has no version of Go, or one before 1.17")
	case len(f.Ignore) > 0:
		return golist.Inexact("go.mod ignores folders")
	}
	for _, r := range f.Replace {
		if r.New.Version == "" {
			return golist.Inexact("go.mod replaces " + r.Old.Path + " with a folder")
		}
	}
	for _, r := range f.Require {
		_, below := within(f.Module.Mod.Path, r.Mod.Path)
		_, above := within(r.Mod.Path, f.Module.Mod.Path)
		if below || above {
			return golist.Inexact("packages may be in " + f.Module.Mod.Path + " and in " + r.Mod.Path)
		}
	}
	return nil
}

// within reports whether a slash-separated or absolute path is another one or below it.
func within(dir, name string) (rest string, ok bool) {
	if name == dir {
		return "", true
	}
	rest, ok = strings.CutPrefix(name, dir)
	return rest, ok && (rest[0] == '/' || rest[0] == filepath.Separator)
}

// requirements returns what go.mod says about the versions of other modules.
func requirements(f *modfile.File) []string {
	all := []string{"go " + f.Go.Version}
	for _, r := range f.Require {
		all = append(all, "require "+r.Mod.String())
	}
	for _, r := range f.Replace {
		all = append(all, "replace "+r.Old.String()+" "+r.New.String())
	}
	for _, r := range f.Exclude {
		all = append(all, "exclude "+r.Mod.String())
	}
	slices.Sort(all)
	return all
}

// known returns what an earlier listing named of other modules, with absolute folders.
func (m *mainModule) known(s *store.Store) (dependencies, error) {
	text, ok := s.Get(kind, m.key)
	if ok {
		if d, ok := m.decode(text); ok {
			return d, nil
		}
	}
	text = prebuilt(m.prebuiltName())
	if d, ok := m.decode(text); ok {
		s.Put(kind, m.key, text) // later runs need not decompress it
		return d, nil
	}
	return dependencies{}, golist.Inexact("no earlier listing has the same requirements in go.mod and go.sum")
}

// decode decodes an entry. ok is false if go.sum lacks lines that the entry needs.
func (m *mainModule) decode(text []byte) (d dependencies, ok bool) {
	if json.Unmarshal(text, &d) != nil {
		return d, false
	}
	for _, line := range d.Sums {
		if _, has := slices.BinarySearch(m.sums, line); !has {
			return d, false
		}
	}
	d.Packages = relative(d.Packages, m.settings, false)
	return d, true
}

// checkModules returns a [golist.Inexact] unless the module cache has all modules of the packages
// with the checksums of go.sum.
func (m *mainModule) checkModules(all []golist.Saved) error {
	checked := map[string]bool{}
	for _, p := range all {
		rel, ok := within(m.settings.ModCache, p.Dir)
		if !ok {
			continue
		}
		escaped, folder, _ := strings.Cut(filepath.ToSlash(rel)[1:], "@")
		escapedVersion, _, _ := strings.Cut(folder, "/")
		root := escaped + "@" + escapedVersion
		if checked[root] {
			continue
		}
		checked[root] = true
		path, err := module.UnescapePath(escaped)
		if err != nil {
			return golist.Inexact(err.Error())
		}
		plain, err := module.UnescapeVersion(escapedVersion)
		if err != nil {
			return golist.Inexact(err.Error())
		}
		download := filepath.Join(m.settings.ModCache, "cache", "download", filepath.FromSlash(escaped), "@v", escapedVersion)
		sum, err := input.ReadFile(download+".ziphash", input.Data)
		_, known := slices.BinarySearch(m.sums, path+" "+plain+" "+strings.TrimSpace(string(sum)))
		dir, statErr := filestat.Of(filepath.Join(m.settings.ModCache, filepath.FromSlash(root)))
		partial, partialErr := filestat.Of(download + ".partial")
		if err != nil || !known || statErr != nil || !dir.IsDir() || partialErr != nil || partial.Exists() {
			return golist.Inexact("the module cache does not have " + path + " " + plain + " as in go.sum")
		}
	}
	return nil
}
