package depcache

import (
	"slices"

	"github.com/operon-dev/operon/internal/gen/incremental/store"
)

// format is that of an entry's content, and stands for how this program makes
// it. It changes with either.
const format = "1"

// The kinds of entries in the store.
const (
	entries = "deps"
	sums    = "goroot"
)

// variants is how many entries are kept of one package with one identity, which
// differ in the packages that its types lead to.
const variants = 4

// Cache finds entries and keeps them, in the store and among those that are a
// part of this program.
type Cache struct {
	Store *store.Store
	// Environment is what content depends on beside the packages: versions of
	// the libraries, the generators and their options.
	Environment []string
	// Prebuilt is whether to find entries that are a part of this program.
	Prebuilt bool
}

// Find returns the entry of the package with a path, given the identities of all
// packages by path, or nil. A package without identity has no entry.
//
// An entry is exact: its packages are what they were when it was made, and so
// what their types lead to is the same packages, all of which it names.
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
		if e.Path() == path && e.holds(identity) {
			return e
		}
	}
	return nil
}

// Keep puts an entry into the store, with what another entry of the same
// packages has beyond it.
func (c *Cache) Keep(e *Entry, identity func(path string) (Identity, bool)) {
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

// name is the key of a package of whatever identity.
func (c *Cache) name(path string) store.Key {
	return store.KeyOf(slices.Concat([]string{format, path}, c.Environment)...)
}

func (c *Cache) key(path string, id Identity) store.Key {
	name := c.name(path)
	return store.KeyOf(string(name[:]), string(id[:]))
}
