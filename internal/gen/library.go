package gen

import (
	"fmt"
	"go/build"
	"go/token"
	"go/types"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// library is what is known of packages that never change, in place of their
// sources. A nil one knows nothing.
type library struct {
	cache    *depcache.Cache
	identity func(path string) (depcache.Identity, bool)
	lacking  [][]string // of each world until now

	mu    sync.Mutex
	asked map[string]depcache.Identity // identities that somebody asked for
}

// newLibrary returns nil where no generator needs types, or one that reads packages
// in other ways than deps knows of.
func (q *query) newLibrary(j *job, identity func(path string) (depcache.Identity, bool)) *library {
	environment := libraryEnvironment(j.generators, q.Arch)
	if environment == nil {
		return nil
	}
	l := &library{cache: &depcache.Cache{Store: j.store, Environment: environment, Prebuilt: true}, asked: map[string]depcache.Identity{}}
	l.identity = func(path string) (depcache.Identity, bool) {
		is, ok := identity(path)
		if ok {
			l.mu.Lock()
			l.asked[path] = is
			l.mu.Unlock()
		}
		return is, ok
	}
	return l
}

// libraryEnvironment is what types and schemas of a package depend on beside
// packages: the libraries that make them, the size of a word, which packages the
// generators ask for (object's filter passes all that crd's does), and those
// options of crd that change schemas before they are put together.
func libraryEnvironment(gens []generator, arch string) []string {
	var options crd.Generator
	filter := ""
	for _, g := range gens {
		switch v := g.gen.(type) {
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
		ControllerToolsVersion(),
		build.Default.ReleaseTags[len(build.Default.ReleaseTags)-1],
		fmt.Sprintf("word=%d align=%d", sizes.Sizeof(types.Typ[types.Uintptr]), sizes.Alignof(types.Typ[types.Int64])),
		filter,
		fmt.Sprintf("dangerous=%v exported=%v meta=%v",
			isTrue(options.AllowDangerousTypes), isTrue(options.IgnoreUnexportedFields), isTrue(options.GenerateEmbeddedObjectMeta)),
	}
}

// world returns a world for one load. The second one does without the packages
// that were lacking something in the first, and the third without any, for each
// may show another.
func (l *library) world(fset *token.FileSet) *depcache.World {
	if l == nil {
		return nil
	}
	return depcache.NewWorld(l.cache, fset, l.identity, func(path string) bool {
		return len(l.lacking) > 1 || slices.Contains(slices.Concat(l.lacking...), path)
	})
}

// lacks reports whether somebody asked for more than there was in a world, so
// that there is to be another one.
func (l *library) lacks(w *depcache.World) bool {
	lacking := w.Lacking()
	if len(lacking) > 0 {
		l.lacking = append(l.lacking, lacking)
	}
	return len(lacking) > 0
}

// keep keeps packages of a world for the next run.
func (l *library) keep(w *depcache.World, fresh []depcache.Fresh) {
	if l != nil {
		w.Keep(fresh)
	}
}
