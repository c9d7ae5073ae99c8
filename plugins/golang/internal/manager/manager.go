// Package manager finds the code of a Go operator that makes its manager, adds types, controllers,
// webhooks and settings to it, and reports what is missing there. It locates everything by syntax,
// whatever the names of variables and files are.
package manager

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Package is the package in which the manager is made. The user may have moved parts of it
// from main.go to other files. In a repository that operon did not start, it can be any package.
type managerPackage struct {
	name     string        // of the file in which the manager is made
	files    []source.File // that file first
	base     *goedit.File  // its base, or nil
	recorded bool          // PROJECT has the name
}

// Read reads the files on disk, even if main.go is planned again. It skips files of
// other packages and files that do not parse. But it returns an error if main.go does
// not parse and must be edited.
func readPackage(c *project.Config, p *scaffold.Plan) (managerPackage, error) {
	return readPackageOf(c.MainFile(), c.Places().Main != "", p)
}

// readPackageOf reads the package of a file as readPackage does.
func readPackageOf(name string, recorded bool, p *scaffold.Plan) (managerPackage, error) {
	m := managerPackage{name: name, recorded: recorded}
	names, err := p.Files(path.Dir(m.name))
	if err != nil {
		return m, err
	}
	for _, name := range names {
		name = path.Join(path.Dir(m.name), name)
		if !strings.HasSuffix(name, ".go") || source.IsTest(name) {
			continue
		}
		disk, base, err := p.Before(name)
		if err != nil {
			return m, err
		}
		if name == m.name && base != nil {
			m.base, _ = goedit.Parse(name, base)
		}
		if disk == nil {
			continue
		}
		file, err := goedit.Parse(name, disk)
		switch {
		case err != nil && name == m.name && !p.Seeded(name):
			return m, err
		case err == nil:
			m.files = append(m.files, source.File{Name: name, Src: disk, Parsed: file})
		}
	}
	m.sort()
	return m, nil
}

// sort puts the file in which the manager is made first, and removes files of other packages.
func (m *managerPackage) sort() {
	pkg := "main"
	if i := slices.IndexFunc(m.files, func(s source.File) bool { return s.Name == m.name }); i >= 0 {
		pkg = m.files[i].Parsed.Package()
		m.files = slices.Insert(slices.Delete(slices.Clone(m.files), i, i+1), 0, m.files[i])
	}
	m.files = slices.DeleteFunc(m.files, func(s source.File) bool { return s.Parsed.Package() != pkg })
}

// recordMain is the hint for a project whose manager is in an unknown place.
const recordMain = "record the file that creates the manager in " + project.File + ", as in plugins: {" + project.PlacesKey + ": {main: cmd/manager/main.go}}, or run operon adopt, which finds it"

// missing returns an error about a missing main package, with the lines that purpose needs.
func missing(c *project.Config, purpose, lines string, p *scaffold.Plan) error {
	name := c.MainFile()
	hint := recordMain
	if p.HasBase(name) {
		hint = "repeat the command with --restore " + name + "; or " + hint
	}
	if lines != "" {
		hint += "; or " + source.UnwiredHint + lines
	}
	return fault.Failed(hint, "%s is missing: cannot %s", name, purpose)
}

// wire adds w unless a file of the package has it.
//
// If main.go is planned again, its planned content gets w even then, provided that the
// base has it: otherwise the merge would remove w from the user's file. Code that
// another tool or the user wrote must not be added a second time.
func (m managerPackage) wire(w wiring, p *scaffold.Plan) error {
	if w.file != "" {
		return source.Edit(p, w.file, w.add[0])
	}
	replay := p.Seeded(m.name)
	if slices.ContainsFunc(m.files, func(s source.File) bool { return w.done(s.Parsed) }) {
		if !replay || m.base == nil || !w.done(m.base) {
			return nil
		}
	}
	name, add := m.name, w.add[len(w.add)-1]
	if !replay {
		name, add = m.place(w)
	}
	users := !replay // the user's file is edited first, and then its base
	return source.Edit(p, name, func(f *goedit.File) error {
		if users {
			f.Avoid(m.declaredOutside(name))
		}
		users = false // the base must not depend on files of the user
		if w.done(f) {
			return nil
		}
		return add(f)
	})
}

// place returns the file that fits w best, and the function that adds w. The default is
// main.go.
func (m managerPackage) place(w wiring) (name string, add func(*goedit.File) error) {
	for _, add := range w.add {
		for _, s := range m.files {
			if f, err := goedit.Parse(s.Name, s.Src); err == nil && add(f) == nil {
				return s.Name, add
			}
		}
	}
	return m.name, w.add[len(w.add)-1]
}

// declaredOutside returns the names that the package declares in other files.
func (m managerPackage) declaredOutside(name string) map[string]bool {
	names := map[string]bool{}
	for _, s := range m.files {
		if s.Name != name {
			for declared := range maps.Keys(s.Parsed.Declares()) {
				names[declared] = true
			}
		}
	}
	return names
}

// builderAnchors returns the places where controllers are set up: at the marker, or
// before the manager starts.
func builderAnchors(f *goedit.File) []goedit.Anchor {
	fn, manager := f.Assigned(source.MakeManager...)
	if fn == "" {
		// In a method or a function literal, or else what a message can name.
		return []goedit.Anchor{
			goedit.Marker("builder"),
			goedit.BeforeMethod("AddHealthzCheck", source.MakeManager...), goedit.BeforeMethod("Start", source.MakeManager...),
			goedit.BeforeCall("main", "mgr.AddHealthzCheck"), goedit.BeforeCall("main", "mgr.Start"),
		}
	}
	return []goedit.Anchor{
		goedit.Marker("builder"), goedit.BeforeCall(fn, manager+".AddHealthzCheck"), goedit.BeforeCall(fn, manager+".Start"),
	}
}
