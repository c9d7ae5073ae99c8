package createcmd

import (
	"context"
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
	command.WriteFlags
	lists   map[string]*[]string // by flag: what may be given several times
	startup string
	crd     string
	make    bool

	cmd     *cobra.Command
	options *command.PluginFlags
	names   HookNames
}

// hookLists are the flags that may be given several times, with their usage.
var hookLists = []struct{ name, usage string }{
	{"on", "run for objects, of `kubernetes:KIND`[,KIND...]; a kind may be NAME:KIND, and KIND any name of it, GROUP/VERSION/KIND, or as in deployments.apps"},
	{"schedule", "run at the times of a `CRONTAB`, such as '*/5 * * * *' or @hourly, or NAME:CRONTAB"},
	{"validate", "run before the API server stores an object of a `KIND`, to refuse it"},
	{"mutate", "run before that, to change an object of a `KIND`"},
	{"convert", "convert the objects of --crd between versions, `FROM:TO`"},
	{"namespace", "only objects of the namespaces `[BINDING:]NAME[,NAME...]`"},
	{"name", "only the objects of the names `[BINDING:]NAME[,NAME...]`"},
	{"selector", "only objects with labels, a `[BINDING:]SELECTOR` as for kubectl"},
	{"field-selector", "only objects with fields, a `[BINDING:]SELECTOR` as for kubectl"},
	{"jq", "tell the hook what this `[BINDING:]FILTER` of jq makes of an object, and run it when that changes"},
	{"events", "run for `[BINDING:]EVENTS`: Added, Modified, Deleted; or none, for a snapshot that other bindings look at"},
	{"group", "bindings with the same `[BINDING:]NAME` run the hook together, with the snapshots of all"},
	{"queue", "a queue of its own, `[BINDING:]NAME`, which does not wait for other hooks"},
}

func newCreateHook(a *command.App, names HookNames) *cobra.Command {
	o := &createHook{names: names, lists: map[string]*[]string{}}
	cmd := &cobra.Command{
		Use:   "hook NAME",
		Short: "Add a hook to a project of hooks",
		Long: `Add a hook that the engine runs: a script with the configuration that the flags
describe, a function for each of its bindings, and a test for each of these. The
tests pass, but for those of --convert between versions whose schemas differ:
they fail until the hook converts what is different. The roles in config/rbac
are derived anew, and the first hook with a webhook switches on what webhooks
need. In a project of modules it is a hook of --module or a global one, which
can have the steps of the engine's work, such as --before-helm, and no webhooks;
no roles are derived there.

A value with BINDING: before it is for the binding of that name, and one without
is for all of them. Bindings are called after the plural of their kind
(secrets), and schedules tick, unless they are given names.`,
		Example: `  # A hook that is run for each Secret with a label
  operon create hook secrets --on kubernetes:Secret --selector app=web

  # Bindings with names, in one group
  operon create hook secret-copier --group main \
    --on kubernetes:source:Secret,namespaces:Namespace \
    --namespace source:default --name source:mysecret \
    --jq 'namespaces:.metadata.labels'

  # Every minute, with the nodes at hand
  operon create hook node-ping --schedule '* * * * *' \
    --on kubernetes:Node --events none --jq .status.addresses

  # In a project of modules: before a chart is installed, and before all of them
  operon create hook certificates --module cert-issuer --before-helm 10 \
    --on kubernetes:Secret
  operon create hook domain --before-all 10

  # Webhooks
  operon create hook guard --validate CronTab --mutate CronTab
  operon create hook convert --crd CronTab \
    --convert v1alpha1:v1 --convert v1:v1alpha1`,
		Args: hookNameOnly, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	for _, l := range hookLists {
		o.lists[l.name] = f.StringArray(l.name, nil, l.usage)
	}
	f.StringVar(&o.startup, "startup", "", "run when the engine starts; the hook with the lower `ORDER` comes first")
	f.StringVar(&o.crd, "crd", "", "the CRD that --convert is for, by its name or `KIND` (default: the one with several versions)")
	f.BoolVar(&o.make, "make", true, "also derive the roles")
	f.BoolVar(&o.Force, "force", false, "replace files that differ (the old content is kept in .operon/journal)")
	o.Bind(cmd)
	o.options = command.BindPluginFlags(cmd, a.Layouts.All(), plugin.CreateHook)
	o.complete(a)
	command.GroupFlags(cmd, "Other flags",
		command.FlagGroup{Title: "What runs the hook", Flags: []string{"on", "schedule", "startup", "validate", "mutate", "convert", "crd"}},
		command.FlagGroup{Title: "Which objects, and what of them", Flags: []string{"namespace", "name", "selector", "field-selector", "events", "jq"}},
		command.FlagGroup{Title: "Groups and queues", Flags: []string{"group", "queue"}},
		command.FlagGroup{Title: "In a project of modules", Flags: []string{"module", "before-helm", "after-helm", "before-delete-helm", "after-delete-helm", "before-all", "after-all"}},
	)
	return cmd
}

// hookNameOnly refuses more than one argument. Without any, a person is asked.
func hookNameOnly(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fault.Usage("one hook at a time; values with blanks need quotes", "%s takes one name, got %q", cmd.CommandPath(), args[1])
	}
	return nil
}

func (o *createHook) run(a *command.App, args []string) error {
	cfg, err := a.ReadConfig()
	if err != nil {
		return err
	}
	if !a.HasHooks(cfg) && !a.HasModules(cfg) {
		return fault.Usage("start one with operon init --plugins shell; here, operon create api makes controllers",
			"create hook is for projects of hooks, and the layout of this one is %s", strings.Join(cfg.Layout, ","))
	}
	if a.HasModules(cfg) && o.cmd.Flags().Changed("make") {
		return fault.Usage("leave it out", "--make is about roles, which a project of modules writes by hand")
	}
	name := ""
	if len(args) == 1 {
		name = args[0]
	}
	if name, err = o.ask(a, name, a.HasModules(cfg)); err != nil {
		return err
	}
	err = a.InProject(o.cmd, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		t, err := a.NewInvocation(s, o.options)
		if err != nil {
			return err
		}
		t.Options["hook"], t.Options["startup"], t.Options["crd"] = name, o.startup, o.crd
		for flag, values := range o.lists {
			t.Options[flag] = *values
		}
		e := plugin.Event{Kind: plugin.CreateHook, Dir: t.Root, Project: t.Config, Options: t.Options}
		if err := t.Plugins.Plan(ctx, e, t.Plan); err != nil || !o.make {
			return err
		}
		return t.Generate(ctx, nil)
	})
	if err != nil || o.DryRun {
		return err
	}
	if !o.make {
		a.Notef("note: no roles were derived (--make=false); run `operon generate`")
	}
	a.NextStep("fill in the functions of the hook, then make test")
	return nil
}

// ask completes the name, and the first binding, from a person's answers; in a
// project of modules there is too much to choose from.
func (o *createHook) ask(a *command.App, name string, modules bool) (string, error) {
	bound := o.startup != ""
	for _, flag := range []string{"on", "schedule", "validate", "mutate", "convert"} {
		bound = bound || len(*o.lists[flag]) > 0
	}
	if a.Prompt == nil || name != "" && bound || modules {
		return name, nil
	}
	ctx := o.cmd.Context()
	var err error
	if name == "" {
		if name, err = a.Prompt.Input(ctx, "Name of the hook?", "", project.CheckHookName); err != nil {
			return "", err
		}
	}
	if !bound {
		kind, err := a.Prompt.Input(ctx, "Run it for objects of which kind?", "", func(kind string) error { return checkHookKind(a, kind) })
		if err != nil {
			return "", err
		}
		*o.lists["on"] = []string{"kubernetes:" + kind}
	}
	a.Notef("the same without questions: %s %s", o.cmd.CommandPath(), shellquote.Join(o.words(name)...))
	return name, nil
}

// words are the arguments that ask nothing.
func (o *createHook) words(name string) []string {
	words := []string{name}
	for _, l := range hookLists {
		for _, v := range *o.lists[l.name] {
			words = append(words, "--"+l.name, v)
		}
	}
	for _, flag := range command.ChangedFlags(o.cmd) {
		f, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if o.lists[f] == nil {
			words = append(words, flag)
		}
	}
	return words
}
