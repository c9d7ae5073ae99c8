package golang

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
)

// generators are the values of --only. The first ones are those of make manifests.
var generators = []string{"crd", "rbac", "webhook", request.ApplyConfigurations, "object", "schemapatch"}

// generateOptions returns the flags of the commands that generate.
func generateOptions() []plugin.Option {
	events := []plugin.EventType{plugin.Generate}
	return []plugin.Option{
		{Name: "only", Default: []string{}, Usage: "generators to run: crd, rbac, webhook, applyconfiguration, object or schemapatch", Values: generators, Events: events},
		{Name: "paths", Default: []string{}, Usage: "packages to read, relative to the project root (default ./...)", Events: events},
		{Name: "header-file", Default: "", Usage: "file with the header of generated Go files", Events: events},
		{Name: "controller-tools", Default: "", Usage: "version of controller-tools that generates from now on: operon for the one in operon, or vX.Y.Z by go run", Events: events},
		{Name: "year", Default: "", Usage: `text that replaces " YEAR" in the header file`, Events: events},
	}
}

// generate plans deepcopy code and manifests, which it derives from the sources in the
// plan.
func generate(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	text, err := header.Raw(p)
	if err != nil {
		return err
	}
	cache := store.Open(e.Environment.CacheDir)
	r := gen.Request{
		Dir: e.Dir, Project: e.Project,
		Args: e.Args, Only: e.Strings("only"), Paths: e.Strings("paths"),
		HeaderFile: e.String("header-file"), Year: e.String("year"), ThisYear: header.Year(text, e, p),
		Store: cache,
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
	if e.Explain != nil {
		return explain(ctx, r, p, e.Explain)
	}
	if err := gen.Plan(ctx, r, p); err != nil {
		return err
	}
	if err := cache.Err(); err != nil {
		p.Warn(scaffold.Warning{Rule: "nothing-kept", Message: "the cache cannot be written, so the next run will not be faster (OPERON_CACHE is another folder, or off): " + err.Error()})
	}
	if e.ManifestsOnly || len(r.Args)+len(r.Only)+len(r.Paths) > 0 {
		return nil // a partial run does not check the whole project
	}
	return manager.Check(e.Project, p)
}
