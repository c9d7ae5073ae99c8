// Package depcache keeps what the generators need of a package that did not change:
// its types and the raw schemas of its types, in place of its sources. Reading
// an entry takes a hundredth of the time that parsing and checking take.
//
// An entry stands for a package whose identity, and that of every package which
// its types lead to, is what it was when the entry was made. What the identity
// of a package is, the caller says; [Identities] knows it for Go's own packages
// and those in the module cache.
//
// The generators look at a package that is no root in these ways only, as of
// controller-tools v0.23.0. The type checker asks for its syntax and for its
// types: both are there then, the syntax without files. deepcopy, and crd for
// the fields of other packages, look at its types: what is reachable from its
// exported names, which is all that another package can mention. crd asks for
// its schemas ([World.Override]), and looks among its types for versions of a
// kind if its group is that of the kind: an entry refuses to tell then. Whoever
// asks for more gets an error, with which the package is lacking
// ([World.Again]).
package depcache

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/gen/incremental/store"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Identity tells packages apart by all that their types and schemas depend on,
// other packages left aside.
type Identity = store.Key

// Entry is what is kept of a package.
type Entry struct {
	// Closure are the paths of the package itself and then, in their order, of the
	// packages that its types lead to, directly or not.
	Closure []string
	// Sum is that of the identities of all in Closure.
	Sum store.Key
	// Types is export data of its types. It declares what it mentions of other
	// packages, which are all in Closure.
	Types []byte
	// Group is the API group of the package, if a schema was asked for and the
	// parser found out.
	Group   string
	Grouped bool
	// Uses are the paths of the packages that Schemas refer to.
	Uses []string

	schemas []byte // see encodeSchemas
}

// Path is the import path of the package.
func (e *Entry) Path() string { return e.Closure[0] }

// Schemas are the raw schemas by the name of the type, of those types that were
// ever asked for. It is not ok when they cannot be decoded.
func (e *Entry) Schemas() (schemas map[string]apiextensionsv1.JSONSchemaProps, ok bool) {
	return decodeSchemas(e.schemas)
}

// SetSchemas replaces the schemas, and Uses.
func (e *Entry) SetSchemas(schemas map[string]apiextensionsv1.JSONSchemaProps) error {
	var err error
	e.schemas, err = encodeSchemas(schemas)
	e.Uses = mentioned(schemas)
	return err
}

// sum is the sum of the identities of packages, if they all have one.
func sum(paths []string, identity func(path string) (Identity, bool)) (store.Key, bool) {
	ids := make([]string, len(paths))
	for i, path := range paths {
		id, ok := identity(path)
		if !ok {
			return store.Key{}, false
		}
		ids[i] = string(id[:])
	}
	return store.KeyOf(ids...), true
}

// holds reports whether every package that the entry depends on still is what
// it was.
func (e *Entry) holds(identity func(path string) (Identity, bool)) bool {
	now, ok := sum(e.Closure, identity)
	return ok && now == e.Sum
}

// same reports whether two entries are of the same packages.
func (e *Entry) same(f *Entry) bool {
	return e.Sum == f.Sum && slices.Equal(e.Closure, f.Closure)
}

// absorb adds what another entry knows, if it is of the same packages.
func (e *Entry) absorb(old *Entry) error {
	if !e.same(old) {
		return nil
	}
	more, ok := old.Schemas()
	if !ok || len(more) == 0 {
		return nil
	}
	if !e.Grouped {
		e.Group, e.Grouped = old.Group, old.Grouped
	}
	schemas, _ := e.Schemas()
	maps.Copy(more, schemas)
	return e.SetSchemas(more)
}
