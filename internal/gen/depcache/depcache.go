// Package depcache caches what the generators need from a dependency: its types and the
// raw schemas of its types. Reading an entry takes a hundredth of the time of parsing and
// type-checking the sources.
//
// An entry is valid as long as its package, and all packages that its types refer to,
// directly or indirectly, have the same identities. The caller defines identities.
// [Identities] returns them for Go's own packages and for packages in the module cache.
//
// As of controller-tools v0.23.0, the generators use a package that is not a root only in
// these ways:
//
//   - The type checker asks for its syntax and its types. The loader's package has both;
//     the syntax has no files.
//   - deepcopy, and crd for the fields of other packages, read the types that are
//     reachable from its exported names. Other packages can use no other types. They look
//     for a few methods; entries lack the others (package stripbodies).
//   - crd asks for its schemas ([World.Override]). If the package belongs to the API group
//     of a kind, crd also searches it for versions of the kind. An entry cannot answer
//     that.
//
// A generator that asks for more gets an error, and [World.Lacking] returns the package.
package depcache

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/gen/store"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Identity identifies everything that the types and schemas of a package depend on,
// except for other packages.
type Identity = store.Key

// Entry is the cached part of a package.
type Entry struct {
	// Closure is the path of the package and then, sorted, the paths of all packages
	// that its types refer to, directly or not.
	Closure []string
	// Sum is the checksum of the identities of the packages in Closure.
	Sum store.Key
	// Types is the export data of its types, with the declarations of other packages that
	// they refer to. These packages are in Closure.
	Types []byte
	// Group is the API group of the package, if a schema was asked for and the parser
	// found the group.
	Group   string
	Grouped bool
	// Uses are the paths of the packages that the schemas refer to.
	Uses []string

	schemas []byte // see encodeSchemas
}

// Path returns the import path of the package.
func (e *Entry) Path() string { return e.Closure[0] }

// Schemas returns the raw schemas that generators asked for, by the name of the type. ok
// is false if they cannot be decoded.
func (e *Entry) Schemas() (schemas map[string]apiextensionsv1.JSONSchemaProps, ok bool) {
	return decodeSchemas(e.schemas)
}

// SetSchemas replaces the schemas and Uses.
func (e *Entry) SetSchemas(schemas map[string]apiextensionsv1.JSONSchemaProps) error {
	var err error
	e.schemas, err = encodeSchemas(schemas)
	e.Uses = mentioned(schemas)
	return err
}

// sum returns the checksum of the identities of packages. ok is false if one has none.
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

// valid reports whether all packages that the entry depends on are unchanged.
func (e *Entry) valid(identity func(path string) (Identity, bool)) bool {
	now, ok := sum(e.Closure, identity)
	return ok && now == e.Sum
}

// same reports whether two entries are for the same packages.
func (e *Entry) same(f *Entry) bool {
	return e.Sum == f.Sum && slices.Equal(e.Closure, f.Closure)
}

// absorb adds the content of another entry if it is for the same packages.
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
