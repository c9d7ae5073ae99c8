package golang

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"go.yaml.in/yaml/v3"
)

// versionBefore is the version of r's kind that the project got last before r,
// or nil when r is the first.
func versionBefore(c *project.Config, r project.Resource) *project.Resource {
	var last *project.Resource
	for i, other := range c.Resources {
		switch {
		case other.SameVersion(r):
			return last
		case other.SameKind(r) && other.API != nil:
			last = &c.Resources[i]
		}
	}
	return last
}

// typesSink is a sink for the types of r. A further version of a kind starts with
// the fields of the one before, as the user has them, and not with the example.
// As they are those of that day, a file that is there is not planned again.
func typesSink(c *project.Config, r project.Resource, types part, groupFile string, p *scaffold.Plan) (render.Sink, error) {
	seed, before := types.seed(p), versionBefore(c, r)
	if before == nil {
		return seed, nil
	}
	disk, base, err := p.Before(c.TypesFile(r))
	if err != nil {
		return nil, err
	}
	if disk != nil && base != nil && !p.Forced() {
		return func(string, fs.FileMode, []byte) error { return nil }, nil
	}
	content, err := typesLike(c, *before, r, groupFile, p)
	if content == nil || err != nil {
		return seed, err
	}
	return func(name string, mode fs.FileMode, _ []byte) error {
		if err := seed(name, mode, content); err != nil {
			return err
		}
		return sampleLike(c, *before, r, p)
	}, nil
}

// sampleLike gives the sample of r, where this plan starts it, what the user has
// in the one of another version, whose fields r's types have: an empty one lacks
// the fields that are required. Type and name stay its own, and its labels come
// along, for the controllers may look for them.
func sampleLike(c *project.Config, from, r project.Resource, p *scaffold.Plan) error {
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
			return example, nil // what is wrong with it, its own tests tell
		}
		next, err := yamledit.Reconcile(src, have.identity(), own.identity(), nil)
		for _, key := range slices.Sorted(maps.Keys(own.Metadata.Labels)) {
			if err == nil {
				next, err = yamledit.Set(next, []string{"metadata", "labels"}, key, own.Metadata.Labels[key])
			}
		}
		if err != nil {
			return example, nil //nolint:nilerr // several objects in the file, for example: that is the user's form
		}
		return next, nil
	})
}

// sample is what tells the samples of two versions apart.
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

// oneVersions matches the markers that apply to a single version.
var oneVersions = regexp.MustCompile(`(?m)^[ \t]*//[ \t]*\+kubebuilder:(storageversion|unservedversion|skipversion|deprecatedversion.*)[ \t]*\r?\n`)

// typesLike makes the types of r from those of another version. It returns nil
// where they do not stand for themselves: where they need what other files of
// their package declare, or bring what the package of r or another version has.
func typesLike(c *project.Config, from, r project.Resource, groupFile string, p *scaffold.Plan) ([]byte, error) {
	name := c.TypesFile(from)
	src, err := p.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || !copies(file, src, c.APIPath(r)) {
		return nil, nil //nolint:nilerr // what is wrong with it, the generators tell
	}
	theirs, err := declaredNames(c.APIDir(from), name, p)
	if err != nil {
		return nil, err
	}
	ours, err := declaredNames(c.APIDir(r), c.TypesFile(r), p)
	if err != nil {
		return nil, err
	}
	lacking := false
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && theirs[id.Name] && !ours[id.Name] {
			lacking = true
		}
		return !lacking
	})
	same, err := sameForm(path.Join(c.APIDir(from), path.Base(groupFile)), groupFile, p)
	if lacking || !same || err != nil {
		return nil, err
	}
	at := fset.Position(file.Name.Pos()).Offset
	next := slices.Concat(src[:at], []byte(r.Version), src[at+len(file.Name.Name):])
	next = oneVersions.ReplaceAll(next, nil)
	twice, err := declaredTwice(c.TypesFile(r), next, p)
	if len(twice) > 0 || err != nil {
		return nil, err
	}
	return next, nil
}

// copies reports whether a file of types is about one kind and its fields: no
// other kind, nothing of its conversion, and nothing of the package it is to go to.
func copies(file *ast.File, src []byte, target string) bool {
	if bytes.Count(src, []byte("+kubebuilder:object:root=true")) != 2 || bytes.Contains(src, []byte("+groupName=")) || bytes.Contains(src, []byte("+versionName=")) {
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
	files, err := source.Files(dir, false, p)
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

// sameForm reports whether both group-version files register types in the same way.
func sameForm(a, b string, p *scaffold.Plan) (bool, error) {
	if !p.Exists(a) {
		return false, nil
	}
	one, err := readForm(a, p)
	if err != nil {
		return false, err
	}
	other, err := readForm(b, p)
	return one == other, err
}
