package manager

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// registration registers the types of r with the manager's scheme, preferably after
// other registrations. registrar is what the package of the types has for that.
func registration(c *project.Config, r project.Resource, m managerPackage, registrar string) wiring {
	types := c.APIPath(r)
	first, _, _ := strings.Cut(registrar, ".")
	add := func(f *goedit.File, anchors ...goedit.Anchor) error {
		scheme, err := m.scheme(f, anchors)
		if err != nil {
			return err
		}
		must, api := f.ImportAt("utilruntime", "k8s.io/apimachinery/pkg/util/runtime", anchors...), f.ImportAt(r.ImportAlias(), types, anchors...)
		return f.Insert(fmt.Sprintf("%s.Must(%s.%s(%s))", must, api, registrar, scheme), anchors...)
	}
	return wiring{
		marker: "scheme",
		usual:  fmt.Sprintf("import %s %q\nutilruntime.Must(%s.%s(scheme)) // in func init", r.ImportAlias(), types, r.ImportAlias(), registrar),
		done:   func(f *goedit.File) bool { return f.Uses(types, "AddToScheme") || f.Uses(types, first) },
		add: []func(*goedit.File) error{
			func(f *goedit.File) error { return add(f, schemeMarker) },
			func(f *goedit.File) error { return copyRegistration(c, r, registrar, f) },
			func(f *goedit.File) error { return add(f, schemeMarker, afterRegistrations) },
			func(f *goedit.File) error { return add(f, schemeMarker, afterRegistrations, goedit.EndOfFunc("init")) },
		},
	}
}

// The places of registrations in the manager's package.
var (
	schemeMarker       = goedit.Marker("scheme")
	afterRegistrations = goedit.AfterCall("init", "AddToScheme")
)

// errNoRegistration means that a file registers no types of the project in a form that can be copied.
var errNoRegistration = fmt.Errorf("the file registers no types of the project")

// copyRegistration registers the types of r in the way in which f registers other types of the project.
func copyRegistration(c *project.Config, r project.Resource, registrar string, f *goedit.File) error {
	var siblings []string
	for _, o := range c.Resources {
		if at := c.APIPath(o); o.API != nil && at != c.APIPath(r) && !slices.Contains(siblings, at) {
			siblings = append(siblings, at)
		}
	}
	ok, err := f.CopyUse(registrar, siblings, r.ImportAlias(), c.APIPath(r))
	if !ok && err == nil {
		err = errNoRegistration
	}
	return err
}

// registrations returns the wiring that registers the types of r with the manager's scheme, unless they are:
// in the manager's own package, or in another one of its program that makes the scheme.
func (m managerPackage) registrations(c *project.Config, r project.Resource, p *scaffold.Plan) ([]wiring, error) {
	if r.InClientScheme() {
		return nil, nil
	}
	if itself, err := groupversion.RegistersItself(c, r, p); err != nil || itself {
		return nil, err
	}
	registrar, err := groupversion.Registrar(c, r, p)
	if err != nil {
		return nil, err
	}
	here := registration(c, r, m, registrar)
	program, err := source.NewReader(p).Program(c.Repo, path.Dir(m.name))
	if err != nil {
		return nil, err
	}
	elsewhere := slices.DeleteFunc(slices.Clone(program), func(s source.File) bool { return path.Dir(s.Name) == path.Dir(m.name) })
	// The main.go that operon writes registers all types itself.
	if m.base == nil && !p.Seeded(m.name) && !r.HasExternalTypes() && elsewhere.Any(here.done) {
		return nil, nil
	}
	for _, s := range m.files {
		f, err := goedit.Parse(s.Name, s.Src)
		if err != nil || here.done(f) || f.Has(schemeMarker) || f.Has(afterRegistrations) || copyRegistration(c, r, registrar, f) == nil {
			return []wiring{here}, nil //nolint:nilerr // Read parsed it
		}
	}
	if program.Any(here.done) {
		return nil, nil
	}
	for _, s := range program {
		f, err := goedit.Parse(s.Name, s.Src)
		if err == nil && copyRegistration(c, r, registrar, f) == nil {
			here.file, here.add = s.Name, []func(*goedit.File) error{func(f *goedit.File) error { return copyRegistration(c, r, registrar, f) }}
			break
		}
	}
	return []wiring{here}, nil
}
