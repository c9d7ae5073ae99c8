package manager

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/golang/internal/specs"
	"github.com/operon-dev/operon/plugins/golang/internal/suites"
)

// suite is the test suite of a folder. It is empty if the folder has none.
type suite struct {
	files source.Program // the suite's file first, then all other code that can register types
	specs source.Program // tests that depend on the types that the suite registers
}

// suite reads the suite of a folder, once.
func (k checker) suite(dir string) (suite, error) {
	if s, ok := k.suites[dir]; ok {
		return s, nil
	}
	all, err := k.files.TestProgram(k.c.Repo, dir)
	if err != nil {
		return suite{}, err
	}
	k.suites[dir] = suiteOf(all)
	return k.suites[dir], nil
}

// suiteOf divides the files of a test binary. Tests that refer to client-go's scheme,
// which suites use, can register types themselves.
func suiteOf(all source.Program) suite {
	at := slices.IndexFunc(all, func(s source.File) bool { return source.IsTest(s.Name) && s.Parsed.Mentions("BeforeSuite") })
	if at < 0 {
		return suite{}
	}
	found := suite{files: source.Program{all[at]}}
	for i, s := range all {
		switch {
		case i == at:
		case source.IsTest(s.Name) && !s.Parsed.Uses(source.ClientScheme, "Scheme"):
			found.specs = append(found.specs, s)
		default:
			found.files = append(found.files, s)
		}
	}
	return found
}

// checkSuiteScheme warns about types that specs use but that are not registered with
// the scheme of their suite.
func (k checker) checkSuiteScheme(r project.Resource, s suite) {
	if k.lacksScheme(r, s) {
		registrar, _ := groupversion.Registrar(k.c, r, k.p) // or the usual lines
		lines := source.MissingLines(s.files[0], nil, suites.RegisterEdit(k.c, r, cmp.Or(registrar, "AddToScheme")))
		k.p.Warn(scaffold.Warning{File: s.files[0].Name, Rule: ruleSuiteUnwired, Lines: lines,
			Message: fmt.Sprintf("the types of %s %s are not registered with the scheme of this suite; add these lines, or repeat its create command", r.Version, r.Kind)})
	}
}

// lacksScheme reports whether specs use the types of r, but their suite does not register them. Tests
// without Ginkgo do not use the suite.
func (k checker) lacksScheme(r project.Resource, s suite) bool {
	types := k.c.APIPath(r)
	uses := func(f *goedit.File) bool {
		return slices.Contains(f.Imports(), types) && slices.Contains(f.Imports(), specs.Ginkgo)
	}
	if !s.specs.Any(uses) || k.registered(s.files, r) {
		return false
	}
	registrar, err := groupversion.Registrar(k.c, r, k.p) // it parses a package
	return err == nil && registrar != ""                  // otherwise, it registers itself
}

// RegisterInSuites registers the types that specs use with the schemes of their suites, after
// suites were divided or merged.
func RegisterInSuites(c *project.Config, p *scaffold.Plan) error {
	k := checker{c: c, p: p, files: source.NewReader(p), suites: map[string]suite{}}
	for _, r := range c.Resources {
		if !registers(r) {
			continue
		}
		for _, dir := range []string{c.ControllerDir(r), c.WebhookDir(r)} {
			s, err := k.suite(dir)
			if err != nil {
				return err
			}
			if k.lacksScheme(r, s) {
				registrar, err := groupversion.Registrar(c, r, p)
				if err != nil {
					return err
				}
				_ = source.Edit(p, s.files[0].Name, suites.RegisterEdit(c, r, registrar)) // without a place for it, generate prints the lines
			}
		}
	}
	return nil
}

// registers reports whether a scheme needs the types of r in addition to client-go's.
func registers(r project.Resource) bool {
	return (r.API != nil || r.HasExternalTypes()) && !r.InClientScheme()
}

// checkSuiteWebhooks warns about webhooks that specs test but that their suite does not
// serve.
func (k checker) checkSuiteWebhooks(r project.Resource, s suite) {
	tests := func(f *goedit.File) bool {
		return slices.ContainsFunc(source.AdmissionTypes(r), f.Mentions)
	}
	serves := func(f *goedit.File) bool { return f.Declares()[r.WebhookSetup()] == 0 && f.Mentions(r.WebhookSetup()) }
	if s.specs.Any(tests) && !s.files.Any(serves) {
		k.p.Warn(scaffold.Warning{File: s.files[0].Name, Rule: ruleSuiteUnwired, Lines: source.MissingLines(s.files[0], nil, suites.ServeEdit(r)),
			Message: fmt.Sprintf("this suite does not serve the webhooks of %s %s; add these lines, or repeat operon create webhook for it", r.Version, r.Kind)})
	}
}
