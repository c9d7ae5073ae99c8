package adopt

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// sources are the parsed packages of a repository.
type sources struct {
	modules []module // longest folder first
	files   []*goFile
	byDir   map[string][]*goFile
}

// module is a Go module of the repository.
type module struct{ dir, path string }

// newSources indexes files by package.
func newSources(modules []module, files []*goFile) *sources {
	s := &sources{modules: modules, files: files, byDir: map[string][]*goFile{}}
	for _, f := range files {
		s.byDir[f.dir()] = append(s.byDir[f.dir()], f)
	}
	return s
}

// readModules reads the module lines of go.mod files. Those without one are left out.
func readModules(fsys fs.FS, dirs []string) []module {
	var all []module
	for _, dir := range dirs {
		src, err := fs.ReadFile(fsys, path.Join(dir, "go.mod"))
		if name := modfile.ModulePath(src); err == nil && name != "" {
			all = append(all, module{dir, name})
		}
	}
	slices.SortFunc(all, func(a, b module) int { return len(b.dir) - len(a.dir) })
	return all
}

// within reports whether a folder is dir or below it.
func within(folder, dir string) bool {
	return dir == "." || folder == dir || strings.HasPrefix(folder, dir+"/")
}

// moduleOf returns the module of a folder.
func (s *sources) moduleOf(dir string) (module, bool) {
	i := slices.IndexFunc(s.modules, func(m module) bool { return within(dir, m.dir) })
	if i < 0 {
		return module{}, false
	}
	return s.modules[i], true
}

// importPath returns the import path of the package in a folder.
func (s *sources) importPath(dir string) string {
	m, ok := s.moduleOf(dir)
	if !ok {
		return ""
	}
	if m.dir == "." {
		return path.Join(m.path, dir)
	}
	return path.Join(m.path, strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/"))
}

// folder returns the folder of an import path in one of the modules.
func (s *sources) folder(importPath string) (string, bool) {
	for _, m := range s.modules {
		if importPath == m.path || strings.HasPrefix(importPath, m.path+"/") {
			dir := path.Join(m.dir, strings.TrimPrefix(importPath, m.path))
			if _, exists := s.byDir[dir]; exists {
				return dir, true
			}
		}
	}
	return "", false
}

// resolve returns the import path of a package by its name in a file, or the path of the file for "".
func (s *sources) resolve(f *goFile, name string) string {
	if name == "" {
		return s.importPath(f.dir())
	}
	guess := ""
	for _, i := range f.imports {
		switch {
		case i.name == name:
			return i.path
		case i.name != "":
		case path.Base(i.path) == name:
			guess = i.path
		default:
			if dir, ok := s.folder(i.path); ok && s.byDir[dir][0].pkg == name {
				return i.path
			}
		}
	}
	return guess
}

// text returns the value of a string expression in a file, as far as its parts are in the repository.
func (s *sources) text(f *goFile, e expr) (string, bool) { return s.evaluate(f, e, 10) }

// evaluate is text for references to references, up to a depth.
func (s *sources) evaluate(f *goFile, e expr, depth int) (string, bool) {
	switch {
	case depth == 0:
		return "", false
	case e.sum != nil:
		var all strings.Builder
		for _, part := range e.sum {
			text, ok := s.evaluate(f, part, depth-1)
			if !ok {
				return "", false
			}
			all.WriteString(text)
		}
		return all.String(), true
	case e.ref == ref{}:
		return e.text, true
	}
	dir := f.dir()
	if e.ref.pkg != "" {
		var ok bool
		if dir, ok = s.folder(s.resolve(f, e.ref.pkg)); !ok {
			return "", false
		}
	}
	for _, other := range s.byDir[dir] {
		if value, ok := other.values[e.ref.name]; ok && (other != f || value.ref != e.ref) {
			return s.evaluate(other, value, depth-1)
		}
	}
	return "", false
}

// reachable returns the folders of the packages that a package imports, with those that they import.
func (s *sources) reachable(dir string) map[string]bool {
	seen := map[string]bool{dir: true}
	for next := []string{dir}; len(next) > 0; next = next[1:] {
		for _, f := range s.byDir[next[0]] {
			for _, i := range f.imports {
				if to, ok := s.folder(i.path); ok && !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
	}
	return seen
}
