package incremental

import (
	"fmt"
	"go/build"
	"go/token"
	"go/types"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/request"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// library provides cached external packages to the attempts of a run, without reading
// their sources. A nil library provides none.
type library struct {
	Cache    *depcache.Cache
	Identity func(path string) (depcache.Identity, bool)
	lacking  [][]string // the packages that were incomplete, by attempt

	mu   sync.Mutex
	used map[string]depcache.Identity
}

// newLibrary returns nil if no generator needs types, or if one of them reads
// packages in other ways than the cache supports.
func newLibrary(arch string, j *request.Job, identity func(path string) (depcache.Identity, bool)) *library {
	environment := libraryEnvironment(j.Generators, arch)
	if environment == nil {
		return nil
	}
	isCRD := func(g request.Generator) bool { return g.Name == "crd" }
	l := &library{
		Cache: &depcache.Cache{Store: j.Store, Environment: environment, Schemas: slices.ContainsFunc(j.Generators, isCRD), Prebuilt: true},
		used:  map[string]depcache.Identity{},
	}
	l.Identity = func(path string) (depcache.Identity, bool) {
		is, ok := identity(path)
		if ok {
			l.mu.Lock()
			l.used[path] = is
			l.mu.Unlock()
		}
		return is, ok
	}
	return l
}

// libraryEnvironment returns what the types and schemas of a package depend on, apart
// from packages:
//   - the versions of the libraries that create them
//   - the size of a word
//   - which packages the generators need: object's filter accepts all packages that crd's does
//   - the options of crd that change the schemas of single types
func libraryEnvironment(gens []request.Generator, arch string) []string {
	var options crd.Generator
	filter := ""
	for _, g := range gens {
		switch v := g.Gen.(type) {
		case crd.Generator:
			options = v
			filter = max(filter, "crd")
		case deepcopy.Generator:
			filter = "object"
		case genall.NeedsTypeChecking:
			return nil
		}
	}
	if filter == "" {
		return nil
	}
	sizes := types.SizesFor("gc", arch)
	if sizes == nil {
		return nil
	}
	return []string{
		controllertools.Version(),
		build.Default.ReleaseTags[len(build.Default.ReleaseTags)-1],
		fmt.Sprintf("word=%d align=%d", sizes.Sizeof(types.Typ[types.Uintptr]), sizes.Alignof(types.Typ[types.Int64])),
		filter,
		fmt.Sprintf("dangerous=%v exported=%v meta=%v",
			request.IsTrue(options.AllowDangerousTypes), request.IsTrue(options.IgnoreUnexportedFields),
			request.IsTrue(options.GenerateEmbeddedObjectMeta)),
	}
}

// world returns the cached packages for one attempt. The second attempt does not use the
// packages that were incomplete in the first one. The third attempt uses none, because
// each attempt may find more incomplete packages.
func (l *library) world(fset *token.FileSet) *depcache.World {
	if l == nil {
		return nil
	}
	return depcache.NewWorld(l.Cache, fset, l.Identity, func(path string) bool {
		return len(l.lacking) > 1 || slices.Contains(slices.Concat(l.lacking...), path)
	})
}

// Lacks reports whether a generator asked for a part of a package that w does not have.
// Another attempt is then necessary.
func (l *library) Lacks(w *depcache.World) bool {
	if w == nil {
		return false
	}
	lacking := w.Lacking()
	if len(lacking) > 0 {
		l.lacking = append(l.lacking, lacking)
	}
	return len(lacking) > 0
}

// Keep stores packages of a world, and packages that were read, for later runs.
func (l *library) Keep(w *depcache.World, fresh []depcache.Fresh) {
	if l != nil {
		w.Keep(fresh)
	}
}

// usedIdentities returns the identities of packages that this run asked for.
func (l *library) usedIdentities() map[string]depcache.Identity {
	if l == nil {
		return nil
	}
	return l.used
}
