package golang

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/internal/fields"
	"go.yaml.in/yaml/v3"
)

// previousVersion returns the last version of r's kind before r in PROJECT. ok is false
// if r is the first version.
func previousVersion(c *project.Config, r project.Resource) (previous project.Resource, ok bool) {
	for _, other := range c.Resources {
		switch {
		case other.SameVersion(r):
			return previous, ok
		case other.SameKind(r) && other.API != nil:
			previous, ok = other, true
		}
	}
	return previous, ok
}

// typesSink returns a sink for the types of r. A later version of a kind starts with the
// user's fields of the previous version instead of the example, and the added ones. These
// fields change, so an existing file is not planned again.
func typesSink(
	c *project.Config, r project.Resource, types part, form groupversion.Form, added *fields.Kind, p *scaffold.Plan,
) (render.Sink, error) {
	seed := types.seed(p)
	previous, ok := previousVersion(c, r)
	if !ok {
		return seed, nil
	}
	disk, base, err := p.Before(c.TypesFile(r))
	if err != nil {
		return nil, err
	}
	if disk != nil && base != nil && !p.Forced() {
		return func(string, fs.FileMode, []byte) error { return nil }, nil
	}
	content, ok, err := copyTypes(c, previous, r, form, p)
	if err != nil {
		return nil, err
	}
	if !ok {
		return keepNames(c, previous, r, seed, p)
	}
	if content, err = source.EditFunc(c.TypesFile(r), addFields(added, form))(content); err != nil {
		return nil, err
	}
	return func(name string, mode fs.FileMode, _ []byte) error {
		if err := seed(name, mode, content); err != nil {
			return err
		}
		if err := copySample(c, previous, r, p); err != nil || added.IsEmpty() || !p.Seeded(c.SamplePath(r)) {
			return err
		}
		return p.Edit(c.SamplePath(r), added.AddToSample)
	}, nil
}

// crdMarkers matches markers of a type whose values controller-gen takes for all versions of the CRD, and columns.
var crdMarkers = lazyregexp.New(`(?m)^[ \t]*//[ \t]*\+kubebuilder:(resource|printcolumn|metadata):.*\n`)

// keepNames returns a sink for the types of a version that starts with the example, because the fields of the previous
// version cannot be copied. The names, the scope and the columns of the previous version stay: controller-gen takes the
// names of a CRD from its last version.
func keepNames(c *project.Config, previous, r project.Resource, seed render.Sink, p *scaffold.Plan) (render.Sink, error) {
	file, err := source.Declaring(c.APIDir(previous), previous.Kind, p)
	if err != nil {
		return nil, err
	}
	if file == "" {
		return seed, nil // another tool reports missing types
	}
	src, err := p.Read(file)
	if err != nil {
		return nil, err
	}
	above, _ := markersOf(previous.Kind, string(src))
	p.Warn(scaffold.Warning{File: c.TypesFile(r), Rule: "types-not-copied", Message: "the fields of version " + previous.Version +
		" were not copied, because they use declarations of other files; this version starts with an example field"})
	markers := bytes.Join(crdMarkers().FindAll([]byte(above), -1), nil)
	return func(name string, mode fs.FileMode, content []byte) error {
		if at := crdMarkers().FindIndex(content); at != nil && len(markers) > 0 {
			content = slices.Concat(content[:at[0]], markers, crdMarkers().ReplaceAll(content[at[0]:], nil))
		}
		return seed(name, mode, content)
	}, nil
}

// copySample copies the user's sample of another version into the sample of r, if this
// plan creates it. The fields of r are a copy too, and an empty sample would lack the
// required ones. The copy keeps the API version, the name and the labels of the new
// sample, because controllers may select the labels.
func copySample(c *project.Config, from, r project.Resource, p *scaffold.Plan) error {
	name := c.SamplePath(r)
	if !p.Seeded(name) {
		return nil
	}
	src, err := p.Read(c.SamplePath(from))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return p.Edit(name, func(example []byte) ([]byte, error) {
		var have, own sample
		if yaml.Unmarshal(src, &have) != nil || yaml.Unmarshal(example, &own) != nil || have.Kind != own.Kind {
			return example, nil // other tests report errors in samples
		}
		next, err := yamledit.Reconcile(src, have.identity(), own.identity(), nil)
		for _, key := range slices.Sorted(maps.Keys(own.Metadata.Labels)) {
			if err == nil {
				next, err = yamledit.Set(next, []string{"metadata", "labels"}, key, own.Metadata.Labels[key])
			}
		}
		if err != nil {
			return example, nil //nolint:nilerr // such as a file with several objects: the example stays
		}
		return next, nil
	})
}

// sample contains the fields that differ between the samples of two versions.
type sample struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct {
		Name   string
		Labels map[string]string
	}
}

func (s sample) identity() map[string]any {
	return map[string]any{"apiVersion": s.APIVersion, "metadata": map[string]any{"name": s.Metadata.Name}}
}

// versionMarkers matches the markers that apply to a single version.
var versionMarkers = lazyregexp.New(`(?m)^[ \t]*//[ \t]*\+kubebuilder:(storageversion|unservedversion|skipversion|deprecatedversion.*|ac:generate=.*)[ \t]*\r?\n`)

// copyTypes returns the types of r as a copy of the types of another version. ok is false if
// the copy would not compile: the types need declarations of other files in their
// package, or the package of r has declarations of the same name.
func copyTypes(c *project.Config, from, r project.Resource, form groupversion.Form, p *scaffold.Plan) (content []byte, ok bool, err error) {
	name := c.TypesFile(from)
	src, err := p.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || !isCopyable(file, src, c.APIPath(r)) {
		return nil, false, nil //nolint:nilerr // the generators report syntax errors
	}
	theirs, err := declaredNames(c.APIDir(from), name, p)
	if err != nil {
		return nil, false, err
	}
	ours, err := declaredNames(c.APIDir(r), c.TypesFile(r), p)
	if err != nil {
		return nil, false, err
	}
	complete := true
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && theirs[id.Name] && !ours[id.Name] {
			complete = false
		}
		return complete
	})
	other, _, err := groupversion.Read(c, from, p)
	if !complete || !form.Same(other) || err != nil {
		return nil, false, err
	}
	at := fset.Position(file.Name.Pos()).Offset
	content = slices.Concat(src[:at], []byte(form.Package), src[at+len(file.Name.Name):])
	content = versionMarkers().ReplaceAll(content, nil)
	duplicates, err := findDuplicates(c.TypesFile(r), content, p)
	return content, len(duplicates) == 0, err
}

// isCopyable reports whether a types file has only one kind and its fields: no other
// kind, no conversion, and no import of the package target.
func isCopyable(file *ast.File, src []byte, target string) bool {
	if bytes.Count(src, []byte("+kubebuilder:object:root=true")) != 2 ||
		bytes.Contains(src, []byte("+groupName=")) || bytes.Contains(src, []byte("+versionName=")) {
		return false
	}
	for _, spec := range file.Imports {
		if spec.Path.Value == `"`+target+`"` {
			return false
		}
	}
	return !slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv != nil && slices.Contains([]string{"Hub", "ConvertTo", "ConvertFrom"}, f.Name.Name)
	})
}

// declaredNames returns the names that the Go files of a folder declare, except in tests and
// in the file except.
func declaredNames(dir, except string, p *scaffold.Plan) (map[string]bool, error) {
	files, err := source.Files(dir, p)
	names := map[string]bool{}
	for _, s := range files {
		if s.Name == except {
			continue
		}
		for declared := range s.Parsed.Declares() {
			names[declared] = true
		}
	}
	return names, err
}
