package createcmd

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// values returns what the command line says so far for a flag that takes several.
func (o *createHook) values(flag string) []string {
	return o.cmd.Flags().Lookup(flag).Value.(pflag.SliceValue).GetSlice()
}

// bindings are the names of those that the flags so far ask for, each with the colon
// that stands before a value for it alone.
func (o *createHook) bindings(a *command.App) []string {
	table, err := projectKinds(a)
	if err != nil {
		table = kinds.Builtin()
	}
	var names []string
	for _, on := range o.values("on") {
		for item := range strings.SplitSeq(strings.TrimPrefix(on, "kubernetes:"), ",") {
			name, _, named := strings.Cut(item, ":")
			if !named {
				k, err := table.Find("", item[strings.LastIndexByte(item, '/')+1:])
				if err != nil {
					continue
				}
				name = k.Resource
			}
			names = append(names, name+":")
		}
	}
	return names
}

// conversions are the steps between versions of the project's CRDs.
func (o *createHook) conversions(a *command.App) []string {
	table, err := projectKinds(a)
	if err != nil {
		return nil
	}
	given := givenText(o.cmd)
	crd, converted := given("crd"), o.values("convert")
	var steps []string
	for _, k := range table.Preferred() {
		if _, own := kinds.Builtin().Resource(k.Group, k.Resource); own || crd != "" && crd != k.Kind && crd != k.String() {
			continue
		}
		for _, from := range k.Versions {
			for _, to := range k.Versions {
				if step := from + ":" + to; from != to && !slices.Contains(converted, step) && !slices.Contains(steps, step) {
					steps = append(steps, step)
				}
			}
		}
	}
	return steps
}

// projectKinds returns the kinds of Kubernetes and of the CRDs of the project.
func projectKinds(a *command.App) (*kinds.Table, error) {
	return hookproject.Kinds(hookproject.Root(a.Dir), a.Dir, nil)
}

// hookKinds are those that hooks of the project may be for: the project's own, and
// those of Kubernetes.
func hookKinds(a *command.App) []string {
	var names []string
	if cfg, err := a.ReadConfig(); err == nil {
		for _, r := range cfg.Resources {
			if r.API != nil {
				names = append(names, r.Kind)
			}
		}
	}
	for _, k := range kinds.Builtin().Preferred() {
		if k.Can("watch") {
			names = append(names, k.Kind)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkHookKind checks an answer; any name of a kind will do.
func checkHookKind(a *command.App, answer string) error {
	if slices.Contains(hookKinds(a), answer) {
		return nil
	}
	_, err := kinds.Builtin().Find("", answer)
	if err != nil {
		return fault.Usage("such as Secret", "%v", err)
	}
	return nil
}

// complete offers kinds, events, modules, versions, and the names of bindings.
func (o *createHook) complete(a *command.App) {
	cmd := o.cmd
	kindsBehind := func(before string, own bool) cobra.CompletionFunc {
		return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			head := before
			if i := strings.LastIndexAny(typed, ",:"); before != "" && strings.HasPrefix(typed, before) {
				head = typed[:i+1]
			}
			var offers []cobra.Completion
			for _, kind := range hookKinds(a) {
				if _, err := kinds.Builtin().Find("", kind); err != nil || !own {
					offers = append(offers, head+kind)
				}
			}
			return offers, cobra.ShellCompDirectiveNoFileComp
		}
	}
	offers := map[string]cobra.CompletionFunc{
		"on": kindsBehind("kubernetes:", false), "validate": kindsBehind("", false), "mutate": kindsBehind("", false), "crd": kindsBehind("", true),
		"schedule": cobra.FixedCompletions([]cobra.Completion{"@hourly", "@daily", "@weekly", "@monthly"}, cobra.ShellCompDirectiveNoFileComp),
	}
	for _, flag := range []string{"namespace", "name", "selector", "field-selector", "jq", "events", "group", "queue"} {
		offers[flag] = func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			before := ""
			if i := strings.IndexByte(typed, ':'); i >= 0 {
				before = typed[:i+1]
			}
			var all []cobra.Completion
			if flag == "events" {
				for _, event := range []string{"Added", "Modified", "Deleted", "none"} {
					all = append(all, before+event)
				}
			}
			return append(all, o.bindings(a)...), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
	}
	command.CompleteFrom(cmd, "convert", func() []string { return o.conversions(a) })
	command.CompleteFrom(cmd, "module", func() []string { return hookproject.ModuleNames(a.Dir) })
	command.CompleteNothing(cmd, "startup", "before-all", "after-all", "before-helm", "after-helm", "before-delete-helm", "after-delete-helm")
	for flag, offer := range offers {
		command.CompleteFlag(cmd, flag, offer)
	}
}
