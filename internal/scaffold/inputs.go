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

// DependsOn adds what planned content was made from without the plan's doing.
// find is called when somebody wants to know, and lists files, folders with
// their entries and places where nothing stands, all by absolute path. ok is
// false when these are not all.
func (p *Plan) DependsOn(find func() (paths []string, ok bool)) {
	p.sources = append(p.sources, find)
}

// Inputs returns what the plan was made from so far, sorted. ok is false when
// that is not all, or nobody called DependsOn.
func (p *Plan) Inputs() (in Inputs, ok bool) {
	for _, find := range p.sources {
		paths, ok := find()
		if !ok {
			return Inputs{}, false
		}
		in.Sources = append(in.Sources, paths...)
	}
	slices.Sort(in.Sources)
	in.Sources = slices.Compact(in.Sources)
	in.Looked = slices.Sorted(maps.Keys(p.tree.looked))
	in.Listed = slices.Sorted(maps.Keys(p.tree.listed))
	return in, len(p.sources) > 0
}
