package hookscmd

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/roles"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// recordMarkers runs the tests with all permissions, and adds markers for the requests that no rule of their hook allows. It returns
// the changed hooks. The API server checks whether a hook may grant permissions only after a rule allows it to write roles, so the
// tests of such hooks run again.
func (o *testOptions) recordMarkers(cmd *cobra.Command, a *command.App, names []string, w command.WriteFlags) ([]scaffold.Change, error) {
	var all []scaffold.Change
	for {
		requests, err := o.refused(cmd.Context(), a, names)
		if err != nil {
			return nil, err
		}
		changes, err := addMarkers(cmd, a, o.folder, requests, w)
		all = append(all, changes...)
		grants := slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(requests))...), rbac.Request.MayGrant)
		if err != nil || len(changes) == 0 || w.DryRun || !grants {
			return all, err
		}
	}
}

// refused runs the tests with all permissions. It returns the requests that no rule allows, by hook.
func (o *testOptions) refused(ctx context.Context, a *command.App, names []string) (map[string][]rbac.Request, error) {
	recorder := *o
	recorder.record = true
	_, outcomes, err := recorder.runTests(ctx, a, recorder.project(a), names)
	all := map[string][]rbac.Request{}
	for _, each := range outcomes {
		if !each.Passed() {
			a.Warnf("%s: the test %q fails, so its hook may need more markers", each.Test.File.Path, each.Test.Name)
		}
		for hook, requests := range each.Requests {
			all[hook] = append(all[hook], requests.Refused...)
		}
	}
	return all, err
}

// addMarkers adds markers for requests of the hooks in a folder, and returns the changed hooks.
func addMarkers(
	cmd *cobra.Command, a *command.App, hooks string, requests map[string][]rbac.Request, w command.WriteFlags,
) ([]scaffold.Change, error) {
	dir, err := hookproject.Folder(a.Dir, hooks)
	if err != nil {
		return nil, err
	}
	root := hookproject.Root(dir)
	folder, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, fault.In("find the hooks", err)
	}
	w.ChangesOnly = true
	if w.Output != command.FormatText {
		w.Output, w.Report = command.FormatText, func(command.PlanReport) error { return nil }
	}
	var changes []scaffold.Change
	err = a.WritePlan(cmd, root, w, func(_ context.Context, p *scaffold.Plan) error {
		if err := planMarkers(a, filepath.ToSlash(folder), requests, p); err != nil {
			return err
		}
		changes = command.ChangesToApply(p.Changes())
		return nil
	})
	return changes, err
}

// planMarkers plans the markers for requests of hooks. It prints those that it cannot add: where the comments of a language have
// another form, and where the hook would become able to grant any permission.
func planMarkers(a *command.App, folder string, requests map[string][]rbac.Request, p *scaffold.Plan) error {
	for _, hook := range slices.Sorted(maps.Keys(requests)) {
		file := path.Join(folder, hook)
		text, err := p.Read(file)
		if err != nil {
			return err
		}
		var addable []rbac.Request
		for _, r := range requests[hook] {
			switch {
			case r.NeedsChoice():
				a.NoteOnce("%s: add a marker by hand, because it lets the hook grant permissions: %s", file, r.Marker())
			case !rbac.HasMarkers(text):
				a.NoteOnce("%s: it is not a script with # comments; add the marker to a script in %s: %s", file, path.Join(folder, "lib"), r.Marker())
			default:
				addable = append(addable, r)
			}
		}
		if len(addable) == 0 {
			continue
		}
		err = p.Edit(file, func(text []byte) ([]byte, error) { return rbac.InsertMarkers(text, rbac.MarkersFor(addable)), nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// warnUnused warns about markers that no test needs. All tests must have run.
func (o *testOptions) warnUnused(a *command.App, outcomes []hooktest.Outcome) error {
	found, err := hookproject.Find(a.Dir, o.folder)
	if err != nil || found.Addon != nil {
		return err
	}
	cfg, _, err := projectAround(a, hookproject.Root(found.Root))
	if err != nil {
		return err
	}
	operator := ""
	if cfg != nil {
		operator = cfg.Namespace()
	}
	allowed := map[string][]rbac.Request{}
	for _, each := range outcomes {
		for hook, requests := range each.Requests {
			allowed[hook] = append(allowed[hook], requests.Allowed...)
		}
	}
	shown := filepath.ToSlash(found.Label)
	unused := func(s rbac.Source, hooks ...string) {
		markers, _ := rbac.Markers(s, nil)
		for _, m := range markers {
			used := slices.ContainsFunc(hooks, func(hook string) bool {
				return slices.ContainsFunc(allowed[hook], func(r rbac.Request) bool { return m.Allows(r, operator) })
			})
			if !used {
				a.Warnf("%s: no test needs this marker: %s; remove it, or add a test", roles.Place(m.File, m.Line), m.Text)
			}
		}
	}
	for _, h := range found.All {
		source, err := h.Source(shown)
		if err != nil {
			return fault.In("read the hook", err)
		}
		unused(source, h.Name)
	}
	library, err := hooks.Library(found.Root, found.All, shown)
	for _, s := range library {
		unused(s, found.Names()...)
	}
	return err
}
