package golang

import (
	"bytes"
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/internal/fields"
)

// typeFields are the fields of the types that were described on the command line.
type typeFields struct {
	SpecFields, StatusFields string // Go code, or ""
	FieldTypes               string // declarations of the types of objects, or ""
	TypeImports              []string

	all   *fields.Kind
	added *fields.Kind // the fields that PROJECT did not record before this command
}

// fieldsOfTypes returns the recorded fields of r as Go code.
func fieldsOfTypes(c *project.Config, r project.Resource, p *scaffold.Plan) (typeFields, error) {
	var t typeFields
	var err error
	if t.all, err = fields.Recorded(c, r); err != nil {
		return t, err
	}
	before, err := source.RecordedProject(p)
	if err != nil {
		return t, err
	}
	known := before.Fields(r)
	added := slices.DeleteFunc(slices.Clone(c.Fields(r)), func(text string) bool { return slices.Contains(known, text) })
	if t.added, err = fields.ParseKind(r.Kind, added); err != nil {
		return t, err
	}
	t.SpecFields, t.StatusFields = t.all.Spec.Code(), t.all.Status.Code()
	t.FieldTypes = strings.Join(slices.DeleteFunc([]string{t.all.Spec.Types(), t.all.Status.Types()},
		func(decls string) bool { return decls == "" }), "\n\n")
	return t, nil
}

// addImports sets the imports of a file with the types. registers means that it registers them with a
// function.
func (t *typeFields) addImports(registers bool) {
	more := []string{fields.ImportMeta}
	if registers {
		more = append(more, fields.ImportRuntime)
	}
	t.TypeImports = fields.Imports(t.all.Objects(), more...)
}

func (t *typeFields) usesCore() bool {
	return slices.Contains(fields.Imports(t.all.Objects()), fields.ImportCore)
}

// addingFields returns a sink that adds fields to existing types that the user has edited, and else
// passes the file with the types to the sink next.
func addingFields(
	c *project.Config, r project.Resource, added *fields.Kind, form groupversion.Form, p *scaffold.Plan, next render.Sink,
) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		disk, base, err := p.Before(name)
		if err != nil {
			return err
		}
		_, later := previousVersion(c, r)
		file, err := source.Declaring(c.APIDir(r), added.Spec.Name, p)
		switch {
		case err != nil:
			return err
		case added.IsEmpty(), file == "", p.Forced(), !later && disk != nil && bytes.Equal(disk, base):
			return next(name, mode, content)
		}
		if err := source.Edit(p, file, addFields(added, form)); err != nil {
			return err
		}
		if later {
			return nil
		}
		return p.EditBase(name, func([]byte) ([]byte, error) { return content, nil })
	}
}

// addFields returns an edit that adds fields to the types of a kind.
func addFields(k *fields.Kind, form groupversion.Form) func(*goedit.File) error {
	return func(f *goedit.File) error {
		for _, o := range k.Objects() {
			if err := addMembers(f, o.Name, o, k.Name, form); err != nil {
				return err
			}
		}
		return nil
	}
}

// addMembers adds the fields of an object to a struct. New types go before the type of the kind.
func addMembers(f *goedit.File, structName string, o *fields.Object, kind string, form groupversion.Form) error {
	for _, m := range o.Members {
		have, exists := f.FieldType(structName, m.Name)
		if exists && m.Object != nil {
			if err := addMembers(f, strings.TrimLeft(have, "[]*"), m.Object, kind, form); err != nil {
				return err
			}
			continue
		}
		if exists && have != m.GoType() {
			return fault.Usage("edit the types instead", "%s has the field %s already, of the type %s", structName, m.Name, have)
		}
		if err := addMember(f, structName, m, kind, form); err != nil {
			return err
		}
	}
	return nil
}

// addMember adds a field to a struct, with the imports and the types that it needs.
func addMember(f *goedit.File, structName string, m fields.Member, kind string, form groupversion.Form) error {
	code, decls := m.Code(), ""
	if m.Object != nil {
		decls = form.MarkTypes(m.Object.Decl() + "\n\n" + m.Object.Types())
	}
	for _, line := range m.Imports() {
		alias, path, _ := strings.Cut(line, `"`)
		alias, path = strings.TrimSpace(alias), strings.TrimSuffix(path, `"`)
		ours := cmp.Or(alias, path[strings.LastIndexByte(path, '/')+1:]) + "."
		local := f.Import(alias, path) + "."
		code, decls = strings.ReplaceAll(code, ours, local), strings.ReplaceAll(decls, ours, local)
	}
	if err := f.AddField(structName, m.Name, code); err != nil {
		return err
	}
	if decls == "" || f.Declares()[m.Object.Name] > 0 {
		return nil
	}
	return f.InsertDecls(decls, kind)
}
