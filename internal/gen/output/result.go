// Package output adds the outputs of a job to a plan: files to write, stale files to
// remove, and warnings. A stale file is one that nothing generates any more.
package output

import (
	"cmp"
	"go/ast"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/record"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Result is the result of a run of the generators. It does not depend on how the
// packages were loaded.
type Result struct {
	Outputs []generate.Output
	// Unchanged are outputs that were not generated again: the file on the disk and
	// the entry in .operon/generated.json are up to date.
	Unchanged []record.Output
	// Left are outputs that the plan does not write, because PROJECT keeps the file, or because operon merged them
	// into a file that it did not write.
	Left     []Left
	Warnings []scaffold.Warning // about markers and CRDs, sorted by place
	Matched  bool               // the paths name at least one package
	// Folders are the folders of the packages with Go files in the project,
	// slash-separated and relative to the root.
	Folders []string
	// Way is how the packages were loaded, and Declined has the faster ways that could not give
	// an exact result.
	Way      string
	Declined []Declined
	// Unrecorded says why the next run cannot use a record of this one, or is empty.
	Unrecorded string
	// Inputs returns the paths that the result depends on, for Plan.DependsOn. It is
	// nil if they are unknown.
	Inputs func() (paths []string, ok bool)
}

// Left is an output that the plan does not write.
type Left struct {
	Generator, Path string
	Content         []byte // what the file has instead, or nil: it stays as it is
}

// Leave makes an output a Left one.
func (r *Result) Leave(path string, content []byte) {
	r.Outputs = slices.DeleteFunc(slices.Clone(r.Outputs), func(o generate.Output) bool {
		if o.Path != path {
			return false
		}
		r.Left = append(r.Left, Left{o.Generator, path, content})
		return true
	})
}

// Declined is a way to load packages that could not give an exact result.
type Declined struct {
	Way    string `json:"way"`
	Reason string `json:"reason"`
}

// Of returns the result of generators that ran over all packages of the set.
func Of(set *load.Set, made *generate.Result, src *overlay.Project) *Result {
	r := &Result{Outputs: made.Outputs, Warnings: made.Warnings, Matched: len(set.Roots) > 0}
	syntax := make([][]*ast.File, len(set.Roots))
	for i, root := range set.Roots {
		root.NeedSyntax()
		syntax[i] = root.Syntax
	}
	for _, s := range generate.ScanMarkers(syntax, set.Fset, src) {
		r.Warnings = append(r.Warnings, s.Warnings...)
	}
	r.Warnings = SortWarnings(r.Warnings)
	for _, root := range set.Roots {
		if len(root.GoFiles) == 0 {
			continue
		}
		if folder, ok := overlay.Rel(src.Dir, filepath.Dir(root.GoFiles[0])); ok {
			r.Folders = append(r.Folders, folder)
		}
	}
	return r
}

// Run is a job with its result.
type Run struct {
	Job *request.Job
	*Result
}

// Add adds the outputs and warnings of all jobs to the plan. Outputs without a path are
// printed. Stale files are removed or reported.
func Add(p *scaffold.Plan, jobs *request.Jobs, runs []Run, files *overlay.Project) error {
	for _, r := range runs {
		if err := r.addTo(p); err != nil {
			return err
		}
	}
	warnVersion(jobs, p)
	var warnings []scaffold.Warning
	for _, r := range runs {
		warnHeader(r.Job, p)
		warnings = append(warnings, r.Warnings...)
	}
	for _, w := range SortWarnings(warnings) {
		p.Warn(w)
	}
	for _, r := range runs {
		if r.Inputs == nil {
			r.Inputs = func() ([]string, bool) { return nil, false }
		}
		p.DependsOn(r.Inputs)
	}
	return removeStale(runs, jobs.Decisions, files, p)
}

// addTo adds the outputs to the plan.
func (r *Result) addTo(p *scaffold.Plan) error {
	for _, o := range r.Unchanged {
		if err := p.KeepGenerated(o.Generator, o.Path, o.Sum.String()); err != nil {
			return err
		}
	}
	for _, o := range r.Left {
		if o.Content == nil {
			continue
		}
		if err := p.Edit(o.Path, func([]byte) ([]byte, error) { return o.Content, nil }); err != nil {
			return err
		}
	}
	for _, o := range r.Outputs {
		if o.Path == "" {
			p.Print(o.Content)
			continue
		}
		if err := p.Generate(o.Generator, o.Path, o.Content); err != nil {
			return err
		}
	}
	return nil
}

// made calls f with the generator and the path of each output.
func (r *Result) made(f func(generator, path string)) {
	for _, o := range r.Outputs {
		f(o.Generator, o.Path)
	}
	for _, o := range r.Unchanged {
		f(o.Generator, o.Path)
	}
	for _, o := range r.Left {
		f(o.Generator, o.Path)
	}
}

// Sums returns the generated files with their checksums.
func (r *Result) Sums() []record.Output {
	sums := slices.Clone(r.Unchanged)
	for _, o := range r.Outputs {
		if o.Path != "" {
			sums = append(sums, record.Output{Generator: o.Generator, Path: o.Path, Sum: record.SumOf(o.Content)})
		}
	}
	return sums
}

// SortWarnings sorts warnings by place and message, and removes duplicates.
func SortWarnings(all []scaffold.Warning) []scaffold.Warning {
	slices.SortFunc(all, func(a, b scaffold.Warning) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}
