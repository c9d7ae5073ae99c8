// Package gen runs the generators of controller-tools (deepcopy code, CRDs, RBAC
// roles, webhook configurations) in this process. It reads the sources from a plan
// and adds the outputs to the same plan. A kind that exists only in the plan
// therefore gets its CRD at once. The outputs are, byte for byte, the outputs of
// controller-gen of the same version with the same arguments.
//
// A run has four steps, with a package for each:
//
//   - [request]: from the caller's request and the project's defaults to a job,
//     which defines what to generate
//   - [load]: from the job's paths to packages, with the files that [overlay] shows
//   - [generate]: from packages to outputs, in memory
//   - [output]: from outputs to changes of the plan, and warnings
//
// Package [incremental] limits the third step to the packages that
// changed since the last run.
//
// One input is not part of the request: as in controller-gen, plurals depend on files with words of the
// user ([load.Words]). gen does not download modules and does
// not write to the project.
package gen

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/applyconfig"
	"github.com/operon-dev/operon/internal/gen/foreign"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/incremental"
	"github.com/operon-dev/operon/internal/gen/listing"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/othertools"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Request defines what to generate.
type Request = request.Request

// Problems are all errors in the sources that a run found.
type Problems = load.Problems

// Undecided is the error for files with content that operon did not write, about which PROJECT says nothing.
type Undecided = foreign.Undecided

// RuleToolsVersion is the rule of the warning that the project pins another version of controller-tools.
const RuleToolsVersion = output.RuleToolsVersion

// Plan runs the generators of r and adds their outputs and warnings to p. On an error
// it adds nothing. The error for invalid arguments has exit code 2. The error for
// invalid sources is [Problems], with exit code 1.
func Plan(ctx context.Context, r Request, p *scaffold.Plan) error {
	files, err := overlay.New(r.Dir, p)
	if err != nil {
		return err
	}
	defer files.Close()
	jobs, runs, err := resolveAndRun(ctx, r, files, p)
	if err != nil {
		return err
	}
	if err := (&settling{ctx, r, files, jobs, runs, p}).settle(); err != nil {
		return err
	}
	if err := output.Add(p, jobs, runs, files); err != nil {
		return err
	}
	warnUnclear(jobs, p)
	warnSkipped(jobs, p)
	return nil
}

// Explain returns what Plan would run, and how, and the files that Plan would not write without a decision. It runs
// the generators, and adds nothing to p. An error can come with what is known so far.
func Explain(ctx context.Context, r Request, p *scaffold.Plan) (*request.Jobs, []output.Run, []foreign.File, error) {
	files, err := overlay.New(r.Dir, p)
	if err != nil {
		return nil, nil, nil, err
	}
	defer files.Close()
	jobs, runs, err := resolveAndRun(ctx, r, files, p)
	if err != nil {
		return jobs, runs, nil, err
	}
	s := &settling{ctx, r, files, jobs, runs, p}
	targets, err := s.targets()
	if err != nil {
		return jobs, runs, nil, err
	}
	found, err := s.foreign(targets)
	return jobs, runs, found, err
}

// resolveAndRun runs the generators of a request.
func resolveAndRun(
	ctx context.Context, r Request, files *overlay.Project, p *scaffold.Plan,
) (jobs *request.Jobs, runs []output.Run, err error) {
	if jobs, err = request.Resolve(r, p); err != nil {
		return nil, nil, err
	}
	if runs, err = runAll(ctx, r, files, jobs); err != nil {
		return jobs, runs, suggestPinned(jobs, err)
	}
	return jobs, runs, check(jobs, runs, p)
}

// runAll runs all jobs, after it has validated them all.
func runAll(ctx context.Context, r Request, files *overlay.Project, jobs *request.Jobs) ([]output.Run, error) {
	if err := r.Validate(files); err != nil {
		return nil, err
	}
	for _, job := range jobs.List {
		if err := job.Validate(files); err != nil {
			return nil, job.In(err)
		}
	}
	runJob := runner(runIn)
	if version, ok := jobs.OtherTools(); ok {
		if r.HeaderFile != "" || r.Year != "" {
			return nil, fault.Usage("write the header to the arguments in PROJECT", "--header-file and --year apply only to the version of controller-tools in operon")
		}
		tools, err := othertools.New(ctx, version, files)
		if err != nil {
			return nil, err
		}
		runJob = tools.Run
	}
	made, err := runFirst(ctx, files, jobs, runJob)
	if err != nil {
		return nil, err
	}
	var runs []output.Run
	for i, job := range jobs.List {
		result := made[i]
		if _, others := job.Split(request.ApplyConfigurations); others != nil {
			if result, err = runJob(ctx, files, others); err != nil {
				return nil, job.In(err)
			}
			if made[i] != nil {
				result = together(result, made[i].Outputs, job.Headers(files))
			}
		}
		runs = append(runs, output.Run{Job: job, Result: result})
	}
	return runs, nil
}

// runFirst generates the apply configurations of all jobs, which controllers import. The result of a job
// without any is nil.
func runFirst(ctx context.Context, files *overlay.Project, jobs *request.Jobs, runJob runner) ([]*output.Result, error) {
	made := make([]*output.Result, len(jobs.List))
	for i, job := range jobs.List {
		part, _ := job.Split(request.ApplyConfigurations)
		if part == nil {
			continue
		}
		var err error
		if made[i], err = runJob(ctx, files, part); err != nil {
			return nil, job.In(err)
		}
		if err := addSources(files, made[i].Outputs); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// runner runs the generators of a job.
type runner func(context.Context, *overlay.Project, *request.Job) (*output.Result, error)

// together adds outputs, which depend on the sources of a result and on header files, to the result.
func together(res *output.Result, outputs []generate.Output, headers []string) *output.Result {
	res.Outputs = append(res.Outputs, outputs...)
	if inputs := res.Inputs; inputs != nil {
		res.Inputs = func() ([]string, bool) {
			paths, ok := inputs()
			return append(slices.Clone(paths), headers...), ok
		}
	}
	return res
}

// addSources makes outputs that differ from the disk part of the sources.
func addSources(files *overlay.Project, outputs []generate.Output) error {
	for _, o := range outputs {
		name := filepath.Join(files.Dir, filepath.FromSlash(o.Path))
		have, err := files.Read(name)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case err != nil || !bytes.Equal(have, o.Content):
			files.Changed[name] = o.Content
		}
	}
	return nil
}

// runIn runs the generators of a job in this process: either the generator of apply configurations, or others.
func runIn(ctx context.Context, files *overlay.Project, job *request.Job) (*output.Result, error) {
	if options, ok := job.Generators[0].Gen.(request.ApplyConfiguration); ok {
		return applyconfig.Run(ctx, files, job, options)
	}
	return run(ctx, files, job)
}

// The ways to load packages, the fastest first.
const (
	WayFolders = "folders" // the folders of the project, and an earlier listing of its dependencies
	WayList    = "listing" // one listing by the go command
	WayLoader  = "loader"  // the loader of controller-tools alone
)

// run loads packages and generates, in the first of three ways that gives an exact
// result. The first two load only what changed since the last run. They report errors in
// the sources and leave all other errors to the loader.
func run(ctx context.Context, files *overlay.Project, job *request.Job) (*output.Result, error) {
	progress.From(ctx)("listing packages", 0, 0)
	query, err := load.NewQuery(ctx, files, job.Paths, job.Environ)
	if err != nil {
		return nil, err
	}
	query.Program = job.Program
	var declined []output.Declined
	for _, way := range []struct {
		name string
		list func(context.Context, *load.Query, *store.Store) (*golist.Graph, error)
	}{{WayFolders, listing.FromFolders}, {WayList, listing.FromGo}} {
		res, err := runListed(ctx, query, job, way.list)
		if inexact, ok := errors.AsType[golist.Inexact](err); ok {
			declined = append(declined, output.Declined{Way: way.name, Reason: string(inexact)})
			continue
		}
		if err == nil {
			res.Way, res.Declined = way.name, declined
		}
		return res, err
	}
	progress.From(ctx)("loading packages", 0, 0)
	res, err := runAllPackages(ctx, files, job, query)
	if err != nil {
		return nil, err
	}
	res.Way, res.Declined = WayLoader, declined
	for _, dir := range query.Nested() {
		res.Warnings = append(res.Warnings, scaffold.Warning{File: dir + "/go.mod", Rule: "nested-module",
			Message: "paths also reach this module, and so its kinds and permissions become part of the project: add ./" + dir + "/... to paths, or leave the folder out of them"})
	}
	return res, nil
}

// runListed generates for the packages of a listing that changed since the last run.
func runListed(ctx context.Context, q *load.Query, job *request.Job,
	list func(context.Context, *load.Query, *store.Store) (*golist.Graph, error)) (*output.Result, error) {
	g, err := list(ctx, q, job.Store)
	if err != nil {
		return nil, err
	}
	return incremental.Generate(ctx, q, job, g)
}

// runAllPackages generates for all packages, as the loader loads them.
func runAllPackages(ctx context.Context, files *overlay.Project, job *request.Job, query *load.Query) (*output.Result, error) {
	set, err := query.Load(ctx)
	if err != nil {
		return nil, err
	}
	result, err := generate.Run(ctx, generate.Task{Set: set}, job.Generators, files)
	if err != nil {
		return nil, err
	}
	res := output.Of(set, result, files)
	res.Inputs = func() ([]string, bool) { return query.InputsOf(set, job.Headers(files)) }
	return res, nil
}
