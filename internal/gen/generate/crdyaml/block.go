package crdyaml

import "reflect"

// blockKey identifies a map of schemas by its address, and the depth at which it is
// printed.
type blockKey struct {
	place  uintptr
	indent int
}

// block is the text of a map of schemas. It is empty until the map occurs for the second
// time, because most maps occur only once.
type block struct {
	of   map[string]props // keeps the map alive, so that its address is not reused
	text string
}

func (w *writer) blockKey(m map[string]props) blockKey {
	return blockKey{reflect.ValueOf(m).Pointer(), w.indent}
}

// writeCached writes the entries of a map from the cache. It returns false if they are
// not cached.
func (w *writer) writeCached(m map[string]props) bool {
	if !w.Shared {
		return false
	}
	known := w.blocks[w.blockKey(m)]
	w.out = append(w.out, known.text...)
	return known.text != ""
}

// remember records a map, and caches the text of its entries if it occurs again.
func (w *writer) remember(m map[string]props, mark int) {
	if !w.Shared || w.err != nil {
		return
	}
	if w.blocks == nil {
		w.blocks = map[blockKey]block{}
	}
	k := w.blockKey(m)
	b := block{of: m}
	if _, seen := w.blocks[k]; seen {
		b.text = string(w.out[mark:])
	}
	w.blocks[k] = b
}
