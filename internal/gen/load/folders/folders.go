// Package folders lists the packages of the main module as the go command does, without
// starting it. It applies the rules of [go/build] to the folders that patterns match, and to
// those that their packages import. The packages of other modules come from an earlier
// listing: see [golist.Saved].
//
// The result is the answer of the go command, or a [golist.Inexact] that says why it may differ.
// Everything unusual is a reason: errors in the sources, cgo, other modules below the folders,
// and imports that the earlier listing does not have.
package folders

import (
	"go/build"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/goenv"
	"golang.org/x/mod/module"
)

// Files are the files of the project as they will be after the plan is applied. Names are
// absolute.
type Files interface {
	Read(name string) ([]byte, error)
	ReadDir(name string) ([]fs.FileInfo, error) // sorted by name; symbolic links are not followed
	HasDir(name string) bool
}

// Pattern matches the packages in a folder, and below it.
type Pattern struct {
	Dir   string
	Below bool
}

// Lister lists packages of a module.
type Lister struct {
	Files  Files
	Dir    string // the module's folder
	Module string // the module's path
	// Context says for which system packages are listed. Its functions are not used.
	Context build.Context
	// Others are packages of other modules, which import no other packages.
	Others []golist.Saved

	others map[string]int // indexes of Others, by import path
	found  map[string]*found
	order  []*found
}

// found is a package of the module.
type found struct {
	*build.Package
	path  string
	root  bool
	state state
}

// state is the progress of the search for cycles.
type state int

const (
	unvisited state = iota
	visiting
	visited
)

// List returns Others and the packages that the patterns match, with all packages of the
// module that these import. The roots are in the order of the go command.
func (l *Lister) List(patterns []Pattern) ([]golist.Saved, error) {
	l.others = make(map[string]int, len(l.Others))
	for i, p := range l.Others {
		l.others[p.ImportPath] = i
	}
	l.found = map[string]*found{}
	var roots []*found
	for _, p := range patterns {
		matched, err := l.match(p)
		if err != nil {
			return nil, err
		}
		roots = append(roots, matched...)
	}
	for _, p := range roots {
		p.root = true
		if err := l.visit(p); err != nil {
			return nil, err
		}
	}
	if err := l.checkCase(); err != nil {
		return nil, err
	}
	return l.save(), nil
}

// match returns the packages that a pattern matches.
func (l *Lister) match(p Pattern) ([]*found, error) {
	rel, err := filepath.Rel(l.Dir, p.Dir)
	if err != nil || strings.HasPrefix(rel, "..") {
		return nil, golist.Inexact(p.Dir + " is outside the module")
	}
	if rel != "." && slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), goenv.Ignores) {
		return nil, golist.Inexact("a pattern names the folder " + rel)
	}
	dirs := []string{p.Dir}
	if p.Below {
		if dirs, err = l.below(p.Dir, nil); err != nil {
			return nil, err
		}
	}
	pkgs, errs := l.importAll(dirs)
	var matched []*found
	for i, dir := range dirs {
		if _, none := errs[i].(*build.NoGoError); none && p.Below { //nolint:errorlint // go/build does not wrap it
			continue
		}
		q, err := l.add(dir, pkgs[i], errs[i])
		if err != nil {
			return nil, err
		}
		matched = append(matched, q)
	}
	return matched, nil
}

// below appends dir and the folders below it in which a pattern matches packages, in the order
// of the go command. It does not follow symbolic links.
func (l *Lister) below(dir string, dirs []string) ([]string, error) {
	entries, err := l.Files.ReadDir(dir)
	if err != nil {
		return nil, golist.Inexact("a folder cannot be read: " + err.Error())
	}
	dirs = append(dirs, dir)
	for _, e := range entries {
		switch {
		case e.Name() == "go.mod" && dir != l.Dir:
			return nil, golist.Inexact("another module is in " + dir)
		case e.IsDir() && e.Name() == "vendor":
			return nil, golist.Inexact("a folder is named vendor in " + dir)
		case e.IsDir() && !goenv.Ignores(e.Name()):
			if dirs, err = l.below(filepath.Join(dir, e.Name()), dirs); err != nil {
				return nil, err
			}
		}
	}
	return dirs, nil
}

// visit finds the packages of the module that p imports, each after those that it imports.
func (l *Lister) visit(p *found) error {
	switch p.state {
	case visited:
		return nil
	case visiting:
		return golist.Inexact("packages import each other: " + p.path)
	}
	p.state = visiting
	for _, written := range p.Imports {
		imported, own, err := l.resolve(p, written)
		if err != nil {
			return err
		}
		if !own {
			continue
		}
		if err := l.visit(imported); err != nil {
			return err
		}
	}
	p.state = visited
	l.order = append(l.order, p)
	return nil
}

// checkCase returns a [golist.Inexact] if the paths of two packages differ only in case.
func (l *Lister) checkCase() error {
	folded := make(map[string]bool, len(l.found))
	for p := range l.found {
		folded[strings.ToLower(p)] = true
	}
	if len(folded) < len(l.found) {
		return golist.Inexact("the paths of two packages differ only in case")
	}
	return nil
}

// add adds a package of the module. err is the error of go/build.
func (l *Lister) add(dir string, p *build.Package, err error) (*found, error) {
	rel, relErr := filepath.Rel(l.Dir, dir)
	if relErr != nil {
		return nil, golist.Inexact(relErr.Error())
	}
	pkg := path.Join(l.Module, filepath.ToSlash(rel))
	if known := l.found[pkg]; known != nil {
		return known, nil
	}
	_, other := l.others[pkg]
	switch {
	case err != nil:
		return nil, golist.Inexact(err.Error())
	case other:
		return nil, golist.Inexact(pkg + " is also in another module")
	case module.CheckImportPath(pkg) != nil:
		return nil, golist.Inexact(pkg + " is not a usual path")
	}
	if why := l.unusual(dir, p); why != "" {
		return nil, golist.Inexact(pkg + " " + why)
	}
	q := &found{Package: p, path: pkg}
	l.found[pkg] = q
	return q, nil
}

// save returns all packages in the form of golist.
func (l *Lister) save() []golist.Saved {
	all := slices.Clip(l.Others)
	numbers := map[string]int{}
	for i, p := range l.order {
		numbers[p.path] = len(l.Others) + i
	}
	for _, p := range l.order {
		s := golist.Saved{ImportPath: p.path, Name: p.Name, Dir: p.Dir, GoFiles: p.GoFiles, DepOnly: !p.root, Known: true}
		for _, written := range p.Imports {
			n, ok := numbers[written]
			if !ok {
				n = l.others[written]
			}
			s.Imports = append(s.Imports, golist.SavedImport{Written: written, Package: n})
		}
		all = append(all, s)
	}
	return all
}
