package golang

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
)

// generators in the order in which the options name them. All but object write
// manifests.
var generators = []string{"crd", "rbac", "webhook", "object"}

// generateOptions are the flags of the commands that generate.
func generateOptions() []plugin.Option {
	events := []plugin.EventType{plugin.Generate}
	return []plugin.Option{
		{Name: "only", Default: []string{}, Usage: "generators to run: crd, rbac, webhook or object", Values: generators, Events: events},
		{Name: "paths", Default: []string{}, Usage: "packages to read, relative to the project root (default ./...)", Events: events},
		{Name: "header-file", Default: "", Usage: "file with the header of generated Go files", Events: events},
		{Name: "year", Default: "", Usage: `text that replaces " YEAR" in the header file`, Events: events},
	}
}

// generate derives deepcopy code and manifests from the project's sources as
// the plan has them.
func generate(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	text, err := header.Raw(p)
	if err != nil {
		return err
	}
	kept := store.Open(e.Environment.CacheDir)
	r := gen.Request{
		Dir: e.Dir, Project: e.Project,
		Args: e.Args, Only: e.Strings("only"), Paths: e.Strings("paths"),
		HeaderFile: e.String("header-file"), Year: e.String("year"), ThisYear: header.Year(text, e, p),
		Store: kept,
	}
	if e.ManifestsOnly {
		if slices.Contains(r.Only, "object") {
			return fault.Usage("use operon generate --only object", "operon manifests does not generate Go code, as --only object would")
		}
		if len(r.Only) == 0 {
			r.Only = generators[:3]
		}
	}
	if err := gen.Plan(ctx, r, p); err != nil {
		return modules.WithFetchHint(e.Project, p, err)
	}
	if err := kept.Err(); err != nil {
		p.Warn(scaffold.Warning{Rule: "nothing-kept", Message: "the cache cannot be written, so the next run will not be faster: " + err.Error()})
	}
	if e.ManifestsOnly || len(r.Args)+len(r.Only)+len(r.Paths) > 0 {
		return nil // who asks for a part is told about that part
	}
	return checkWiring(e.Project, p)
}
