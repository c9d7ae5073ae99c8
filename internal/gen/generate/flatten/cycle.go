package flatten

import "sigs.k8s.io/controller-tools/pkg/crd"

// hasCycle reports whether the types that a kind refers to contain a cycle. A type that
// refers to itself is not a cycle, unless it is the kind. open is true for types on the
// way to id, and false for types without a cycle.
func (f *Flattener) hasCycle(kind, id crd.TypeIdent, open map[crd.TypeIdent]bool) bool {
	if onWay, known := open[id]; known {
		return onWay
	}
	raw, err := f.raw(id)
	if err != nil {
		return false // an error that the library reports
	}
	open[id] = true
	refs, _ := Refs(&raw, id.Package)
	for _, to := range refs {
		if itself := to == id && id != kind; !itself && f.hasCycle(kind, to, open) {
			return true
		}
	}
	open[id] = false
	return false
}
