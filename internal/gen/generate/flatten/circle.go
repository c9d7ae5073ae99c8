package flatten

import "sigs.k8s.io/controller-tools/pkg/crd"

// circles reports whether among the types that a kind leads to there is a circle.
// A type that refers to itself is none, unless it is the kind's. open has the types
// on the way to id as true, and as false those behind which there is no circle.
func (f *Flattener) circles(kind, id crd.TypeIdent, open map[crd.TypeIdent]bool) bool {
	if onWay, known := open[id]; known {
		return onWay
	}
	raw, err := f.raw(id)
	if err != nil {
		return false // which is an error, and the library's to tell
	}
	open[id] = true
	refs, _ := Refs(&raw, id.Package)
	for _, to := range refs {
		if itself := to == id && id != kind; !itself && f.circles(kind, to, open) {
			return true
		}
	}
	open[id] = false
	return false
}
