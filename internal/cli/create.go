package cli

import (
	"context"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

func newCreate(a *App) *cobra.Command {
	return newGroup("create", "Add to a project", newCreateAPI(a), newCreateWebhook(a), newCreateHook(a), newCreateModule(a))
}

// creation is what the create commands have in common: a resource, and what is to
// be made of it.
type creation struct {
	writeFlags
	foreign  foreignFlags
	resource project.Resource
	make     bool

	cmd     *cobra.Command
	options *options
}

// create records a resource in PROJECT, and plans the parts of it that the command
// asks for. complete returns both: the resource with all that it has then, and
// reduced to what is asked for.
func (o *creation) create(a *App, kind plugin.Kind, complete func(context.Context, session) (whole, asked project.Resource, err error)) error {
	err := a.inProject(o.cmd, o.writeFlags, func(ctx context.Context, s session) error {
		whole, asked, err := complete(ctx, s)
		if err != nil {
			return err
		}
		t, err := a.team(s, o.options)
		if err != nil {
			return err
		}
		s.cfg.Put(whole)
		if err := t.send(ctx, kind, &asked); err != nil || !o.make {
			return err
		}
		return t.generate(ctx)
	})
	if err == nil && !o.dryRun && !o.make {
		a.note("note: nothing was generated (--make=false); run `operon generate`")
	}
	return err
}

// wizard asks for the names that were not given. It is nil where nobody is there
// to answer.
func (o *creation) wizard(a *App) (*wizard, error) {
	missing := checkNamed(o.resource)
	if a.Prompt == nil {
		return nil, missing
	}
	w := &wizard{app: a, cmd: o.cmd}
	if missing == nil {
		return w, nil
	}
	return w, w.names(&o.resource)
}

// team are the plugins of a project, and what every event of one command says.
type team struct {
	session
	active  plugin.Set
	options map[string]any
	year    string
	cache   string // see cacheDir
	path    string // where programs are, as in PATH
}

// team selects the plugins of the project and reads the options that the user
// gave them.
func (a *App) team(s session, o *options) (*team, error) {
	active, unknown, err := a.Layouts.Select(s.cfg.Layout)
	if err != nil {
		return nil, err
	}
	warnUnknown(s.plan, unknown)
	t := &team{session: s, active: active, path: a.getenv("PATH")}
	if t.options, err = o.given(active); err != nil {
		return nil, err
	}
	if t.year, err = a.year(); err != nil {
		return nil, err
	}
	if t.cache, err = a.cacheDir(); err != nil {
		return nil, err
	}
	t.options["this-year"] = t.year
	return t, nil
}

// send plans an event about r.
func (t *team) send(ctx context.Context, kind plugin.Kind, r *project.Resource) error {
	e := plugin.Event{Kind: kind, Dir: t.root, Project: t.cfg, Resource: r, Options: t.options}
	return t.active.Plan(ctx, e, t.plan)
}

// generate plans what follows from the sources.
func (t *team) generate(ctx context.Context) error {
	e := plugin.Event{Kind: plugin.Generate, Dir: t.root, Project: t.cfg, Options: map[string]any{"this-year": t.year, "cache": t.cache, "path": t.path}}
	return t.active.Plan(ctx, e, t.plan)
}
