package golang

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/golang/internal/suites"
)

// part is a part of a kind, such as its types or a controller. Go allows each of its
// declarations only once in a package.
type part struct {
	name       string // the type or function that identifies the part
	controller string // the name of the controller; empty for other parts
	recorded   bool   // PROJECT recorded the part before this command
	hint       string // what to do if another file declares one of its names

	suite  suites.Suite // that the specs of the part join
	edited bool         // a controller gets more features: its files are edited, not seeded
}

// renameHint is the hint for a part whose declarations exist in another file.
const renameHint = "rename the existing declaration"

// typesPart returns the part with the types of r. before is r as PROJECT recorded it before this command.
func typesPart(r, before project.Resource) part {
	return part{name: r.Kind, recorded: before.API != nil, hint: "choose another kind, or " + renameHint}
}

// controllerPart returns the part with a controller of r.
func controllerPart(r, before project.Resource, controller string) part {
	entry := "set controller: true for the kind"
	if controller != r.Lower() {
		entry = "add name: " + controller + " below controllers of the kind"
	}
	return part{name: r.Reconciler(controller), controller: controller, recorded: slices.Contains(before.ControllerNames(), controller),
		hint: renameHint + "; or keep it as the controller: add --controller=false, and " + entry + " in " + project.File}
}

// seed is a sink for the files of a part. If PROJECT has recorded the part before, its
// declarations stay in the files to which the user or another tool moved them.
// Otherwise a duplicate declaration is an error.
func (part part) seed(p *scaffold.Plan) render.Sink {
	return part.suite.Sink(part.seedFile(p))
}

func (part part) seedFile(p *scaffold.Plan) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		disk, base, err := p.Before(name)
		if err != nil {
			return err
		}
		if part.edited && part.recorded && disk != nil && !p.Forced() {
			return nil
		}
		if part.recorded && disk != nil && base == nil && !p.Forced() && part.isIn(name, disk) {
			return nil // another tool wrote it
		}
		if disk != nil && !p.Forced() {
			return p.Seed(name, mode, content)
		}
		duplicates, err := findDuplicates(name, content, p)
		switch {
		case err != nil:
			return err
		case len(duplicates) == 0:
			return p.Seed(name, mode, content)
		case part.recorded && disk == nil &&
			(source.IsTest(name) || slices.ContainsFunc(duplicates, func(d declaration) bool { return d.name == part.name })):
			return nil // the user moved it
		}
		return duplicates[0].conflict(name, part.hint)
	}
}

// share is a sink for a file that all kinds of a package share. If the user moved its
// declarations, share uses the file that declares them and mentions key. It stores the
// name of the file in used.
func share(p *scaffold.Plan, key string, used *string) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		*used = name
		disk, _, err := p.Before(name)
		if err != nil || disk != nil {
			return err
		}
		duplicates, err := findDuplicates(name, content, p)
		if err != nil {
			return err
		}
		for _, d := range duplicates {
			if d.in.Mentions(key) {
				*used = d.file
				return nil
			}
		}
		if len(duplicates) > 0 {
			return duplicates[0].conflict(name, renameHint)
		}
		return p.Share(name, mode, content)
	}
}

// isIn reports whether a file belongs to the part: it declares the part's type, or it is
// a test that mentions the type.
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

// conflict returns the error for a new file that would declare the same name.
func (d declaration) conflict(name, hint string) error {
	return fault.Usage(hint, "%s:%d declares %s, which %s would also declare", d.file, d.line, d.name, name)
}

// findDuplicates returns the declarations in other files of the package whose names the
// content of the file name also declares.
func findDuplicates(name string, content []byte, p *scaffold.Plan) ([]declaration, error) {
	own, err := goedit.Parse(name, content)
	if err != nil {
		return nil, err
	}
	names := own.Declares()
	others, err := source.Containing(path.Dir(name), slices.Collect(maps.Keys(names)), p)
	if err != nil {
		return nil, err
	}
	var duplicates []declaration
	for _, other := range others {
		if other.Name == name || other.Parsed.Package() != own.Package() {
			continue
		}
		start := len(duplicates)
		for declared, line := range other.Parsed.Declares() {
			if names[declared] > 0 {
				duplicates = append(duplicates, declaration{declared, other.Name, line, other.Parsed})
			}
		}
		slices.SortFunc(duplicates[start:], func(a, b declaration) int { return strings.Compare(a.name, b.name) })
	}
	return duplicates, nil
}
