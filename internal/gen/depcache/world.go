package depcache

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// World has the cached packages of one load, with consistent types: each package has one
// [types.Package], even if several entries refer to it.
//
// A package whose sources are read may refer to cached ones. The reverse is not possible,
// because the cached types would refer to another package with the same path.
type World struct {
	cache    *Cache
	identity func(path string) (Identity, bool)
	without  func(path string) bool
	fset     *token.FileSet

	mu      sync.Mutex
	used    map[string]*Entry
	decoded map[string]decoded // the schemas of used packages
	refused map[string]bool    // paths whose entries must not be used
	parted  bool
	imports map[string]*types.Package
	preset  map[string]*loader.Package

	schemas map[string]map[string]apiextensionsv1.JSONSchemaProps // of this run, by path
	groups  map[string]string                                     // of this run, by path
}

// decoded waits for the result of [Entry.Schemas].
type decoded func() (schemas map[string]apiextensionsv1.JSONSchemaProps, ok bool)

// NewWorld returns an empty world. It never uses the entry of a package for which without
// returns true. Both functions receive the path of a package, and must be safe for
// concurrent use.
func NewWorld(c *Cache, fset *token.FileSet, identity func(string) (Identity, bool), without func(string) bool) *World {
	return &World{
		cache: c, identity: identity, without: without, fset: fset,
		used: map[string]*Entry{}, refused: map[string]bool{},
		decoded: map[string]decoded{},
		preset:  map[string]*loader.Package{},
		schemas: map[string]map[string]apiextensionsv1.JSONSchemaProps{},
		groups:  map[string]string{},
	}
}

// Use adds the package with a path to the world if the cache has an entry for it. also
// are the paths of the packages that the caller must add as well. Use is safe for
// concurrent use. A nil world has no entries.
func (w *World) Use(path string) (also []string, ok bool) {
	if w == nil {
		return nil, false
	}
	w.mu.Lock()
	refused := w.refused[path]
	w.mu.Unlock()
	if refused || w.without(path) {
		return nil, false
	}
	e := w.cache.Find(path, w.identity)
	if e == nil {
		return nil, false
	}
	w.mu.Lock()
	w.used[path] = e
	w.mu.Unlock()
	return e.Uses, true
}

// Part removes the packages whose types refer to a package whose sources are read, and
// returns their paths. The caller reads their sources as well and calls Part again.
func (w *World) Part(read func(path string) bool) []string {
	if w == nil {
		return nil
	}
	var parted []string
	for path, e := range w.used {
		if slices.ContainsFunc(e.Closure, read) {
			parted = append(parted, path)
		}
	}
	w.refuse(parted)
	w.parted = w.parted || len(parted) > 0
	return parted
}

// Read reads the types of all packages, and starts to decode their schemas. It removes packages
// whose types cannot be read, and returns their paths. The caller reads their sources, and calls
// Part and Read again.
func (w *World) Read() []string {
	if w == nil {
		return nil
	}
	w.imports = map[string]*types.Package{"unsafe": types.Unsafe}
	for path, e := range w.used {
		w.decoded[path] = sync.OnceValues(e.Schemas)
		if w.cache.Schemas {
			go w.decoded[path]()
		}
	}
	var bad []string
	for _, path := range slices.Sorted(maps.Keys(w.used)) {
		if read(w.used[path], w.fset, w.imports) != nil {
			bad = append(bad, path)
		}
	}
	w.refuse(bad)
	return bad
}

func (w *World) refuse(paths []string) {
	for _, path := range paths {
		delete(w.used, path)
		w.refused[path] = true
	}
}

func read(e *Entry, fset *token.FileSet, imports map[string]*types.Package) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("types of %s: %v", e.Path(), r)
		}
	}()
	_, err = gcexportdata.Read(bytes.NewReader(e.Types), fset, imports, e.Path())
	return err
}

// Types returns the types of a package of the world after Read, or nil.
func (w *World) Types(path string) *types.Package {
	if w == nil || w.used[path] == nil {
		return nil
	}
	return w.imports[path]
}

// Preset sets the types and an empty syntax of the loader's package, so that the loader
// does not read its sources. It reports whether the package is part of the world.
func (w *World) Preset(p *loader.Package) bool {
	if w.Types(p.PkgPath) == nil {
		return false
	}
	p.Types, p.TypesInfo, p.Syntax = w.imports[p.PkgPath], &types.Info{}, []*ast.File{}
	w.preset[p.PkgPath] = p
	return true
}

// Lacking returns the paths of packages if a generator needed more of them than the world
// has. The caller must discard the results of this world, and create the next world
// without these packages.
func (w *World) Lacking() []string {
	if w == nil {
		return nil
	}
	var paths []string
	for path, p := range w.preset {
		if len(p.Errors) > 0 {
			paths = append(paths, path)
		}
	}
	return paths
}
