package depcache

import (
	"bytes"
	"go/token"
	"go/types"
	"maps"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
)

// Fresh is a package whose types were made of its sources, with nothing of other
// packages than of those its types refer to.
type Fresh struct {
	Path  string
	Types *types.Package
	Refs  []string // paths of the packages that its types refer to
	// Direct is whether a package refers to it that will be read next time too.
	Direct bool
}

// Keep keeps packages for other worlds: those that can be, because they and all
// that their types lead to have identities, and that will be asked for. To keep
// the rest takes more time than all else here; that is done once a world was
// parted because it was not. Keep is to be called after a run without errors.
func (w *World) Keep(fresh []Fresh) {
	if w == nil || w.cache.Store == nil {
		return
	}
	byPath := make(map[string]Fresh, len(fresh))
	for _, f := range fresh {
		byPath[f.Path] = f
	}
	closures := map[string][]string{}
	var group sync.WaitGroup
	tokens := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, f := range fresh {
		if !f.Direct && len(w.schemas[f.Path]) == 0 && !w.parted {
			continue
		}
		e := &Entry{Closure: w.closure(f.Path, byPath, closures)}
		var ok bool
		if e.Sum, ok = sum(e.Closure, w.identity); !ok {
			continue
		}
		group.Go(func() {
			tokens <- struct{}{}
			defer func() { <-tokens }()
			w.keep(e, f)
		})
	}
	group.Wait()
}

func (w *World) keep(e *Entry, f Fresh) {
	// The empty file set leaves out positions: they would name files of this
	// machine, and matter for errors only, which are told from the sources.
	var types bytes.Buffer
	if gcexportdata.Write(&types, token.NewFileSet(), f.Types) != nil {
		return
	}
	e.Types = types.Bytes()
	e.Group, e.Grouped = w.group(f.Path)
	if e.SetSchemas(w.schemas[f.Path]) == nil {
		w.cache.Keep(e, w.identity)
	}
}

// closure returns the paths of a package, and of those that its types lead to.
func (w *World) closure(path string, fresh map[string]Fresh, known map[string][]string) []string {
	if c := known[path]; c != nil {
		return c
	}
	further := map[string]bool{}
	if e := w.used[path]; e != nil {
		for _, p := range e.Closure {
			further[p] = true
		}
	}
	for _, ref := range fresh[path].Refs {
		for _, p := range w.closure(ref, fresh, known) {
			further[p] = true
		}
	}
	delete(further, path)
	known[path] = append([]string{path}, slices.Sorted(maps.Keys(further))...)
	return known[path]
}
