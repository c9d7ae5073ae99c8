package gen

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/gen/generate/marker"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/scaffold"
)

// result is what a run of the generators comes to, whichever way it was found:
// plain data, with no package behind it.
type result struct {
	outputs []output
	// stands are outputs that are on the disk, and on the project's record, as
	// they would be made now. Nobody read them.
	stands   []record.Output
	warnings []scaffold.Warning // about markers, in the order of their places
	matched  bool               // the paths name at least one package
	// folders are those of the packages with Go files that lie in the project,
	// slash-separated and relative to the root.
	folders []string
	// inputs finds what all this depends on, for Plan.DependsOn; nil: unknown.
	inputs func() (paths []string, ok bool)
}

// newResult is the result of generators that ran over every package of the set.
func newResult(set *packageSet, outputs []output, src *sources) *result {
	r := &result{outputs: outputs, matched: len(set.roots) > 0}
	for _, s := range set.scan(src) {
		r.warnings = append(r.warnings, s.Warnings...)
	}
	r.warnings = sortWarnings(r.warnings)
	for _, root := range set.roots {
		if len(root.GoFiles) == 0 {
			continue
		}
		if folder, ok := inProject(src.dir, filepath.Dir(root.GoFiles[0])); ok {
			r.folders = append(r.folders, folder)
		}
	}
	return r
}

// made calls f with each output, by its generator and path.
func (r *result) made(f func(generator, path string)) {
	for _, o := range r.outputs {
		f(o.generator, o.path)
	}
	for _, o := range r.stands {
		f(o.Generator, o.Path)
	}
}

// scan reads the markers of the roots, in their order.
func (s *packageSet) scan(src *sources) []marker.Scan {
	known := marker.NewVocabulary(maps.Values(generators()))
	return known.All(s.roots, s.fset, func(name string) (string, bool) { return inProject(src.dir, name) })
}

// sortWarnings brings warnings into the order of their places, each once.
func sortWarnings(all []scaffold.Warning) []scaffold.Warning {
	slices.SortFunc(all, func(a, b scaffold.Warning) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(all)
}
