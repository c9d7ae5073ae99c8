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

// Fresh is a package that was type-checked from its sources. Its types contain only those
// declarations of other packages that they refer to.
type Fresh struct {
	Path  string
	Types *types.Package
	Refs  []string // paths of the packages that its types refer to
	// Direct means that a package whose sources are read in each run refers to it.
	Direct bool
}

// Keep stores the packages that later runs will ask for, if they and all packages that
// their types refer to have an identity. Storing all packages would take most of the time
// of a run. If a run read sources because a package was missing, Keep stores all of them.
// Call Keep only after a run without errors.
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
	// The empty file set omits positions, which would name files of this machine. Only
	// errors need positions, and a run with errors reads the sources.
	var types bytes.Buffer
	if gcexportdata.Write(&types, token.NewFileSet(), f.Types) != nil {
		return
	}
	e.Types = types.Bytes()
	e.Group, e.Grouped = w.group(f.Path)
	if e.SetSchemas(w.schemas[f.Path]) == nil {
		w.cache.keep(e, w.identity)
	}
}

// closure returns the paths of a package and of the packages that its types refer to,
// directly or not.
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
