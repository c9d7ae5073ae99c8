//go:build testall

package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// result is what a parser makes of some packages, as texts.
type result struct {
	Schemas map[string]string // by type; or the panic
	Kinds   []string
	Groups  map[string]string
	Errors  map[string][]string // by package; sorted and without duplicates
}

func newResult() result {
	return result{map[string]string{}, nil, map[string]string{}, map[string][]string{}}
}

// try calls f, which may panic for a type.
func (r *result) try(id string, f func()) {
	defer func() {
		if crash := recover(); crash != nil {
			r.Schemas["panic of "+id] = fmt.Sprint(crash)
		}
	}()
	f()
}

func (r *result) schema(t *testing.T, id string, s Props) {
	content, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	r.Schemas[id] = string(content)
}

func (r *result) errors(roots []*loader.Package) {
	seen := map[*loader.Package]bool{}
	var visit func(*loader.Package)
	visit = func(p *loader.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		all := r.Errors[p.ID] // each root may have its own instance of a package
		for _, e := range p.Errors {
			// The loader skips what the schemas do not need, so type errors of libraries depend on
			// the order in which packages are checked.
			if e.Kind == packages.TypeError && !strings.HasPrefix(p.ID, "github.com/operon-dev/operon/") {
				continue
			}
			all = append(all, e.Error())
		}
		if slices.Sort(all); len(all) > 0 {
			r.Errors[p.ID] = slices.Compact(all)
		}
		for _, imported := range p.Imports() {
			visit(imported)
		}
	}
	for _, root := range roots {
		visit(root)
	}
}

// loaded returns packages, a collector and a type checker.
func loaded(t *testing.T, filter loader.NodeFilter, paths ...string) ([]*loader.Package, *markers.Collector, *loader.TypeChecker) {
	t.Helper()
	roots, err := loader.LoadRootsWithConfig(&packages.Config{}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	reg := &markers.Registry{}
	if err := crdmarkers.Register(reg); err != nil {
		t.Fatal(err)
	}
	checker := &loader.TypeChecker{NodeFilters: []loader.NodeFilter{filter}}
	for _, root := range roots {
		checker.Check(root)
	}
	return roots, &markers.Collector{Registry: reg}, checker
}

func library(t *testing.T, o Options, paths ...string) result {
	roots, collector, checker := loaded(t, crd.Generator{}.CheckFilter(), paths...)
	p := &crd.Parser{Collector: collector, Checker: checker, AllowDangerousTypes: o.DangerousTypes,
		IgnoreUnexportedFields: o.ExportedOnly, GenerateEmbeddedObjectMeta: o.EmbeddedMeta}
	crd.AddKnownTypes(p)
	for _, root := range roots {
		p.NeedPackage(root)
	}
	res := newResult()
	for _, kind := range crd.FindKubeKinds(p, crd.FindMetav1(roots)) {
		res.Kinds = append(res.Kinds, kind.String())
	}
	for _, id := range slices.SortedFunc(maps.Keys(p.Types), func(a, b crd.TypeIdent) int { return strings.Compare(a.String(), b.String()) }) {
		res.try(id.String(), func() { p.NeedSchemaFor(id) })
	}
	for id, s := range p.Schemata {
		res.schema(t, id.String(), s)
	}
	for pkg, gv := range p.GroupVersions {
		res.Groups[pkg.ID] = gv.String()
	}
	res.errors(roots)
	return res
}

func ours(t *testing.T, o Options, paths ...string) result {
	roots, collector, checker := loaded(t, NeedsTypes, paths...)
	p := NewParser(collector, checker, o)
	for _, root := range roots {
		p.Read(root)
	}
	res := newResult()
	for _, kind := range p.Kinds(roots) {
		res.Kinds = append(res.Kinds, kind.String())
	}
	for _, id := range slices.SortedFunc(maps.Keys(p.Types), Type.Compare) {
		res.try(id.String(), func() { p.Schema(id) })
	}
	for id, s := range p.Schemas {
		res.schema(t, id.String(), s)
	}
	for pkg, gv := range p.Groups {
		res.Groups[pkg.ID] = gv.String()
	}
	res.errors(roots)
	return res
}

// TestSameAsLibrary compares the schemas of all types of packages, and all errors, with
// the library's.
func TestSameAsLibrary(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options Options
		paths   []string
	}{
		"odd types":               {Options{}, []string{"./testdata/odd"}},
		"odd types, all options":  {Options{DangerousTypes: true, ExportedOnly: true, EmbeddedMeta: true}, []string{"./testdata/odd", "./testdata/odd/other"}},
		"Kubernetes":              {Options{}, []string{"k8s.io/api/apps/v1", "k8s.io/api/autoscaling/v2", "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"}},
		"Kubernetes, all options": {Options{DangerousTypes: true, ExportedOnly: true, EmbeddedMeta: true}, []string{"k8s.io/api/networking/v1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, got := library(t, tt.options, tt.paths...), ours(t, tt.options, tt.paths...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-library +schemas):\n%s", diff)
			}
			if len(got.Schemas) < 40 || strings.HasPrefix(name, "odd") && len(got.Errors["github.com/operon-dev/operon/internal/gen/generate/schemas/testdata/odd"]) < 45 {
				t.Errorf("few types were compared: %d, with the errors %q", len(got.Schemas), got.Errors)
			}
		})
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, name, ref string }{
		{"", "Pod", "#/definitions/Pod"},
		{"k8s.io/api/core/v1", "Pod", "#/definitions/k8s.io~1api~1core~1v1~0Pod"},
		{"git.example.org/~user/api", "Pod", "#/definitions/git.example.org~1~user~1api~0Pod"},
	} {
		if ref := Ref(tt.path, tt.name); ref != tt.ref || ref != crd.TypeRefLink(tt.path, tt.name) {
			t.Errorf("the reference to %s of %q is %s", tt.name, tt.path, ref)
		}
		if path, name := SplitRef(tt.ref); path != tt.path || name != tt.name {
			t.Errorf("%s refers to %s of %q", tt.ref, name, path)
		}
	}
}
