// Package gen runs the generators of controller-tools (deepcopy code, CRDs, RBAC
// roles, webhook configurations) in this process. It reads the sources from a plan
// and adds the outputs to the same plan. A kind that exists only in the plan
// therefore gets its CRD at once. The outputs are, byte for byte, those of
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
// Package [incremental] limits the second and the third step to the packages that
// changed since the last run.
//
// Two inputs are not part of the request. As in controller-gen, plurals depend on
// inflections.json and acronyms.json in the working folder of the process. The libraries also start the go command in PATH, with the environment
// of the process. gen does not download modules and does not write to the project.
package gen

import (
	"context"
	"time"

	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/incremental"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Request defines what to generate.
type Request = request.Request

// Problems are all errors in the sources that a run found.
type Problems = load.Problems

// Plan runs the generators of r and adds their outputs and warnings to p. On an error
// it adds nothing. The error for invalid arguments has exit code 2. The error for
// invalid sources is [Problems], with exit code 1.
func Plan(ctx context.Context, r Request, p *scaffold.Plan) error {
	job, err := request.Resolve(r, p)
	if err != nil {
		return err
	}
	files, err := overlay.New(r.Dir, p)
	if err != nil {
		return err
	}
	defer files.Close()
	if err := job.Validate(r, files); err != nil {
		return err
	}
	res, err := run(ctx, files, job)
	if err := checkMakefile(ctx, r, files, p, res, err); err != nil {
		return err
	}
	return res.AddTo(p, job, files)
}

// run loads packages and generates, in the first of three ways that gives an exact
// result: from the record of the last run, from one listing by the go command, or
// with the loader alone. The first two load only what changed since the last run.
// They report errors in the sources and leave all other errors to the loader.
func run(ctx context.Context, files *overlay.Project, job *request.Job) (*output.Result, error) {
	start := time.Now()
	history := incremental.Open(job.Store, files, job)
	if res, ok, err := history.Resume(ctx, files, job); ok || err != nil {
		return res, err
	}
	progress.From(ctx)("listing packages", 0, 0)
	query, err := load.NewQuery(ctx, files, job.Paths)
	if err != nil {
		return nil, err
	}
	if res, ok, err := history.List(ctx, query, job, start); ok || err != nil {
		return res, err
	}
	progress.From(ctx)("loading packages", 0, 0)
	set, err := query.Load(ctx)
	if err != nil {
		return nil, err
	}
	result, err := generate.Run(ctx, generate.Task{Set: set}, job.Generators, files)
	if err != nil {
		return nil, err
	}
	return output.Of(set, result.Outputs, files), nil
}
