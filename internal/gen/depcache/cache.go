package depcache

import (
	"slices"

	"github.com/operon-dev/operon/internal/gen/store"
)

// format is the version of an entry's content and of how this program creates it.
const format = "3"

// entries is the kind of the entries in the store.
const entries = "deps"

// variants is the number of entries to keep for a package with the same identity. They
// differ in the packages that its types refer to.
const variants = 4

// Cache finds and stores entries. Some entries are part of this program.
type Cache struct {
	Store *store.Store
	// Environment identifies what the content of entries depends on, apart from
	// packages: the versions of the libraries, and the generators with their options.
	Environment []string
	// Schemas means that the generators ask for schemas, so that a world decodes them in advance.
	Schemas bool
	// Prebuilt enables the entries that are part of this program.
	Prebuilt bool
}

// Find returns the valid entry of the package with a path, or nil. identity returns the
// identity of a package. A package without an identity has no entry.
//
// An entry is valid if all packages in its closure have the same identities as when it
// was created.
func (c *Cache) Find(path string, identity func(path string) (Identity, bool)) *Entry {
	if c.Store != nil {
		if id, ok := identity(path); ok {
			if e := pick(c.stored(c.key(path, id)), path, identity); e != nil {
				return e
			}
		}
	}
	if c.Prebuilt {
		return pick(prebuilt(c.PrebuiltName(path)), path, identity)
	}
	return nil
}

func pick(found []*Entry, path string, identity func(path string) (Identity, bool)) *Entry {
	for _, e := range found {
		if e.Path() == path && e.valid(identity) {
			return e
		}
	}
	return nil
}

// keep stores an entry, merged with what an earlier entry of the same packages contains.
func (c *Cache) keep(e *Entry, identity func(path string) (Identity, bool)) {
	id, ok := identity(e.Path())
	if !ok {
		return
	}
	if old := c.Find(e.Path(), identity); old != nil && e.absorb(old) != nil {
		return
	}
	k := c.key(e.Path(), id)
	kept := slices.DeleteFunc(c.stored(k), e.same)
	kept = slices.Insert(kept, 0, e)
	c.Store.Put(entries, k, Encode(kept[:min(len(kept), variants)]))
}

func (c *Cache) stored(k store.Key) []*Entry {
	content, ok := c.Store.Get(entries, k)
	if !ok {
		return nil
	}
	found, ok := decode(content)
	if !ok {
		return nil
	}
	return found
}

// name returns the key of a package. It does not depend on its identity.
func (c *Cache) name(path string) store.Key {
	return store.KeyOf(slices.Concat([]string{format, path}, c.Environment)...)
}

func (c *Cache) key(path string, id Identity) store.Key {
	name := c.name(path)
	return store.KeyOf(string(name[:]), string(id[:]))
}
