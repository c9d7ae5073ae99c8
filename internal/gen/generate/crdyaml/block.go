package crdyaml

import "reflect"

// blockKey tells a map of schemas by its place in memory, and how deep it is
// printed.
type blockKey struct {
	place  uintptr
	indent int
}

// block is a map of schemas that was printed: the first time it is only noted, for
// most are never seen again, and the second time its text is kept.
type block struct {
	of   map[string]props // or another one might come to the same place
	text string
}

func (w *writer) blockKey(m map[string]props) blockKey {
	return blockKey{reflect.ValueOf(m).Pointer(), w.indent}
}

// again prints the entries of a map as they were printed before, if they were.
func (w *writer) again(m map[string]props) bool {
	if !w.Shared {
		return false
	}
	known := w.blocks[w.blockKey(m)]
	w.out = append(w.out, known.text...)
	return known.text != ""
}

// printed takes note of how the entries of a map were printed.
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
