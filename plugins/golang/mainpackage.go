package golang

import (
	"errors"
	"fmt"
	"io/fs"
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

// The packages of controller-runtime that the manager's main package uses.
const (
	controllerRuntime = "sigs.k8s.io/controller-runtime"
	managers          = controllerRuntime + "/pkg/manager"
)

// These symbols identify the variables of the main package, whatever their names are: by
// the call that is assigned to them or by their type.
var (
	makeManager = []goedit.Symbol{{Path: controllerRuntime, Name: "NewManager"}, {Path: managers, Name: "New"}}
	managerType = []goedit.Symbol{{Path: controllerRuntime, Name: "Manager"}, {Path: managers, Name: "Manager"}}
	makeLogger  = []goedit.Symbol{{Path: controllerRuntime, Name: "Log.WithName"}, {Path: controllerRuntime + "/pkg/log", Name: "Log.WithName"}}
	makeScheme  = []goedit.Symbol{{Path: "k8s.io/apimachinery/pkg/runtime", Name: "NewScheme"}}
)

// mainPackage is the package in which the manager is made. The user may have moved parts of it
// from main.go to other files. In a repository that operon did not start, it can be any package.
type mainPackage struct {
	name     string        // of the file in which the manager is made
	files    []source.File // that file first
	base     *goedit.File  // its base, or nil
	recorded bool          // PROJECT has the name
}

// readMain reads the files on disk, even if main.go is planned again. It skips files of
// other packages and files that do not parse. But it returns an error if main.go does
// not parse and must be edited.
func readMain(c *project.Config, p *scaffold.Plan) (mainPackage, error) {
	m := mainPackage{name: c.MainFile(), recorded: c.Places().Main != ""}
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
func (m *mainPackage) sort() {
	pkg := "main"
	if i := slices.IndexFunc(m.files, func(s source.File) bool { return s.Name == m.name }); i >= 0 {
		pkg = m.files[i].Parsed.Package()
		m.files = slices.Insert(slices.Delete(slices.Clone(m.files), i, i+1), 0, m.files[i])
	}
	m.files = slices.DeleteFunc(m.files, func(s source.File) bool { return s.Parsed.Package() != pkg })
}

// checkMain returns an error with the missing lines if there is no main package that can be
// wired. It runs before anything is planned.
func checkMain(c *project.Config, r project.Resource, lines string, p *scaffold.Plan) error {
	_, err := p.Read(c.MainFile())
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if p.Seeded(c.MainFile()) { // a replay, and the user deleted the file
		return nil
	}
	if m, err := readMain(c, p); err != nil || len(m.files) > 0 {
		return err
	}
	return missingMain(c, fmt.Sprintf("register %s %s with the manager", r.Article(), r.Kind), lines, p)
}

// recordMain is the hint for a project whose manager is in an unknown place.
const recordMain = "record the file that makes the manager in " + project.File + ", as in plugins: {" + project.PlacesKey + ": {main: cmd/manager/main.go}}, or run operon adopt, which finds it"

// missingMain returns an error about a missing main package, with the lines that purpose needs.
func missingMain(c *project.Config, purpose, lines string, p *scaffold.Plan) error {
	name := c.MainFile()
	hint := recordMain
	if p.HasBase(name) {
		hint = "repeat the command with --restore " + name + "; or " + hint
	}
	if lines != "" {
		hint += "; or " + unwiredHint + lines
	}
	return fault.Failed(hint, "%s is missing: cannot %s", name, purpose)
}

// wire adds w unless a file of the package has it.
//
// If main.go is planned again, its planned content gets w even then, provided that the
// base has it: otherwise the merge would remove w from the user's file. Code that
// another tool or the user wrote must not be added a second time.
func (m mainPackage) wire(w wiring, p *scaffold.Plan) error {
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
func (m mainPackage) place(w wiring) (name string, add func(*goedit.File) error) {
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
func (m mainPackage) declaredOutside(name string) map[string]bool {
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
	fn, manager := f.Assigned(makeManager...)
	if fn == "" {
		// In a method or a function literal, or else what a message can name.
		return []goedit.Anchor{
			goedit.Marker("builder"), goedit.BeforeMethod("AddHealthzCheck", makeManager...), goedit.BeforeMethod("Start", makeManager...),
			goedit.BeforeCall("main", "mgr.AddHealthzCheck"), goedit.BeforeCall("main", "mgr.Start"),
		}
	}
	return []goedit.Anchor{goedit.Marker("builder"), goedit.BeforeCall(fn, manager+".AddHealthzCheck"), goedit.BeforeCall(fn, manager+".Start")}
}

// scheme returns the variable with the manager's scheme.
func (m mainPackage) scheme(f *goedit.File, anchors []goedit.Anchor) (string, error) {
	at := f.ScopeAt(anchors...)
	if at == nil {
		return "scheme", nil // Insert reports what is missing
	}
	if name := at.Argument("AddToScheme"); name != "" {
		return name, nil
	}
	return m.variable(at, "the scheme", "scheme", makeScheme, at.Assigned(makeScheme...))
}

// setupNames are the names that code for the setup of the manager uses at one place.
type setupNames struct {
	manager string
	logger  string // "" in a function that returns errors and has no logger
	os      string // package os; "" in a function that returns errors
	local   string // the package of the code
}

// fails returns the statements, on separate lines, with which the code handles the error err. They do
// what the surrounding function does with errors: they return it, or they end the program.
func (n setupNames) fails(message string, keysAndValues ...string) string {
	words := []string{"err", strconv.Quote(message)}
	for _, word := range keysAndValues {
		words = append(words, strconv.Quote(word))
	}
	log := n.logger + ".Error(" + strings.Join(words, ", ")
	switch {
	case n.os != "":
		return log + ")\n" + n.os + ".Exit(1)"
	case n.logger != "":
		return log + ")\nreturn err"
	}
	return "return err"
}

// setupNames finds the names at the first of the anchors that the file has, and imports what the
// code there needs.
func (m mainPackage) setupNames(f *goedit.File, anchors []goedit.Anchor) (setupNames, error) {
	at := f.ScopeAt(anchors...)
	if at == nil {
		return setupNames{manager: "mgr", logger: "setupLog", os: "os"}, nil // Insert reports what is missing
	}
	var n setupNames
	var err error
	if n.manager, err = m.variable(at, "the manager", "mgr", nil, at.Assigned(makeManager...), at.Param(managerType...)); err != nil {
		return n, err
	}
	n.logger, err = m.variable(at, "a logger", "setupLog", makeLogger, at.ErrorLogger(), at.Assigned(makeLogger...))
	if at.ReturnsError() {
		return n, nil
	}
	n.os = f.ImportAt("", "os", anchors...)
	return n, err
}

// variable returns the first name in found that is not empty. Otherwise, it returns a
// package-level variable of another file that is assigned one of the calls, or else the
// usual name if a variable has it. In the error, what describes the variable's value.
func (m mainPackage) variable(at *goedit.Scope, what, usual string, calls []goedit.Symbol, found ...string) (string, error) {
	for _, name := range found {
		if name != "" {
			return name, nil
		}
	}
	for _, s := range m.files {
		if name := s.Parsed.PackageVar(calls...); name != "" && !at.Knows(name) {
			return name, nil
		}
	}
	if at.Variable(usual) || !at.Knows(usual) && m.declares(usual) {
		return usual, nil
	}
	return "", fault.Failed("", "%s: found no variable that holds %s", m.name, what)
}

func (m mainPackage) declares(name string) bool {
	return slices.ContainsFunc(m.files, func(s source.File) bool { return s.Parsed.Declares()[name] > 0 })
}

// isReplay reports whether the command plans the whole project again, and not only new parts.
func isReplay(p *scaffold.Plan) bool { return p.Seeded(project.DefaultMainFile) }

// packageIn returns the name of the package in a folder, or otherwise if it has no Go files.
func packageIn(dir, otherwise string, p *scaffold.Plan) (string, error) {
	files, err := source.Files(dir, true, p)
	if err != nil {
		return "", err
	}
	for _, s := range files {
		name := s.Parsed.Package()
		if source.IsTest(s.Name) {
			name = strings.TrimSuffix(name, "_test")
		}
		if name != "main" {
			return name, nil
		}
	}
	return otherwise, nil
}
