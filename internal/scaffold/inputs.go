package scaffold

import (
	"maps"
	"slices"
)

// Inputs are what a plan was made from.
type Inputs struct {
	// Looked are paths that the plan looked at, whether or not something stands
	// there. Of a folder among them, only that it is one matters.
	Looked []string
	// Listed are folders whose entries the plan saw.
	Listed []string
	// Sources are those of DependsOn.
	Sources []string
}

// DependsOn adds what planned content was made from without the plan's doing:
// files, folders with their entries, and places where nothing stands, all by
// absolute path. Who calls it knows that these are all.
func (p *Plan) DependsOn(paths ...string) { p.sources = append(p.sources, paths...) }

// Inputs returns what the plan was made from so far, sorted. ok is false when
// that is not all, for nobody called DependsOn.
func (p *Plan) Inputs() (in Inputs, ok bool) {
	in = Inputs{
		Looked:  slices.Sorted(maps.Keys(p.tree.looked)),
		Listed:  slices.Sorted(maps.Keys(p.tree.listed)),
		Sources: slices.Compact(slices.Sorted(slices.Values(p.sources))),
	}
	return in, len(p.sources) > 0
}
