package gen

import (
	"bytes"
	"fmt"
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
// or a call is not understood. replaced are the files of other programs that change.
//
// It compares outputs and not arguments, because most arguments and commands change nothing. An output of the
// default arguments counts only if the disk has it, because the project has others.
func check(jobs *request.Jobs, runs []output.Run, p *scaffold.Plan) (replaced []string, err error) {
	recorded := map[string]bool{}
	for _, r := range p.Recorded() {
		recorded[r.Path] = true
	}
	made := map[string]record.Output{}
	by := map[string]*request.Job{}
	same := map[string]bool{} // generators with an output that is as before, by name
	var added []record.Output
	for _, run := range runs {
		for _, o := range run.Sums() {
			if other, twice := made[o.Path]; twice && other.Sum != o.Sum {
				return nil, ambiguous(jobs, slices.Concat(by[o.Path].PlacesOf(other.Generator), run.Job.PlacesOf(o.Generator)), o.Path)
			}
			made[o.Path], by[o.Path] = o, run.Job
			state := compare(p, run.Result, o.Path)
			if step, ok := stepFor(run.Job, o); ok && state != current {
				return nil, changedAfter(jobs, step, o.Path)
			}
			switch {
			case state == current || recorded[o.Path] && !jobs.Guesses():
				same[o.Generator] = true
			case state == missing:
				added = append(added, o)
			default:
				replaced = append(replaced, o.Path)
			}
		}
	}
	if len(jobs.Unclear) == 0 {
		return replaced, nil
	}
	names := replaced
	for _, o := range added {
		if !same[o.Generator] || jobs.Guesses() {
			names = append(names, o.Path)
		}
	}
	if len(names) > 0 {
		return nil, unclear(jobs, names)
	}
	return replaced, nil
}

// ruleReplaced is the rule for files of another program that operon changes.
const ruleReplaced = "replaced"

// warnReplaced warns once about files that another program generated from the same sources, and
// that change, unless another version of controller-tools explains it.
func warnReplaced(replaced []string, p *scaffold.Plan) {
	if len(replaced) == 0 || slices.ContainsFunc(p.Warnings(), func(w scaffold.Warning) bool { return w.Rule == output.RuleToolsVersion }) {
		return
	}
	slices.Sort(replaced)
	what := "this file changes"
	if n := len(replaced) - 1; n > 0 {
		what = fmt.Sprintf("this file and %d more change", n)
	}
	p.Warn(scaffold.Warning{File: replaced[0], Rule: ruleReplaced,
		Message: what + ", although operon did not write it; if the sources do not explain it, another command changed it after controller-gen"})
}

// state is how a file on the disk compares with an output.
type state int

const (
	current state = iota // except for the version of controller-tools
	missing
	different
)

// noRules ends the role of a new project, until a controller needs permissions.
var noRules = []byte("\nrules: []\n")

// compare compares an output with the file on the disk.
func compare(p *scaffold.Plan, res *output.Result, name string) state {
	i := slices.IndexFunc(res.Outputs, func(o generate.Output) bool { return o.Path == name })
	if i < 0 {
		return current // it was not generated again
	}
	disk, err := p.Read(name)
	if err != nil || bytes.HasSuffix(disk, noRules) {
		return missing
	}
	content := res.Outputs[i].Content
	if _, _, onlyVersion := controllertools.DifferOnlyInVersion(disk, content); onlyVersion || bytes.Equal(disk, content) {
		return current
	}
	return different
}

// isRemoved reports whether the project's recipe removes an output after the call that generates it, and does
// nothing else with it.
func isRemoved(j *request.Job, o generate.Output) bool {
	steps := slices.DeleteFunc(slices.Clone(j.After[o.Generator]), func(s calls.Step) bool { return !s.Changes(o.Path) })
	return len(steps) > 0 && !slices.ContainsFunc(steps, func(s calls.Step) bool { return s.Command != "rm" || !s.Names(o.Path) })
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

// ambiguous returns the error for calls that generate different content for a file.
func ambiguous(jobs *request.Jobs, places []string, name string) error {
	var list []string
	for _, place := range places {
		if !slices.Contains(list, place) {
			list = append(list, place)
		}
	}
	where := "the calls in " + list[0]
	if last := len(list) - 1; last > 0 {
		where = strings.Join(list[:last], ", ") + " and " + list[last]
	}
	return fault.Usage(jobs.Lines("keep the calls that count in"), "%s generate different content for %s", where, name)
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
		"%s: operon does not understand this controller-gen call, as %s, and may generate other content for %s", c.At(), c.Unclear, what)
}
