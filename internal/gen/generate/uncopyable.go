package generate

import (
	"bytes"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// better has the types to use instead of some types that cannot be copied.
var better = map[string]string{
	"time.Time": "metav1.Time", "net/url.URL": "string", "regexp.Regexp": "string",
	"net.IPNet": "string", "net/netip.Addr": "string", "net/netip.Prefix": "string", "net/netip.AddrPort": "string",
	"math/big.Int": "resource.Quantity", "math/big.Float": "resource.Quantity", "math/big.Rat": "string",
}

// errUncopyable returns the error about a field whose type has no deepcopy methods.
func errUncopyable(t *types.TypeName) error {
	use, known := better[t.Pkg().Path()+"."+t.Name()]
	if !known {
		use = "a type of your own"
	}
	return fmt.Errorf("%s cannot be part of an API type, because it has no deepcopy methods: use %s", nameOf(t), use)
}

// nameOf returns the name of a type with its package: with the import path, unless it is short.
func nameOf(t types.Object) string {
	if pkg := t.Pkg().Path(); strings.Contains(pkg, ".") {
		return pkg + "." + t.Name()
	}
	return t.Pkg().Name() + "." + t.Name()
}

// objectGenerator is the generator of deepcopy code. It reports fields whose types cannot be copied: the library assumes
// that all structs have deepcopy methods, and writes code that does not compile.
type objectGenerator struct {
	genall.Generator
	src *overlay.Project
}

// Generate implements genall.Generator.
func (g objectGenerator) Generate(ctx *genall.GenerationContext) error {
	if err := g.Generator.Generate(ctx); err != nil {
		return err
	}
	rule, ok := ctx.OutputRule.(memoryRule)
	if !ok {
		return nil
	}
	for _, f := range rule.files {
		i := slices.IndexFunc(ctx.Roots, func(p *loader.Package) bool { return p.PkgPath == f.Package })
		if i < 0 {
			continue
		}
		c := copies{ctx.Roots[i], g.src}
		for _, m := range copyMethod().FindAllSubmatch(f.Bytes(), -1) {
			if t := c.Types.Scope().Lookup(string(m[1])); t != nil && !c.visible(t.Type()) {
				c.check(t.Type(), t)
			}
		}
	}
	return nil
}

var copyMethod = lazyregexp.New(`(?m)^func \(in \*?(\w+)\) DeepCopyInto\(`)

// copies follows the types that the generated code of a package copies.
type copies struct {
	*loader.Package
	src *overlay.Project
}

// check reports the structs in a type of the package that the generated code cannot copy. at is the field or type to
// report. A type of another package has the code of its own for its fields.
func (c copies) check(t types.Type, at types.Object) {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		c.element(u.Elem(), at)
	case *types.Slice:
		c.element(u.Elem(), at)
	case *types.Map:
		c.element(u.Elem(), at)
	case *types.Struct:
		for f := range u.Fields() {
			if f.Pkg() == c.Types { // else the type is defined by a struct of another package
				at = f
			}
			c.element(f.Type(), at)
		}
	}
}

// element reports the type of a field or of elements. Its methods copy a struct; the generated code copies the rest.
func (c copies) element(t types.Type, at types.Object) {
	switch named, _ := types.Unalias(t).(*types.Named); t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		if !c.visible(t) {
			c.check(t, at)
		}
	case *types.Struct:
		if named != nil && c.uncopyable(named) {
			c.AddError(loader.ErrFromNode(errUncopyable(named.Obj()), at))
		}
	}
}

// uncopyable reports whether a struct of another package needs deepcopy methods and has none. Generated methods are not
// in the sources that the loader reads. So the type gets the benefit of the doubt if its package has generated code, or
// markers for a generator.
func (c copies) uncopyable(t *types.Named) bool {
	pkg := c.Imports()[t.Obj().Pkg().Path()]
	if _, is := t.Underlying().(*types.Struct); !is {
		return false
	}
	if t.Obj().Pkg() == c.Types || pkg == nil || pkg.Dir == "" || t.TypeArgs().Len() > 0 || flat(t) || c.visible(t) {
		return false
	}
	if _, err := os.Stat(filepath.Join(pkg.Dir, "zz_generated.deepcopy.go")); err == nil {
		return false
	}
	files, _ := filepath.Glob(filepath.Join(pkg.Dir, "*.go")) // fails for a folder with brackets: then without ignored files
	files = append(files, pkg.GoFiles...)
	return len(files) > 0 && !slices.ContainsFunc(files, func(name string) bool {
		text, err := c.src.Read(name)
		return err != nil || bytes.Contains(text, []byte(t.Obj().Name()+") DeepCopy")) || generatorMarker().Match(text)
	})
}

var generatorMarker = lazyregexp.New(`\+(?:kubebuilder:object:|k8s:deepcopy-gen)`)

// visible reports whether a type has deepcopy methods that are not generated.
func (c copies) visible(t types.Type) bool {
	return slices.ContainsFunc([]string{"DeepCopy", "DeepCopyInto"}, func(name string) bool {
		m, index, _ := types.LookupFieldOrMethod(t, true, c.Types, name)
		_, is := m.(*types.Func)
		return is && len(index) == 1 // not of an embedded type
	})
}

// flat reports whether an assignment copies a type. Types that the loader does not know count as flat.
func flat(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if !flat(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}
