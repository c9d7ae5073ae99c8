package golang

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// part is the types or the controller of a kind: files whose declarations Go
// allows once in a package.
type part struct {
	name string // the type that the part is about
	of   string // the name of the controller; empty for types
	held bool   // PROJECT recorded the part before this command
	hint string // what to do when another file declares one of its names

	edited bool // a controller gets more features: its files are edited, not seeded
}

// parts tells what of r the project had before this command: the types, and
// each of the controllers by its name.
func parts(r project.Resource, p *scaffold.Plan) (types part, controller func(name string) part, err error) {
	types = part{name: r.Kind, hint: "choose another kind, or rename what is there"}
	var held []string
	controller = func(name string) part {
		entry := "set controller: true for the kind"
		if name != r.Lower() {
			entry = "add name: " + name + " below controllers of the kind"
		}
		return part{name: r.Reconciler(name), of: name, held: slices.Contains(held, name),
			hint: "rename what is there; or keep it as the controller: add --controller=false, and " + entry + " in " + project.File}
	}
	before, err := recorded(p)
	if before == nil || err != nil {
		return types, controller, err
	}
	for _, old := range before.Resources {
		if old.SameVersion(r) {
			types.held, held = old.API != nil, old.ControllerNames()
		}
	}
	return types, controller, nil
}

// recorded returns the PROJECT content before this command, or nil.
func recorded(p *scaffold.Plan) (*project.Config, error) {
	src, err := p.Read(project.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	before, err := project.Parse(src)
	return before, fault.In(project.File, err)
}

// seed is a sink for the files of a part. A part that the project held stays
// where the user or another tool has it; otherwise nothing is declared twice.
func (part part) seed(p *scaffold.Plan) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		disk, base, err := p.Before(name)
		if err != nil {
			return err
		}
		if part.edited && part.held && disk != nil && !p.Forced() {
			return nil
		}
		if part.held && disk != nil && base == nil && !p.Forced() && part.isIn(name, disk) {
			return nil // another tool wrote it
		}
		twice, err := declaredTwice(name, content, p)
		switch {
		case err != nil:
			return err
		case len(twice) == 0 || disk != nil && !p.Forced():
			return p.Seed(name, mode, content)
		case part.held && disk == nil && (source.IsTest(name) || slices.ContainsFunc(twice, func(d declaration) bool { return d.name == part.name })):
			return nil // the user moved it
		}
		return twice[0].refused(name, part.hint)
	}
}

// share is a sink for a file that the kinds of a package share. When the user has
// it under another name, recognised by its mentioning key, that file stands for
// it; at is set to the one that counts.
func share(p *scaffold.Plan, key string, at *string) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		*at = name
		disk, _, err := p.Before(name)
		if err != nil || disk != nil {
			return err
		}
		twice, err := declaredTwice(name, content, p)
		if err != nil {
			return err
		}
		for _, d := range twice {
			if d.in.Mentions(key) {
				*at = d.file
				return nil
			}
		}
		if len(twice) > 0 {
			return twice[0].refused(name, "rename what is there")
		}
		return p.Share(name, mode, content)
	}
}

// isIn reports whether a file is about the part: it declares its type, or, as a
// test, mentions it.
func (part part) isIn(name string, src []byte) bool {
	f, err := goedit.Parse(name, src)
	if err != nil {
		return false
	}
	return f.Declares()[part.name] > 0 || source.IsTest(name) && f.Mentions(part.name)
}

// declaration is a package-level name, with the file and line of its declaration.
type declaration struct {
	name, file string
	line       int
	in         *goedit.File
}

// refused returns the error for a file of operon that would declare the same name.
func (d declaration) refused(name, hint string) error {
	return fault.Usage(hint, "%s:%d declares %s, which %s would declare", d.file, d.line, d.name, name)
}

// declaredTwice returns those declarations of the other files in the package of
// the file at name that its content declares too, by place.
func declaredTwice(name string, content []byte, p *scaffold.Plan) ([]declaration, error) {
	own, err := goedit.Parse(name, content)
	if err != nil {
		return nil, err
	}
	names := own.Declares()
	others, err := source.Files(path.Dir(name), true, p)
	if err != nil {
		return nil, err
	}
	var twice []declaration
	for _, other := range others {
		if other.Name == name || other.Parsed.Package() != own.Package() {
			continue
		}
		here := len(twice)
		for declared, line := range other.Parsed.Declares() {
			if names[declared] > 0 {
				twice = append(twice, declaration{declared, other.Name, line, other.Parsed})
			}
		}
		slices.SortFunc(twice[here:], func(a, b declaration) int { return strings.Compare(a.name, b.name) })
	}
	return twice, nil
}
