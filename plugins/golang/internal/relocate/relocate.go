// Package relocate moves the Go packages of a project between the two layouts: one
// folder for all API groups, and one folder per group.
package relocate

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// folder is a folder of packages before the layout changes, and the places that its files go
// to. The first place takes the files that belong to no kind.
type folder struct {
	dir string
	to  []place
}

// place is the destination of the files of some resources.
type place struct {
	dir        string
	pkg        string // new package name; "": unchanged
	old, alias string // import names in scaffolded files, before and after; "": the package name
	resources  []project.Resource
}

// serveWebhooks adds the webhooks of a kind to the suite file at path.
type serveWebhooks func(r project.Resource, path string, p *scaffold.Plan) error

// Packages moves the packages of a project from one layout to the other, and
// updates everything that refers to them.
func Packages(before, after *project.Config, p *scaffold.Plan, serve serveWebhooks) error {
	m := move{before: before, after: after, plan: p, serve: serve, files: map[string]string{}, moved: map[string]string{}}
	for _, f := range folders(before, after) {
		if err := m.folder(f); err != nil {
			return err
		}
	}
	if err := m.checkJoined(); err != nil {
		return err
	}
	if err := m.edit(); err != nil {
		return err
	}
	return m.rename()
}

// folders returns the folders whose files move, each with its places. The project's own kinds
// come first.
func folders(before, after *project.Config) []folder {
	var all []folder
	add := func(from string, to place, r project.Resource) {
		i := slices.IndexFunc(all, func(f folder) bool { return f.dir == from })
		if i < 0 {
			i, all = len(all), append(all, folder{dir: from})
		}
		f := &all[i]
		j := slices.IndexFunc(f.to, func(p place) bool { return p.dir == to.dir })
		if j < 0 {
			j, f.to = len(f.to), append(f.to, to)
		}
		f.to[j].resources = append(f.to[j].resources, r)
	}
	for _, external := range []bool{false, true} {
		for i, old := range before.Resources {
			r := after.Resources[i]
			if r.HasExternalTypes() != external {
				continue
			}
			if r.API != nil && !external {
				add(before.APIDir(old), place{dir: after.APIDir(r)}, r)
			}
			if len(r.ControllerNames()) > 0 {
				add(before.ControllerDir(old), place{
					dir: after.ControllerDir(r), pkg: after.ControllerPackage(r),
					old: before.ControllerAlias(old), alias: after.ControllerAlias(r),
				}, r)
			}
			if r.Webhooks != nil {
				add(before.WebhookDir(old), place{dir: after.WebhookDir(r), old: before.WebhookAlias(old), alias: after.WebhookAlias(r)}, r)
			}
		}
	}
	return slices.DeleteFunc(all, func(f folder) bool { return len(f.to) == 1 && f.to[0].dir == f.dir })
}

// move is the state of one change of the layout.
type move struct {
	before, after *project.Config
	plan          *scaffold.Plan
	serve         serveWebhooks
	files         map[string]string // new path -> old path
	moved         map[string]string // old path of a file or folder -> new path
	packages      []movedPackage
	names         map[string]map[string]string // new folder -> declared name -> old file; for merged folders
}

// movedPackage is a Go package whose files moved.
type movedPackage struct {
	old goedit.Package
	to  func(name string) goedit.Package
}

// folder plans the moves of a folder's files.
func (m *move) folder(f folder) error {
	names, err := m.plan.Below(f.dir)
	if err != nil {
		return err
	}
	for _, to := range f.to {
		if err := m.checkEmpty(f.dir, to.dir); err != nil {
			return err
		}
	}
	s, err := m.split(f, names)
	if err != nil {
		return err
	}
	packages := map[string]string{} // folder -> package name
	for _, name := range names {
		if file, ok, err := m.parse(name); err == nil && ok && !source.IsTest(name) {
			packages[path.Dir(name)] = file.Package()
		}
		if err := m.file(f, name, s.target(name)); err != nil {
			return err
		}
		if err := m.copy(s, name); err != nil {
			return err
		}
	}
	if err := s.suites(m); err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		m.moved[dir] = f.next(dir, f.to[0])
		m.packages = append(m.packages, m.movedPackage(f, dir, packages[dir], s.declared))
	}
	return nil
}

// checkEmpty reports an error if the destination folder contains files that do not move.
func (m *move) checkEmpty(from, to string) error {
	if strings.HasPrefix(from+"/", to+"/") || strings.HasPrefix(to+"/", from+"/") {
		return nil
	}
	there, err := m.plan.Below(to)
	if err == nil && len(there) > 0 && m.files[there[0]] == "" {
		err = fault.Failed("move it away, then repeat the command", "%s cannot be moved to %s: %s is there", from, to, there[0])
	}
	return err
}

// file plans the move of one of f's files, and the edit of its package clause.
func (m *move) file(f folder, name string, to place) error {
	next := f.next(name, to)
	if next != name {
		if gone, err := m.joinSuite(name, next, to); gone || err != nil {
			return err
		}
		if gone, err := m.joinCopy(name, next, to); gone || err != nil {
			return err
		}
		if err := m.plan.Move(name, next); err != nil {
			return err
		}
	}
	m.files[next], m.moved[name] = name, next
	if next == name || to.pkg == "" || path.Dir(name) != f.dir || !strings.HasSuffix(name, ".go") || !m.plan.Exists(next) {
		return nil
	}
	return source.Edit(m.plan, next, func(g *goedit.File) error { return g.SetPackage(to.pkg) })
}

// parse parses a Go file. ok is false if the file does not exist or is not Go.
func (m *move) parse(name string) (file *goedit.File, ok bool, err error) {
	if !strings.HasSuffix(name, ".go") || !m.plan.Exists(name) {
		return nil, false, nil
	}
	src, err := m.plan.Read(name)
	if err != nil {
		return nil, false, err
	}
	file, err = goedit.Parse(name, src)
	return file, err == nil, err
}

// movedPackage describes how other packages import the package of dir, in the folder f.
// declared contains the names of f's package that do not go to the first place.
func (m *move) movedPackage(f folder, dir, pkg string, declared map[string]place) movedPackage {
	repo := m.after.Repo
	if dir != f.dir {
		next := goedit.Package{Path: repo + "/" + f.next(dir, f.to[0]), Name: pkg}
		return movedPackage{goedit.Package{Path: repo + "/" + dir, Name: pkg}, func(string) goedit.Package { return next }}
	}
	at := func(p place) goedit.Package {
		return goedit.Package{Path: repo + "/" + p.dir, Name: cmp.Or(p.pkg, pkg), Alias: p.alias}
	}
	return movedPackage{goedit.Package{Path: repo + "/" + dir, Name: pkg, Alias: f.to[0].old}, func(name string) goedit.Package {
		if p, ok := declared[name]; ok {
			return at(p)
		}
		return at(f.to[0])
	}}
}

// edit adapts the module's Go files to the new places: imports in all files, and relative
// paths in tests.
func (m *move) edit() error {
	// If a package moves to the old place of another one, the other one goes first.
	slices.SortFunc(m.packages, func(a, b movedPackage) int {
		deeper := cmp.Compare(len(b.old.Path), len(a.old.Path))
		if !m.after.MultiGroup {
			deeper = -deeper
		}
		return cmp.Or(deeper, strings.Compare(a.old.Path, b.old.Path))
	})
	names, err := source.ModuleFiles(m.plan)
	if err != nil {
		return err
	}
	for _, name := range names {
		src, err := m.plan.Read(name)
		if err != nil {
			return err
		}
		imports := func(p movedPackage) bool { return strings.Contains(string(src), strconv.Quote(p.old.Path)) }
		if !slices.ContainsFunc(m.packages, imports) && !source.IsTest(name) {
			continue
		}
		err = source.Edit(m.plan, name, func(f *goedit.File) error {
			for _, p := range m.packages {
				if err := f.MoveImports(p.old, p.to); err != nil {
					return err
				}
			}
			if !source.IsTest(name) {
				return nil
			}
			return f.RewritePaths(func(rel string, joined bool) string { return m.repath(name, rel, joined) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}
