package deps

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
}

// Keep keeps packages for other worlds: those that can be, because they and all
// that their types lead to have identities. It is to be called after a run
// without errors.
func (w *World) Keep(fresh []Fresh) {
	if w == nil || w.cache.Store == nil {
		return
	}
	byPath := make(map[string]Fresh, len(fresh))
	for _, f := range fresh {
		byPath[f.Path] = f
	}
	closures := map[string]map[string]bool{}
	var group sync.WaitGroup
	tokens := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, f := range fresh {
		e := &Entry{Closure: w.members(f.Path, w.closure(f.Path, byPath, closures))}
		if e.Closure == nil {
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
		w.cache.Keep(e)
	}
}

// closure are the packages that the types of a package lead to, itself among
// them.
func (w *World) closure(path string, fresh map[string]Fresh, known map[string]map[string]bool) map[string]bool {
	if c := known[path]; c != nil {
		return c
	}
	c := map[string]bool{path: true}
	known[path] = c
	if e := w.used[path]; e != nil {
		for _, m := range e.Closure {
			c[m.Path] = true
		}
	}
	for _, ref := range fresh[path].Refs {
		maps.Copy(c, w.closure(ref, fresh, known))
	}
	return c
}

// members are the packages of a closure, path first, or nil where one of them
// has no identity.
func (w *World) members(path string, closure map[string]bool) []Member {
	paths := slices.Sorted(maps.Keys(closure))
	i := slices.Index(paths, path)
	paths = slices.Insert(slices.Delete(paths, i, i+1), 0, path)
	members := make([]Member, len(paths))
	for i, p := range paths {
		id, ok := w.identity(p)
		if !ok {
			return nil
		}
		members[i] = Member{p, id}
	}
	return members
}
