package gen

import (
	"bytes"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/scaffold"
)

// check returns an error if the outputs may not be what the project's own calls of
// controller-gen lead to: two calls disagree about a file, a recipe changes a file after a call,
// or a call is not understood.
//
// It compares outputs and not arguments, because most arguments and commands change nothing.
func check(jobs *request.Jobs, runs []output.Run, p *scaffold.Plan) error {
	recorded := map[string]scaffold.Recorded{}
	for _, r := range p.Recorded() {
		recorded[r.Path] = r
	}
	made := map[string]record.Output{}
	by := map[string]*request.Job{}
	same := map[string]bool{} // generators with an output that is as before, by name
	var new, differ []record.Output
	for _, run := range runs {
		for _, o := range run.Sums() {
			if other, twice := made[o.Path]; twice && other.Sum != o.Sum {
				return ambiguous(jobs, by[o.Path], run.Job, o.Path)
			}
			made[o.Path], by[o.Path] = o, run.Job
			state := compare(p, run.Result, o.Path)
			if step, ok := stepFor(run.Job, o); ok && state != current {
				return changedAfter(jobs, step, o.Path)
			}
			switch _, ours := recorded[o.Path]; {
			case state == current || ours:
				same[o.Generator] = true
			case state == missing:
				new = append(new, o)
			default:
				differ = append(differ, o)
			}
		}
	}
	if len(jobs.Unclear) == 0 {
		return nil
	}
	for _, o := range new {
		if !same[o.Generator] {
			differ = append(differ, o)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	var names []string
	for _, o := range differ {
		names = append(names, o.Path)
	}
	return unclear(jobs, names)
}

// state is how a file on the disk compares with an output.
type state int

const (
	current state = iota // except for the version of controller-tools
	missing
	different
)

// compare compares an output with the file on the disk.
func compare(p *scaffold.Plan, res *output.Result, name string) state {
	i := slices.IndexFunc(res.Outputs, func(o generate.Output) bool { return o.Path == name })
	if i < 0 {
		return current // it was not generated again
	}
	disk, err := p.Read(name)
	if err != nil {
		return missing
	}
	content := res.Outputs[i].Content
	if _, _, onlyVersion := controllertools.DifferOnlyInVersion(disk, content); onlyVersion || bytes.Equal(disk, content) {
		return current
	}
	return different
}

// stepFor returns the first command that changes an output after the call that generates it.
func stepFor(j *request.Job, o record.Output) (calls.Step, bool) {
	steps := j.After[o.Generator]
	i := slices.IndexFunc(steps, func(s calls.Step) bool { return s.Changes(o.Path) })
	if i < 0 {
		return calls.Step{}, false
	}
	return steps[i], true
}

// ambiguous returns the error for two calls that generate different content for a file.
func ambiguous(jobs *request.Jobs, a, b *request.Job, name string) error {
	return fault.Usage(jobs.Lines("keep the calls that count in"), "%s and %s generate different content for %s", strings.Join(a.From, ", "), strings.Join(b.From, ", "), name)
}

// changedAfter returns the error for a command that changes a generated file.
func changedAfter(jobs *request.Jobs, s calls.Step, name string) error {
	return fault.Usage(jobs.Lines("to generate without that command, write the arguments to"),
		"%s:%d: %s changes %s after controller-gen, which operon does not do", s.File, s.Line, s.Command, name)
}

// unclear returns the error for a call that operon does not understand.
func unclear(jobs *request.Jobs, names []string) error {
	slices.Sort(names)
	what := strings.Join(names[:min(len(names), 3)], ", ")
	if more := len(names) - 3; more > 0 {
		what += ", ..."
	}
	c := jobs.Unclear[0]
	return fault.Usage(jobs.Lines("write the arguments to"),
		"%s: operon does not understand this call of controller-gen, as %s, and may generate other content for %s", c.At(), c.Unclear, what)
}
