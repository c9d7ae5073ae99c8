package load

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/input"
)

// Folder is a path of the file system in the paths of a job, such as ./api/... or
// ./api/v1.
type Folder struct {
	Dir       string // absolute
	Recursive bool   // the path ends in "..."
}

// Matches reports whether the path names a folder, by its absolute path.
func (f Folder) Matches(dir string) bool {
	return dir == f.Dir || f.Recursive && strings.HasPrefix(dir, f.Dir+string(filepath.Separator))
}

// patternQuery is the prefix of a pattern that the loader passes to the go command
// unchanged. Without it, the loader handles the pattern as a path.
const patternQuery = "pattern="

// Query returns the folder as a pattern that the loader passes to go list unchanged. ok
// is false if the folder is outside root.
func (f Folder) Query(root string) (pattern string, ok bool) {
	rel, ok := overlay.Rel(root, f.Dir)
	if !ok {
		return "", false
	}
	if f.Recursive {
		return patternQuery + "./" + rel + "/...", true
	}
	return patternQuery + "./" + rel, true
}

// selection is what the paths of a job select.
type selection struct {
	// patterns are the patterns for the loader.
	patterns []string
	// Folders are the folders of the paths if all are in one module, which sortRoots needs. several says why they are not.
	Folders []Folder
	several string
	// modules are the folders of the modules that the paths reach, or nil if some are outside the project.
	modules []string
	// unnamed are the folders of modules that a recursive path reaches and no path names.
	unnamed []string
	// apart are the folders of modules that no pattern matches: the loader reads each by itself.
	apart []string
}

// selectPaths returns what the paths select.
//
// The loader runs go list once for each path, and again for each go.mod below a path that
// ends in "...". That includes the root's own go.mod, so even ./... is listed twice. If
// all paths are folders of one module, one go list in the module finds the same packages.
//
// Otherwise the patterns are the paths, except for folders that exist only in the plan: go list
// cannot start there. Unlike the loader, it skips modules that are no part of the
// project: see skips.
func selectPaths(src *overlay.Project, paths []string, modCache string) (s selection, err error) {
	module, inside := moduleOf(src.Dir, paths), true
	s.modules = []string{module}
	queries := make([]string, len(paths))
	for _, name := range []string{"go.mod", "go.sum"} {
		if _, err := isFile(src.Dir, filepath.Join(src.Dir, name)); err != nil {
			return s, err
		}
	}
	for i, p := range paths {
		if !IsFilePath(p) {
			if inProject := "./" + p; !strings.Contains(p, ".") && src.HasDir(NewFolder(src.Dir, inProject).Dir) { // no module is named so
				return s, fault.Usage("write "+inProject, "path %q does not start with ./, so it is an import path and not a folder", p)
			}
			s.several, inside = p+" is an import path", false
			s.patterns = append(s.patterns, p)
			continue
		}
		f := NewFolder(src.Dir, p)
		if !src.HasDir(f.Dir) {
			return s, fault.Usage("paths start from the project root, as in ./api/...", "path %q is not a folder", p)
		}
		query, below := f.Query(src.Dir)
		if !below && !inModule(f.Dir) {
			return s, fault.Usage("paths start from the project root, as in ./api/...", "path %q is outside the project, and in no module", p)
		}
		if !below {
			s.several, inside = p+" is outside the project", false // it may be part of another module
			s.patterns = append(s.patterns, p)
			continue
		}
		queries[i], _ = f.Query(module)
		others, err := scan(src.Dir, module, f, modCache)
		if err != nil {
			return s, err
		}
		if len(others.above)+len(others.below) > 0 {
			s.several = p + " reaches several modules, such as " + src.Rel(slices.Concat(others.above, others.below)[0])
			s.modules = slices.Concat(s.modules, others.above, others.below)
			s.unnamed = append(s.unnamed, others.below...)
		}
		s.Folders = append(s.Folders, f)
		switch {
		case !onDisk(f.Dir):
			s.patterns = append(s.patterns, query)
		case others.skipped && len(others.above) == 0: // the loader would read them
			s.patterns = append(s.patterns, query)
			s.apart = append(s.apart, others.below...)
		default:
			s.patterns = append(s.patterns, p)
		}
	}
	s.unnamed = slices.DeleteFunc(s.unnamed, func(dir string) bool {
		return slices.ContainsFunc(s.Folders, func(f Folder) bool { return f.Matches(dir) && moduleDir(src.Dir, f.Dir) == dir })
	})
	switch {
	case s.several == "":
		s.patterns = queries
		return s, nil
	case !inside:
		s.modules = nil
	}
	s.Folders = nil
	return s, nil
}

// IsFilePath reports whether p is a file path and not an import path, by the go
// command's rule.
func IsFilePath(p string) bool { return filepath.IsAbs(p) || strings.HasPrefix(p, ".") }

// NewFolder returns the folder that a file path names. A relative path starts from root.
func NewFolder(root, p string) Folder {
	p = filepath.Clean(filepath.FromSlash(p))
	if !filepath.IsAbs(p) {
		p = filepath.Join(root, p)
	}
	if filepath.Base(p) == "..." {
		return Folder{filepath.Dir(p), true}
	}
	return Folder{p, false}
}

func onDisk(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// moduleOf returns the folder of the module in which all paths are folders: the root or one below
// it. It is the root if they are in several modules.
func moduleOf(root string, paths []string) string {
	module := ""
	for _, p := range paths {
		f := NewFolder(root, p)
		if _, inside := f.Query(root); !IsFilePath(p) || !inside {
			return root
		}
		d := moduleDir(root, f.Dir)
		if module != "" && module != d {
			return root
		}
		module = d
	}
	return cmp.Or(module, root)
}

// moduleDir returns the closest folder to dir with a go.mod, at most the root.
func moduleDir(root, dir string) string {
	for ; dir != root; dir = filepath.Dir(dir) {
		if found, _ := isFile(root, filepath.Join(dir, "go.mod")); found {
			break
		}
	}
	return dir
}

// inModule reports whether a folder or one above it has a go.mod.
func inModule(dir string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

// isFile reports whether a file exists, and returns an error for one that is not regular.
func isFile(root, name string) (bool, error) {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return false, nil //nolint:nilerr // the go command reports what it cannot read
	}
	if !info.Mode().IsRegular() {
		rel, _ := overlay.Rel(root, name)
		return false, fault.Failed("remove it", "%s is %v", rel, input.ErrIrregular)
	}
	return true, nil
}

// sourceExtensions are the extensions of the files that the go command reads to list a package.
var sourceExtensions = []string{".go", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx",
	".f", ".F", ".for", ".f90", ".s", ".S", ".sx", ".swig", ".swigcxx"}

// isSource reports whether the go command reads a file when it lists the package of the file.
func isSource(name string) bool {
	base := filepath.Base(name)
	if base == "go.mod" || base == "go.sum" {
		return true
	}
	ignored := base[0] == '_' || base[0] == '.' || strings.Contains(filepath.ToSlash(name), "/testdata/")
	return slices.Contains(sourceExtensions, filepath.Ext(name)) && !ignored
}

// sortRoots sorts roots that were listed together in the order of one go list for each
// folder: folder by folder, each package after those that it imports, and otherwise by
// path. This determines the order of outputs in one file.
func sortRoots[P comparable](roots []P, folders []Folder, dir func(P) string, imports func(P) map[string]P) []P {
	if len(folders) < 2 {
		return roots
	}
	walked := slices.SortedFunc(slices.Values(roots), func(a, b P) int {
		return slices.Compare(elements(dir(a)), elements(dir(b)))
	})
	var sorted []P
	listed := map[P]bool{}
	for _, f := range folders {
		seen := map[P]bool{}
		var visit func(p P)
		visit = func(p P) {
			if seen[p] {
				return
			}
			seen[p] = true
			imported := imports(p)
			for _, path := range slices.Sorted(maps.Keys(imported)) {
				visit(imported[path])
			}
			if !listed[p] && f.Matches(dir(p)) && slices.Contains(roots, p) {
				listed[p] = true
				sorted = append(sorted, p)
			}
		}
		for _, p := range walked {
			if f.Matches(dir(p)) {
				visit(p)
			}
		}
	}
	for _, p := range walked {
		if !listed[p] { // such as a package that go list creates to report an error
			sorted = append(sorted, p)
		}
	}
	return sorted
}

func elements(dir string) []string { return strings.Split(filepath.ToSlash(dir), "/") }
