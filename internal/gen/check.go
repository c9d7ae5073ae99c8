package gen

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/record"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/scaffold"
)

// check returns an error if the outputs may not be what the project's own calls of
// controller-gen lead to: two calls disagree about a file, or a call is not understood.
//
// It compares outputs and not arguments, because most arguments change nothing. An output of the
// default arguments counts only if the disk has it, because the project has others.
func check(jobs *request.Jobs, runs []output.Run, p *scaffold.Plan) error {
	recorded := map[string]bool{}
	for _, r := range p.Recorded() {
		recorded[r.Path] = true
	}
	made := map[string]record.Output{}
	by := map[string]*request.Job{}
	same := map[string]bool{} // generators with an output that is as before, by name
	var added []record.Output
	var names []string // files of other programs that change
	for _, run := range runs {
		for _, o := range run.Sums() {
			if other, twice := made[o.Path]; twice && other.Sum != o.Sum {
				return ambiguous(jobs, slices.Concat(by[o.Path].PlacesOf(other.Generator), run.Job.PlacesOf(o.Generator)), o.Path)
			}
			made[o.Path], by[o.Path] = o, run.Job
			state := compare(p, run.Result, o.Path)
			switch {
			case state == current || recorded[o.Path] && !jobs.Guesses():
				same[o.Generator] = true
			case state == missing:
				added = append(added, o)
			default:
				names = append(names, o.Path)
			}
		}
	}
	if len(jobs.Unclear) == 0 {
		return nil
	}
	for _, o := range added {
		if !same[o.Generator] || jobs.Guesses() {
			names = append(names, o.Path)
		}
	}
	if len(names) > 0 {
		return unclear(jobs, names)
	}
	return nil
}

// warnUnclear warns about the calls that operon leaves out because it does not understand them.
func warnUnclear(jobs *request.Jobs, p *scaffold.Plan) {
	if jobs.Guesses() { // then the outputs are those on the disk
		return
	}
	for _, c := range jobs.Unclear {
		p.Warn(scaffold.Warning{File: c.File, Line: c.Line, Rule: "unclear-call",
			Message: "operon does not run this controller-gen call, as " + c.Unclear + "; operon adopt --make-dry-run, or its arguments in PROJECT, settle it"})
	}
}

// warnSkipped warns about calls whose output is not compared, so that "current" is no promise for it. A call that writes
// to a temporary folder compares files itself.
func warnSkipped(jobs *request.Jobs, p *scaffold.Plan) {
	for _, s := range jobs.Skipped {
		if !s.Printed {
			continue
		}
		file, line, _ := strings.Cut(s.From, ":")
		n, _ := strconv.Atoi(line) // of a place in a file
		p.Warn(scaffold.Warning{File: file, Line: n, Rule: "not-compared",
			Message: "operon does not run this controller-gen call: " + s.Reason + "; arguments with an output folder in PROJECT settle it"})
	}
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

// unclear returns the error for a call that operon does not understand.
func unclear(jobs *request.Jobs, names []string) error {
	slices.Sort(names)
	what := strings.Join(names[:min(len(names), 3)], ", ")
	if more := len(names) - 3; more > 0 {
		what += ", ..."
	}
	c := jobs.Unclear[0]
	hint := "write the arguments to"
	if name := path.Base(c.File); strings.HasSuffix(strings.ToLower(name), "makefile") || path.Ext(name) == ".mk" {
		hint = "run operon adopt --make-dry-run, or " + hint
	}
	return fault.Usage(jobs.Lines(hint),
		"%s: operon does not understand this controller-gen call, as %s, and may generate other content for %s", c.At(), c.Unclear, what)
}

// suggestPinned adds a hint to an error that the version of controller-tools in operon reports about the types, if the
// project pins another version, which may accept them. Errors with a place in the sources have nothing to do with it.
func suggestPinned(jobs *request.Jobs, err error) error {
	problems, ok := errors.AsType[Problems](err)
	nowhere := func(q load.Problem) bool { return q.File == "" }
	if !ok || jobs.Tools != "" || fault.HintOf(err) != "" || !slices.ContainsFunc(problems, nowhere) {
		return err
	}
	pin := jobs.Pin().Version
	if !controllertools.BuildsWithNewGo(pin) || pin == controllertools.Version() {
		return err
	}
	return &fault.Error{Code: fault.Code(err), Err: err, Hint: "the project pins controller-tools " + pin +
		", which may accept this: operon generate --controller-tools " + pin + " records that operon uses it"}
}
