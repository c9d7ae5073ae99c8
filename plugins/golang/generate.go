package golang

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/operon-dev/operon/plugins/golang/internal/namespacedroles"
)

// generators are the values of --only. make manifests runs the first ones.
var generators = []string{"crd", "rbac", "webhook", request.ApplyConfigurations, "object", "schemapatch"}

// generateOptions returns the flags of the commands that generate.
func generateOptions() []plugin.Option {
	events := []plugin.EventType{plugin.Generate}
	return []plugin.Option{
		{Name: "only", Default: []string{}, Usage: "generators to run: crd, rbac, webhook, applyconfiguration, object or schemapatch", Values: generators, Events: events},
		{Name: "paths", Default: []string{}, Usage: "packages to read, relative to the project root (default ./...)", Events: events},
		{Name: "header-file", Default: "", Usage: "file with the header of generated Go files", Events: events},
		{Name: "controller-tools", Default: "", Usage: "version of controller-tools to use from now on: operon (built in), or vX.Y.Z (run with go run)", Events: events},
		{Name: "replace", Default: []string{}, Usage: "files or folders that are out of date: write them although operon did not write what they have", Events: events},
		{Name: "keep", Default: []string{}, Usage: "files or folders that operon never writes", Events: events},
		{Name: "after", Default: []string{}, Verbatim: true, Usage: "FILE=COMMAND that changes a file or folder after the generators, in a copy of the project", Events: events},
		{Name: "run-make", Default: false, Usage: "run make generate manifests in a copy of the project, and say what it does with files that operon did not write", Events: events},
		{Name: "year", Default: "", Usage: `text that replaces " YEAR" in the header file`, Events: events},
	}
}

// generate plans deepcopy code and manifests, which it derives from the sources in the
// plan.
func generate(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	if err := modules.CheckVendor(e, p); err != nil {
		return err
	}
	text, err := header.Raw(p)
	if err != nil {
		return err
	}
	cache := store.Open(e.Environment.CacheDir)
	r := gen.Request{
		Dir: e.Dir, Project: e.Project,
		Args: e.Args, Only: e.Strings("only"), Paths: e.Strings("paths"),
		HeaderFile: e.String("header-file"), Year: e.String("year"), ThisYear: header.Year(text, e, p),
		Environ: e.Environment.Environ, Program: e.Environment.Program, Store: cache,
		Foreign: foreignPolicy(e), RunMake: e.Bool("run-make"), Allow: e.Environment.Allow,
	}
	if e.ManifestsOnly {
		if slices.Contains(r.Only, "object") {
			return fault.Usage("use operon generate --only object", "operon manifests does not generate Go code, as --only object would")
		}
		if len(r.Only) == 0 {
			r.Only = generators[:4]
		}
	}
	if tools := e.String("controller-tools"); tools != "" {
		if err := request.ValidTools(tools); err != nil {
			return fault.In("--controller-tools", err)
		}
		e.Project.SetPluginKey(request.ConfigKey, request.ToolsKey, tools)
	}
	if r.Decided, err = decide(e); err != nil {
		return err
	}
	if e.Explain != nil {
		return explain(ctx, r, p, e.Explain)
	}
	if err := gen.Plan(ctx, r, p); err != nil {
		return err
	}
	if err := namespacedroles.Plan(e.Project, p); err != nil {
		return err
	}
	if err := cache.Err(); err != nil {
		p.Warn(scaffold.Warning{Rule: "nothing-kept", Message: "the cache cannot be written, so the next run will not be faster (set OPERON_CACHE to another folder, or to off): " + err.Error()})
	}
	if e.ManifestsOnly || len(r.Args)+len(r.Only)+len(r.Paths) > 0 {
		return nil // a partial run does not check the whole project
	}
	return manager.Check(e.Project, p)
}

func foreignPolicy(e plugin.Event) request.ForeignPolicy {
	switch {
	case e.Compare:
		return request.Overwrite
	case e.Whole:
		return request.Refuse
	}
	return request.Add
}

// decide records in PROJECT what the flags say about files that operon did not write, and returns their paths.
func decide(e plugin.Event) (decided []string, err error) {
	found, err := request.DecisionsOf(e.Project)
	if err != nil {
		return nil, err
	}
	add := func(name string, d request.Decision) {
		name = path.Clean(name)
		switch earlier := found[name]; {
		case !slices.Contains(decided, name):
			decided = append(decided, name)
		case earlier.Word != d.Word: // one of them is empty, or they are replace and keep
			err = fault.Usage("use one of --replace, --keep and --after", "two flags decide about %s", name)
		default: // --after names a file for each of its commands
			d.After = append(slices.Clone(earlier.After), d.After...)
		}
		found[name] = d
	}
	for _, name := range e.Strings("replace") {
		add(name, request.Decision{Word: request.Replace})
	}
	for _, name := range e.Strings("keep") {
		add(name, request.Decision{Word: request.Keep})
	}
	for _, text := range e.Strings("after") {
		name, command, ok := strings.Cut(text, "=")
		if !ok || strings.TrimSpace(command) == "" || name == "" {
			return nil, fault.Usage("write --after 'config/rbac/role.yaml=./hack/notice.sh config/rbac/role.yaml'", "--after %s has no file and command", text)
		}
		add(name, request.Decision{After: []string{command}})
	}
	if err != nil || len(decided) == 0 {
		return nil, err
	}
	value := found.Value()
	if _, err := request.ParseDecisions(value); err != nil {
		return nil, err
	}
	e.Project.SetPluginKey(request.ConfigKey, request.FilesKey, value)
	return decided, nil
}

// explain fills in what a request runs, and how. On an error, what is known so far is filled in.
func explain(ctx context.Context, r gen.Request, p *scaffold.Plan, into *plugin.Explanation) error {
	jobs, runs, found, err := gen.Explain(ctx, r, p)
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
		into.Ignored = append(into.Ignored, plugin.IgnoredCall{From: s.From, Reason: s.Reason})
	}
	for _, c := range jobs.Unclear {
		into.Unclear = append(into.Unclear, plugin.IgnoredCall{From: c.At(), Reason: c.Unclear})
	}
	for _, f := range found {
		into.Foreign = append(into.Foreign, plugin.ForeignFile{Path: f.Path, Line: f.Line, Differs: f.Differs()})
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
