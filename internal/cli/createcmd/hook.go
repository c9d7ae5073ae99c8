package createcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// createHook holds the flags of `operon create hook`.
type createHook struct {
	creation
}

func newCreateHook(a *command.App) *cobra.Command {
	o := &createHook{}
	cmd := &cobra.Command{
		Use:   "hook NAME",
		Short: "Add a hook with a test for each binding",
		Long: `Add a hook: a script with the configuration that the flags describe, a function
for each of its bindings, and a test for each function. The tests pass, except
tests of conversions between versions with different schemas. operon generates
the roles in config/rbac again, and configures webhooks when the first hook
needs them. All hooks run with --config for the roles, also with --dry-run.

In a module project, the hook belongs to --module or is a global hook. It
can run at steps of the engine's work, such as --before-helm. Such hooks have no
webhooks, and operon generates no roles for them.

Flags that select objects, groups or queues apply to all bindings. With the name
of a binding in front, as in --namespace source:default, they apply only to that
binding. The default name of a binding is the plural of its kind, such as
secrets; the default name of a schedule is tick.`,
		Example: `  # Run a hook for each Secret with a label
  operon create hook secrets --on kubernetes:Secret --selector app=web

  # Use named bindings in one group
  operon create hook secret-copier --group main \
    --on kubernetes:source:Secret,namespaces:Namespace \
    --namespace source:default --name source:mysecret \
    --jq 'namespaces:.metadata.labels'

  # Run a hook every minute, with a snapshot of the nodes
  operon create hook node-ping --schedule '* * * * *' \
    --on kubernetes:Node --events none --jq .status.addresses

  # In a module project, run hooks before one chart and before all charts
  operon create hook certificates --module cert-issuer --before-helm 10 \
    --on kubernetes:Secret
  operon create hook domain --before-all 10

  # Add webhooks
  operon create hook guard --validate CronTab --mutate CronTab
  operon create hook convert --crd CronTab \
    --convert v1alpha1:v1 --convert v1:v1alpha1`,
		Args: hookNameOnly, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	o.bind(a, cmd, plugin.CreateHook, "the roles")
	o.complete(a)
	command.GroupFlags(cmd, "Other flags",
		command.FlagGroup{Title: "When the hook runs", Flags: []string{"on", "schedule", "startup", "validate", "mutate", "convert", "crd"}},
		command.FlagGroup{Title: "Which objects it gets", Flags: []string{"namespace", "name", "selector", "field-selector", "events", "jq"}},
		command.FlagGroup{Title: "Groups and queues", Flags: []string{"group", "queue"}},
		command.FlagGroup{Title: "In a module project", Flags: []string{
			"module", "before-helm", "after-helm", "before-delete-helm", "after-delete-helm", "before-all", "after-all",
		}},
	)
	return cmd
}

// hookNameOnly accepts at most one argument. Without an argument, create hook prompts for
// the name.
func hookNameOnly(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fault.Usage("add one hook at a time; quote values that contain spaces", "%s needs one name, got %q", cmd.CommandPath(), args[1])
	}
	return nil
}

func (o *createHook) run(a *command.App, args []string) error {
	var err error
	if o.project, err = a.OpenProject(); err != nil {
		return err
	}
	cfg := o.project.Config
	if !a.HasHooks(cfg) && !a.HasModules(cfg) {
		adds := "controllers"
		if a.HasCharts(cfg) {
			adds = "charts"
		}
		return fault.Usage("start one with operon init --plugins shell; here, operon create api adds "+adds,
			"create hook needs a hook or module project; the layout of this project is %s", strings.Join(cfg.Layout, ","))
	}
	if a.HasModules(cfg) && o.cmd.Flags().Changed("make") {
		return fault.Usage("remove the flag", "--make generates roles, which you write by hand in a module project")
	}
	name := ""
	if len(args) == 1 {
		name = args[0]
	}
	if name, err = o.ask(a, name, a.HasModules(cfg)); err != nil {
		return err
	}
	err = a.ChangeProject(o.cmd, o.project, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		return o.send(ctx, a, s, plugin.Event{Type: plugin.CreateHook, Name: name})
	})
	if err != nil {
		return err
	}
	a.NextStep("fill in the functions of the hook, then make test")
	return nil
}

// ask prompts for the name and the first binding. It does not prompt in a project of
// modules, which has too many kinds of bindings.
func (o *createHook) ask(a *command.App, name string, modules bool) (string, error) {
	bound := slices.ContainsFunc([]string{"startup", "on", "schedule", "validate", "mutate", "convert"}, o.cmd.Flags().Changed)
	if a.Prompt == nil || name != "" && bound || modules {
		return name, nil
	}
	ctx := o.cmd.Context()
	var err error
	if name == "" {
		if name, err = a.Prompt.Input(ctx, "Hook name?", "", project.CheckHookName); err != nil {
			return "", err
		}
	}
	if !bound {
		kind, err := a.Prompt.Input(ctx, "Kind of the objects that trigger the hook?", "", func(kind string) error { return checkHookKind(a, kind) })
		if err != nil {
			return "", err
		}
		if err := o.cmd.Flags().Set("on", "kubernetes:"+kind); err != nil {
			return "", err
		}
	}
	a.Notef("equivalent command: %s %s", o.cmd.CommandPath(), shellquote.Join(append([]string{name}, command.ChangedFlags(o.cmd)...)...))
	return name, nil
}
