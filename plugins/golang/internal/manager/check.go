package manager

import (
	"fmt"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Rules of the warnings that Check gives.
const (
	ruleKindGone          = "kind-gone"          // PROJECT has a kind without types
	ruleControllerGone    = "controller-gone"    // PROJECT has a controller that the code lacks
	ruleSchemeUnwired     = "scheme-unwired"     // a client of the manager cannot read the kind
	ruleControllerUnwired = "controller-unwired" // a controller that the manager does not start
	ruleWebhookGone       = "webhook-gone"       // PROJECT has a webhook that the code lacks
	ruleWebhookUnwired    = "webhook-unwired"    // a webhook that the manager does not serve
	ruleSuiteUnwired      = "suite-unwired"      // a suite lacks types or webhooks that its specs use
	ruleManagerUnknown    = "manager-unknown"    // the manager is made in a file that PROJECT does not have
)

// checker compares PROJECT with the planned code. It reads only syntax, and accepts code in
// any form and in any package of the project.
type checker struct {
	c       *project.Config
	p       *scaffold.Plan
	files   *source.Reader
	manager source.Program
	main    managerPackage   // the files to which wiring can be added
	suites  map[string]suite // by folder
	noted   *bool            // whether there is a warning that the manager is unknown
	types   *map[string]bool // all types that the module declares; nil: not read yet
}

// Check warns about kinds in PROJECT that the code no longer has, and about kinds that
// the manager or a suite does not use, with the missing lines. A correctly wired project
// causes no warnings.
func Check(c *project.Config, p *scaffold.Plan) error {
	if c.Repo == "" {
		return nil
	}
	files := source.NewReader(p)
	manager, err := files.Program(c.Repo, path.Dir(c.MainFile()))
	if err != nil {
		return err
	}
	k := checker{c, p, files, manager, packageIn(c, manager), map[string]suite{}, new(bool), new(map[string]bool)}
	lines := k.resourceLines()
	for i, r := range c.Resources {
		if err := k.check(r, lines[i]); err != nil {
			return err
		}
	}
	return k.checkMarkers()
}

// check checks the resource at the given line of PROJECT.
func (k checker) check(r project.Resource, line int) error {
	if r.API != nil && !r.HasExternalTypes() {
		declared, err := k.files.Declares(k.c.APIDir(r), r.Kind)
		if err != nil {
			return err
		}
		if !declared {
			k.p.Warn(scaffold.Warning{File: project.File, Line: line, Rule: ruleKindGone, Message: fmt.Sprintf(
				"the types of this resource are missing: no file in %s declares the type %s; restore the type, or remove the resource from PROJECT; if you renamed the type, change the kind there",
				k.c.APIDir(r), r.Kind)})
			return nil
		}
	}
	if registers(r) {
		if err := k.checkScheme(r); err != nil {
			return err
		}
	}
	if err := k.checkControllers(r, line); err != nil {
		return err
	}
	if err := k.checkWebhooks(r, line); err != nil {
		return err
	}
	for _, dir := range []string{k.c.ControllerDir(r), k.c.WebhookDir(r)} {
		s, err := k.suite(dir)
		if err != nil {
			return err
		}
		if registers(r) {
			k.checkSuiteScheme(r, s)
		}
		if r.Webhooks != nil && dir == k.c.WebhookDir(r) {
			k.checkSuiteWebhooks(r, s)
		}
	}
	return nil
}

// checkScheme warns about types that are missing from the manager's scheme. Types that operon did not
// write and that the manager does not import, such as the types of an old version, need no registration.
func (k checker) checkScheme(r project.Resource) error {
	imports := func(f *goedit.File) bool { return slices.Contains(f.Imports(), k.c.APIPath(r)) }
	if k.registered(k.manager, r) || !k.p.HasBase(k.c.TypesFile(r)) && !r.HasExternalTypes() && !k.manager.Any(imports) {
		return nil
	}
	if itself, err := groupversion.RegistersItself(k.c, r, k.p); err != nil || itself {
		return err
	}
	if !k.p.HasBase(k.c.TypesFile(r)) {
		// Another program of the repository may have the controller.
		registers := func(f *goedit.File) bool { return k.registers(f, r) }
		if elsewhere, err := k.files.AnyInModule(k.c.APIPath(r), registers); err != nil || elsewhere {
			return err
		}
	}
	registrar, err := groupversion.Registrar(k.c, r, k.p)
	if err != nil {
		return err
	}
	k.unwired(registration(k.c, r, k.main, registrar), scaffold.Warning{Rule: ruleSchemeUnwired,
		Message: fmt.Sprintf("the types of %s %s are not registered with the manager's scheme; add these lines, or repeat operon create api for it", r.Version, r.Kind)})
	return nil
}

// registered reports whether a program adds the types of r to a scheme.
func (k checker) registered(all source.Program, r project.Resource) bool {
	return all.Any(func(f *goedit.File) bool { return k.registers(f, r) })
}

// registers reports whether a file adds the types of r to a scheme.
func (k checker) registers(f *goedit.File, r project.Resource) bool {
	types := k.c.APIPath(r)
	return f.Uses(types, "AddToScheme") || f.Uses(types, "SchemeBuilder") || f.Uses(types, "Install")
}

// packageIn returns the package in which the manager is made, of a program.
func packageIn(c *project.Config, all source.Program) managerPackage {
	m := managerPackage{name: c.MainFile(), recorded: c.Places().Main != "", files: all.In(path.Dir(c.MainFile()))}
	m.sort()
	return m
}

// unwired warns that w is missing, with the lines that operon would add, or the usual lines if
// it finds no place. It does not warn if the main package is in an unknown place.
func (k checker) unwired(w wiring, warning scaffold.Warning) {
	m := k.main
	if len(m.files) == 0 {
		return
	}
	if !k.knowsManager() {
		if !*k.noted {
			*k.noted = true
			k.p.Warn(scaffold.Warning{File: m.name, Rule: ruleManagerUnknown, Message: "this program makes no manager, so that operon cannot check what the manager uses: " + recordMain})
		}
		return
	}
	name, add := m.place(w)
	warning.File, warning.Lines = name, w.usual
	for _, s := range m.files {
		if s.Name != name {
			continue
		}
		if lines := source.MissingLines(s, m.declaredOutside(name), add); lines != "" {
			warning.Lines = lines
		}
	}
	k.p.Warn(warning)
}

// knowsManager reports whether the manager's code is known: its program creates a manager.
func (k checker) knowsManager() bool { return makesManager(k.manager) }

// makesManager reports whether a program creates a manager.
func makesManager(all source.Program) bool {
	return all.Any(func(f *goedit.File) bool {
		return slices.ContainsFunc(source.MakeManager, func(s goedit.Symbol) bool { return f.Uses(s.Path, s.Name) })
	})
}

// declares reports whether a file of the module, in any folder, declares a type.
func (k checker) declares(name string) (bool, error) {
	if *k.types == nil {
		names, err := source.ModuleFiles(k.p)
		if err != nil {
			return false, err
		}
		*k.types = map[string]bool{}
		for _, name := range names {
			src, err := k.p.Read(name)
			if err != nil {
				return false, err
			}
			for _, m := range typeDeclaration().FindAllSubmatch(src, -1) {
				(*k.types)[string(m[1])] = true
			}
		}
	}
	return (*k.types)[name], nil
}

// typeDeclaration matches declarations of struct types.
var typeDeclaration = lazyregexp.New(`(?m)^(?:type|\t)[ \t]*(\w+) struct`)

// resourceLines returns the line of each resource in PROJECT, or 0 for a new resource.
func (k checker) resourceLines() []int {
	lines := make([]int, len(k.c.Resources))
	if src, err := k.p.Read(project.File); err == nil {
		copy(lines, project.ResourceLines(src))
	}
	return lines
}
