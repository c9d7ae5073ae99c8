package crdyaml

import "reflect"

// blockKey identifies a map of schemas by its address, and the depth at which it is
// printed.
type blockKey struct {
	place  uintptr
	indent int
}

// block is the text of a map of schemas. The first time, the map is only noted, because
// most maps are not seen again.
type block struct {
	of   map[string]props // keeps the map alive, so that its address is not reused
	text string
}

func (w *writer) blockKey(m map[string]props) blockKey {
	return blockKey{reflect.ValueOf(m).Pointer(), w.indent}
}

// again writes the entries of a map from the cache. It returns false if they are not
// cached.
func (w *writer) again(m map[string]props) bool {
	if !w.Shared {
		return false
	}
	known := w.blocks[w.blockKey(m)]
	w.out = append(w.out, known.text...)
	return known.text != ""
}

// printed notes or caches the text of a map's entries.
func (w *writer) printed(m map[string]props, mark int) {
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
