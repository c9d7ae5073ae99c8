package hookscmd

import (
	"context"
	"errors"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/hooks/shelloperator"
	"github.com/spf13/cobra"
)

// start runs the hooks, and adds markers for their requests if the user asks for it, also if shell-operator fails.
func (o *runOptions) start(cmd *cobra.Command, a *command.App) error {
	if !o.record && (o.dryRun || o.diff) {
		return fault.Usage("add --record", "--dry-run and --diff need --record: otherwise the command writes nothing")
	}
	err := o.run(cmd.Context(), a)
	if o.requests == nil {
		return err
	}
	cmd.SetContext(context.WithoutCancel(cmd.Context())) // the user has stopped the hooks, not the command
	return errors.Join(err, o.addMarkers(cmd, a))
}

// untilStopped runs the hooks until ctx ends. With --record, it keeps their requests.
func (o *runOptions) untilStopped(ctx context.Context, a *command.App, l hooksLoop, loaded []*config.Config) error {
	if !o.record {
		return l.run(ctx, loaded)
	}
	if _, err := o.withoutRule(ctx, a); err != nil { // such as an invalid marker, which would be an error at the end
		return err
	}
	recorder, err := shelloperator.NewRecorder(l.program.Cluster, l.program.Home, l.program.Hooks)
	if err != nil {
		return err
	}
	defer recorder.Close()
	l.program.Recorder = recorder
	err = l.run(ctx, loaded)
	o.requests = recorder.Requests(ctx, l.program.Warn)
	return err
}

// addMarkers adds markers for the requests that no rule of their hook allows.
func (o *runOptions) addMarkers(cmd *cobra.Command, a *command.App) error {
	missing, err := o.withoutRule(cmd.Context(), a)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		a.Notef("the rules of the hooks allow all requests that the hooks sent")
		return nil
	}
	changes, err := addMarkers(cmd, a, o.folder, missing, command.WriteFlags{Output: command.FormatText, DryRun: o.dryRun, Diff: o.diff})
	if len(changes) > 0 {
		a.NextStep("operon generate")
	}
	return err
}

// withoutRule returns the requests that no rule of their hook allows, by hook.
func (o *runOptions) withoutRule(ctx context.Context, a *command.App) (map[string][]rbac.Request, error) {
	found, err := hookproject.Find(a.Dir, o.folder)
	if err != nil {
		return nil, err
	}
	all, err := loader(a, o.timeout).LoadAll(ctx, found)
	if err != nil {
		return nil, err
	}
	root, namespace := hookproject.Root(found.Root), ""
	cfg, webhooks, err := projectAround(a, root)
	if err != nil {
		return nil, err
	}
	if cfg != nil {
		namespace = cfg.Namespace()
	}
	roles, err := hookproject.HookRoles(root, found.Root, all,
		hookproject.RoleOptions{WorkDir: a.Dir, Webhooks: webhooks, Namespace: namespace})
	if err != nil {
		return nil, err
	}
	missing := map[string][]rbac.Request{}
	for hook, allowed := range roles { // other hooks are gone, or invalid since the user edited them
		for _, r := range o.requests[hook] {
			if !allowed.Allows(r, namespace) {
				missing[hook] = append(missing[hook], r)
			}
		}
	}
	return missing, nil
}
