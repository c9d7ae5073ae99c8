package descriptors

import (
	"cmp"
	"context"
	"errors"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// Marker is the name of the marker.
const Marker = "operator-sdk:csv:customresourcedefinitions"

// typeMarker has the arguments of a marker on a kind.
type typeMarker struct {
	Resources   [][]string `marker:",optional"` // kind, version and perhaps name
	DisplayName string     `marker:",optional"`
	Order       *int       `marker:",optional"`
}

// fieldMarker has the arguments of a marker on a field.
type fieldMarker struct {
	Type         string   `marker:",optional"` // spec or status
	DisplayName  string   `marker:",optional"`
	XDescriptors []string `marker:",optional"`
	Order        *int     `marker:",optional"`
}

// Type is a kind in Go.
type Type struct {
	Package string // import path
	Kind    string
}

// Load reads the markers of kinds in the module at dir. A kind without markers is not in the
// result.
func Load(ctx context.Context, dir string, env []string, types []Type) (map[Type]*Owned, error) {
	registry := &markers.Registry{}
	for _, d := range []struct {
		target markers.TargetType
		value  any
	}{{markers.DescribesType, typeMarker{}}, {markers.DescribesField, fieldMarker{}}} {
		definition, err := markers.MakeDefinition(Marker, d.target, d.value)
		if err != nil {
			return nil, err
		}
		if err := registry.Register(definition); err != nil {
			return nil, err
		}
	}
	if _, err := environ.LookPath(env, "go"); err != nil {
		return nil, fault.Failed("install Go (https://go.dev/dl/) and add its bin folder to PATH; operon reads markers of API types with it", "the go command is not in PATH")
	}
	var paths []string
	for _, t := range types {
		paths = append(paths, t.Package)
	}
	slices.Sort(paths)
	positions := token.NewFileSet()
	roots, err := loader.LoadRootsWithConfig(&packages.Config{Context: ctx, Dir: dir, Env: env, Fset: positions}, slices.Compact(paths)...)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
		return nil, fault.Failed("go list ./... may say more", "cannot read the markers of API types: %s", line)
	}
	r := &reader{
		dir: dir, positions: positions, collector: &markers.Collector{Registry: registry},
		types: map[*loader.Package]map[string]*markers.TypeInfo{},
	}
	found := map[Type]*Owned{}
	for _, root := range roots {
		for _, t := range types {
			if t.Package != root.PkgPath {
				continue
			}
			owned, err := r.kind(root, t.Kind)
			if err != nil {
				return nil, err
			}
			if owned != nil {
				found[t] = owned
			}
		}
	}
	return found, nil
}

// reader reads types with their markers.
type reader struct {
	dir       string
	positions *token.FileSet
	collector *markers.Collector
	types     map[*loader.Package]map[string]*markers.TypeInfo
}

// hasMarkers reports whether types of a package may have markers: types of Go and of
// Kubernetes have none.
func hasMarkers(p *loader.Package, kind *loader.Package) bool {
	first, _, _ := strings.Cut(p.PkgPath, "/")
	own, _, _ := strings.Cut(kind.PkgPath, "/")
	return first == own || strings.Contains(first, ".") && first != "k8s.io"
}

// of returns the types of a package by name.
func (r *reader) of(p *loader.Package) (map[string]*markers.TypeInfo, error) {
	if known, ok := r.types[p]; ok {
		return known, nil
	}
	named := map[string]*markers.TypeInfo{}
	r.types[p] = named
	err := markers.EachType(r.collector, p, func(info *markers.TypeInfo) { named[info.Name] = info })
	for _, e := range p.Errors {
		err = cmp.Or[error](err, e)
	}
	if err != nil {
		return nil, r.fault(p, err)
	}
	return named, nil
}

// fault returns the first error with its place.
func (r *reader) fault(p *loader.Package, err error) error {
	first, at := err, token.NoPos
	for _, e := range flatten(err) {
		var positioned loader.PositionedError
		if errors.As(e, &positioned) && (at == token.NoPos || positioned.Pos < at) {
			first, at = e, positioned.Pos
		}
	}
	place, text := p.PkgPath, first.Error()
	if at != token.NoPos {
		place = r.place(at)
	}
	var parse packages.Error
	if errors.As(first, &parse) && parse.Pos != "" {
		place, text = r.relative(parse.Pos), parse.Msg
	}
	text, _, _ = strings.Cut(text, " (at <input>")
	return fault.In(place, fault.Usage("correct the marker +"+Marker+", or the Go code", "%s", text))
}

func flatten(err error) []error {
	var list loader.ErrList
	if !errors.As(err, &list) {
		return []error{err}
	}
	var all []error
	for _, e := range list {
		all = append(all, flatten(e)...)
	}
	return all
}

// place returns a position in a file relative to the module.
func (r *reader) place(at token.Pos) string { return r.relative(r.positions.Position(at).String()) }

func (r *reader) relative(name string) string {
	return filepath.ToSlash(strings.TrimPrefix(name, r.dir+string(filepath.Separator)))
}

// kind returns the description of a kind, or nil if neither it nor a field has the marker.
func (r *reader) kind(p *loader.Package, name string) (*Owned, error) {
	types, err := r.of(p)
	if err != nil {
		return nil, err
	}
	info := types[name]
	if info == nil {
		return nil, nil
	}
	owned := &Owned{Order: Unordered, Description: info.Doc}
	marked := len(info.Markers[Marker]) > 0
	for _, value := range info.Markers[Marker] {
		m, ok := value.(typeMarker)
		if !ok {
			continue
		}
		if m.Order != nil {
			owned.Order = *m.Order
		}
		owned.DisplayName = cmp.Or(m.DisplayName, owned.DisplayName)
		for _, words := range m.Resources {
			if len(words) < 2 || len(words) > 3 {
				return nil, fault.In(r.place(info.RawSpec.Pos()), fault.Usage("write {kind, version} or {kind, version, name}",
					"a resource in the marker +%s of %s has %d values", Marker, name, len(words)))
			}
			owned.Resources = append(owned.Resources, resource(words))
		}
	}
	sortResources(owned.Resources)
	for _, field := range info.Fields {
		switch part, _ := jsonName(field); part {
		case spec:
			owned.Spec, err = r.fields(p, info, field, spec)
		case status:
			owned.Status, err = r.fields(p, info, field, status)
		}
		if err != nil {
			return nil, err
		}
	}
	if !marked && len(owned.Spec)+len(owned.Status) == 0 {
		return nil, nil
	}
	return owned, nil
}

// resource returns an object that belongs to a kind.
func resource(words []string) map[string]any {
	name := ""
	if len(words) == 3 {
		name = words[2]
	}
	return NewResource(strings.TrimSpace(words[0]), strings.TrimSpace(words[1]), strings.TrimSpace(name))
}

func sortResources(list []any) {
	key := func(r any) string {
		m, _ := r.(map[string]any)
		name, _ := m["name"].(string)
		kind, _ := m["kind"].(string)
		version, _ := m["version"].(string)
		return name + "\n" + kind + "\n" + version
	}
	slices.SortFunc(list, func(a, b any) int { return cmp.Compare(key(a), key(b)) })
}
