package golang

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// explain fills in what a request runs, and how. On an error, what is known so far is filled in.
func explain(ctx context.Context, r gen.Request, p *scaffold.Plan, into *plugin.Explanation) error {
	jobs, runs, err := gen.Explain(ctx, r, p)
	if jobs == nil {
		return err
	}
	for i, job := range jobs.List {
		call := plugin.ExplainedCall{From: job.Places, Args: job.Args, Outputs: []string{}, Declined: []plugin.DeclinedWay{}}
		if i < len(runs) {
			explainRun(runs[i], &call)
		}
		into.Calls = append(into.Calls, call)
	}
	for _, s := range jobs.Skipped {
		into.Ignored = append(into.Ignored, plugin.IgnoredCall(s))
	}
	for _, c := range jobs.Unclear {
		into.Unclear = append(into.Unclear, plugin.IgnoredCall{From: c.At(), Reason: c.Unclear})
	}
	explainTools(jobs, &into.ControllerTools)
	return err
}

// explainRun fills in what one run generated.
func explainRun(run output.Run, call *plugin.ExplainedCall) {
	folders := map[string]bool{}
	for _, o := range run.Sums() {
		folders[path.Dir(o.Path)] = true
		call.Files++
	}
	call.Outputs = slices.AppendSeq(call.Outputs, maps.Keys(folders))
	slices.Sort(call.Outputs)
	call.Way, call.Unrecorded = run.Way, run.Unrecorded
	for _, d := range run.Declined {
		call.Declined = append(call.Declined, plugin.DeclinedWay(d))
	}
}

// explainTools fills in the versions of controller-tools.
func explainTools(jobs *request.Jobs, into *plugin.ToolsVersion) {
	into.Runs, into.Choice = controllertools.Version(), jobs.Tools
	if version, ok := jobs.OtherTools(); ok {
		into.Runs = version
	}
	if pin := jobs.Pin(); pin.Version != "" {
		into.Pinned, into.From = pin.Version, fmt.Sprintf("%s:%d", pin.File, pin.Line)
	}
}
