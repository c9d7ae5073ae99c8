package scaffold

import (
	"maps"
	"slices"
)

// Inputs is what a plan depends on.
type Inputs struct {
	// Looked has the paths that the plan looked up, whether or not they exist.
	// For a folder, only its existence matters.
	Looked []string
	// Listed has the folders whose entries the plan read.
	Listed []string
	// Sources has the paths of DependsOn.
	Sources []string
}

// DependsOn registers inputs of planned content that the plan did not read
// itself. find is called by Inputs. It lists files, folders with their entries,
// and paths that must stay missing, all as absolute paths. ok is false if the
// list is incomplete.
func (p *Plan) DependsOn(find func() (paths []string, ok bool)) {
	p.sources = append(p.sources, find)
}

// DependsOnFiles adds files outside of the project, as absolute paths, to the inputs of the plan.
// Without a call of DependsOn, the inputs stay unknown.
func (p *Plan) DependsOnFiles(paths ...string) { p.read = append(p.read, paths...) }

// Inputs returns the known inputs of the plan so far, sorted. ok is false if some
// are unknown, or if DependsOn was never called.
func (p *Plan) Inputs() (in Inputs, ok bool) {
	ok, in.Sources = len(p.sources) > 0, slices.Clone(p.read)
	for _, find := range p.sources {
		paths, complete := find()
		in.Sources = append(in.Sources, paths...)
		ok = ok && complete
	}
	slices.Sort(in.Sources)
	in.Sources = slices.Compact(in.Sources)
	in.Looked = slices.Sorted(maps.Keys(p.tree.looked))
	in.Listed = slices.Sorted(maps.Keys(p.tree.listed))
	return in, ok
}
