package golang

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

const storageMarker = "+kubebuilder:storageversion"

// planTypes plans the types of r, and the group-version file that all kinds of
// the package share.
func planTypes(c *project.Config, r project.Resource, types part, p *scaffold.Plan, vars map[string]string, data apiValues) error {
	form, err := planGroup(c, r, p, vars, data)
	if err != nil {
		return err
	}
	if err := checkForm(c, r, form, data.Unwired, p); err != nil {
		return err
	}
	data.Form, data.TypesPackage = form, form.Package
	data.FieldTypes = form.MarkTypes(data.FieldTypes)
	data.addImports(form.Functions())
	disk, base, err := p.Before(c.TypesFile(r))
	if err != nil {
		return err
	}
	sink, err := typesSink(c, r, types, form, data.added, p)
	if err != nil {
		return err
	}
	if err := tree(p, "types", vars, data, addingFields(c, r, data.added, form, p, sink)); err != nil {
		return err
	}
	// The template does not have the marker, which is added with a later version.
	if name := c.TypesFile(r); p.Seeded(name) && bytes.Contains(append(disk, base...), []byte(storageMarker)) {
		if err := markStorage(name, r.Kind, p); err != nil {
			return err
		}
	}
	if err := listKind(r, form, data.Unwired, p); err != nil {
		return err
	}
	warnUnconverted(c, r, p)
	return keepStorageVersion(c, r, p)
}

// keepStorageVersion ensures that exactly one version of a kind is the storage version:
// a CRD with several versions needs the marker on one of them. It marks the first
// version, in which objects are stored already.
func keepStorageVersion(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	var first *project.Resource
	for i, other := range c.Resources {
		if !other.SameKind(r) || other.API == nil {
			continue
		}
		src, err := p.Read(c.TypesFile(other))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if strings.Contains(string(src), storageMarker) {
			return nil
		}
		if first == nil {
			first = &c.Resources[i]
		}
	}
	if first == nil || first.Version == r.Version {
		return nil
	}
	name := c.TypesFile(*first)
	err := markStorage(name, r.Kind, p)
	if errors.Is(err, fs.ErrNotExist) {
		// The user moved the types, and may have marked them there.
		p.Warn(scaffold.Warning{File: name, Rule: "storage-version",
			Message: "the file is missing: make sure that exactly one version of the type " + r.Kind + " has the comment // " + storageMarker})
		return nil
	}
	return fault.In("edit "+name, err)
}

// markStorage marks the type kind in the file name as the storage version.
func markStorage(name, kind string, p *scaffold.Plan) error {
	return p.Edit(name, func(src []byte) ([]byte, error) {
		f, err := goedit.Parse(name, src)
		if err != nil {
			return nil, err
		}
		if err := f.MarkType(kind, storageMarker); err != nil {
			return nil, err
		}
		return f.Bytes()
	})
}
