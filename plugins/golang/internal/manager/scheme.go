package manager

import (
	"fmt"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// registration registers the types of r with the manager's scheme, preferably after
// other registrations.
func registration(c *project.Config, r project.Resource, m managerPackage) wiring {
	types := c.APIPath(r)
	add := func(f *goedit.File, anchors ...goedit.Anchor) error {
		scheme, err := m.scheme(f, anchors)
		if err != nil {
			return err
		}
		must, api := f.ImportAt("utilruntime", "k8s.io/apimachinery/pkg/util/runtime", anchors...), f.ImportAt(r.ImportAlias(), types, anchors...)
		return f.Insert(fmt.Sprintf("%s.Must(%s.AddToScheme(%s))", must, api, scheme), anchors...)
	}
	return wiring{
		marker: "scheme",
		usual:  fmt.Sprintf("import %s %q\nutilruntime.Must(%s.AddToScheme(scheme)) // in func init", r.ImportAlias(), types, r.ImportAlias()),
		done:   func(f *goedit.File) bool { return f.Uses(types, "AddToScheme") },
		add: []func(*goedit.File) error{
			func(f *goedit.File) error { return add(f, schemeMarker) },
			func(f *goedit.File) error { return copyRegistration(c, r, f) },
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
func copyRegistration(c *project.Config, r project.Resource, f *goedit.File) error {
	var siblings []string
	for _, o := range c.Resources {
		if at := c.APIPath(o); o.API != nil && at != c.APIPath(r) && !slices.Contains(siblings, at) {
			siblings = append(siblings, at)
		}
	}
	ok, err := f.CopyUse("AddToScheme", siblings, r.ImportAlias(), c.APIPath(r))
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
	if itself, err := registersItself(c, r, source.NewReader(p)); err != nil || itself {
		return nil, err
	}
	types, here := c.APIPath(r), registration(c, r, m)
	for _, s := range m.files {
		f, err := goedit.Parse(s.Name, s.Src)
		if err != nil || here.done(f) || f.Has(schemeMarker) || f.Has(afterRegistrations) || copyRegistration(c, r, f) == nil {
			return []wiring{here}, nil //nolint:nilerr // Read parsed it
		}
	}
	program, err := source.NewReader(p).Program(c.Repo, path.Dir(m.name))
	if err != nil || program.Any(func(f *goedit.File) bool { return f.Uses(types, "AddToScheme") }) {
		return nil, err
	}
	for _, s := range program {
		f, err := goedit.Parse(s.Name, s.Src)
		if err == nil && copyRegistration(c, r, f) == nil {
			here.file, here.add = s.Name, []func(*goedit.File) error{func(f *goedit.File) error { return copyRegistration(c, r, f) }}
			break
		}
	}
	return []wiring{here}, nil
}

// registersItself reports whether the package of the types of r adds them to a scheme when it is loaded: its
// own one, which the manager then uses, or client-go's.
func registersItself(c *project.Config, r project.Resource, files *source.Reader) (bool, error) {
	if r.HasExternalTypes() {
		return false, nil
	}
	types, err := files.Files(c.APIDir(r))
	return source.Program(types).Any(func(f *goedit.File) bool { return f.CallsIn("init", "AddToScheme") }), err
}
