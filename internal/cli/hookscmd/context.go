package hookscmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/event"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/input"
	"github.com/spf13/cobra"
)

// contextOptions holds the flags of operon hooks context.
type contextOptions struct {
	folder  string
	event   event.Event
	timeout time.Duration
}

func newContext(a *command.App) *cobra.Command {
	o := &contextOptions{}
	cmd := &cobra.Command{
		Use:   "context <hook>",
		Short: "Print the binding context that a hook gets for an event",
		Long: `Print the binding context, the JSON that the engine passes to a hook for an
event, with selectors, jqFilter, groups and snapshots applied. Objects come from
files; the command does not contact a cluster. It runs the hook with --config.

Name a hook of an addon-operator by its path, such as
modules/010-web/hooks/nodes.sh, or by the last part of that if it is unique.

--given names the objects in the cluster, for snapshots and synchronization. The
exit code is 1 if the engine would not run the hook for the event, or if an API
server would not call the webhook; matchConditions are not evaluated. An
object that an API server would reject is an error.

docs/binding-contexts.md describes the format.`,
		Example: `  operon hooks context copy.sh --event Added --object secret.yaml \
    --given cluster/
  operon hooks context policy.sh --event validating --operation UPDATE \
    --object new.yaml --old-object old.yaml
  export BINDING_CONTEXT_PATH=context.json KUBERNETES_PATCH_PATH=/dev/stdout
  operon hooks context copy.sh --event sync >context.json && hooks/copy.sh`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.print(cmd.Context(), a, args) },
	}
	f, e := cmd.Flags(), &o.event
	f.StringVar(&e.Type, "event", "", "type of the event: "+strings.Join(event.Types(), ", "))
	f.StringVar(&e.Binding, "binding", "", "name of the binding (default: the only one that fits)")
	f.StringArrayVar(&e.Objects, "object", nil, "`file` with the object of the event; several for a conversion")
	f.StringVar(&e.Old, "old-object", "", "`file` with the object before it was modified")
	f.StringArrayVar(&e.Given, "given", nil, "`file` or folder with the objects in the cluster")
	f.StringVar(&e.Operation, "operation", "", "operation of an admission request: CREATE, UPDATE, DELETE or CONNECT (default: derived from the objects)")
	f.StringVar(&e.From, "from", "", "version to convert from (default: the version of the only rule)")
	f.StringVar(&e.To, "to", "", "version to convert to")
	bindCRDs(cmd, &e.CRDs)
	bindHooksFolder(cmd, &o.folder)
	bindConfigTimeout(cmd, &o.timeout)
	o.complete(a, cmd)
	return cmd
}

func (o *contextOptions) print(ctx context.Context, a *command.App, args []string) error {
	if len(args) != 1 {
		return fault.Usage("for example: operon hooks context copy.sh --event sync", "operon hooks context needs the name of one hook, got %d", len(args))
	}
	if err := o.event.Validate(); err != nil {
		return err
	}
	if err := checkTimeout(o.timeout, "10s"); err != nil {
		return err
	}
	if err := o.enterProject(a, args); err != nil {
		return err
	}
	found, err := hookproject.Find(a.Dir, o.folder)
	if err != nil {
		return err
	}
	named, err := found.Named(a.Dir, args[0])
	if err != nil {
		return err
	}
	load := loader(a, o.timeout)
	hook, err := load.Load(ctx, found, named)
	if err != nil {
		return err
	}
	e := o.event
	e.WorkDir, e.HooksDir = a.Dir, hookproject.Abs(a.Dir, o.folder)
	made, err := e.Context(hook, func() ([]engine.Hook, error) { return load.LoadAll(ctx, found) })
	if notRun := (*binding.NotRunError)(nil); errors.As(err, &notRun) {
		return fmt.Errorf("the engine would not run %s: %w", args[0], err)
	}
	if err != nil {
		return err
	}
	return command.PrintJSON(a.Out, []binding.Context{made})
}

// enterProject makes the project root the working folder, unless --hooks is set.
func (o *contextOptions) enterProject(a *command.App, args []string) error {
	if o.folder != defaultFolder {
		return nil
	}
	paths := append(pointers(o.event.Objects, o.event.Given, o.event.CRDs), &o.event.Old)
	if _, err := os.Stat(hookproject.Abs(a.Dir, args[0])); err == nil { // a path, not the name of a hook
		paths = append(paths, &args[0])
	}
	return enterProject(a, paths...)
}

// complete completes hooks. After a hook, it completes the bindings, events and
// conversion versions of that hook.
func (o *contextOptions) complete(a *command.App, cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []string
		if found, err := hookproject.Find(a.Dir, o.folder); err == nil && len(args) == 0 {
			names = found.Names()
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	completeFromHook := func(flag string, values func(*config.Config) []string) {
		command.CompleteFlag(cmd, flag, func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return values(o.configFromText(a, args)), cobra.ShellCompDirectiveNoFileComp
		})
	}
	completeFromHook("event", event.TypesFor)
	completeFromHook("binding", func(c *config.Config) []string { return event.BindingsFor(c, o.event.Type) })
	completeFromHook("from", func(c *config.Config) []string { from, _ := event.VersionsFor(c, o.event.Binding); return from })
	completeFromHook("to", func(c *config.Config) []string { _, to := event.VersionsFor(c, o.event.Binding); return to })
	command.CompleteValues(cmd, "operation", "CREATE", "UPDATE", "DELETE", "CONNECT")
}

// configFromText returns the configuration that the text of the named hook contains, or
// nil. Completion does not run hooks, because they may be slow.
func (o *contextOptions) configFromText(a *command.App, args []string) *config.Config {
	found, err := hookproject.Find(a.Dir, o.folder)
	if err != nil || len(args) == 0 {
		return nil
	}
	hook, err := found.Named(a.Dir, args[0])
	if err != nil {
		return nil
	}
	text, err := input.ReadFile(hook.Path, input.Text)
	if err != nil {
		return nil
	}
	return config.FromScript(text)
}
