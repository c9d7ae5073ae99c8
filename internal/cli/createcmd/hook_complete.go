package createcmd

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// values returns the current values of a list flag.
func (o *createHook) values(flag string) []string {
	return o.cmd.Flags().Lookup(flag).Value.(pflag.SliceValue).GetSlice()
}

// bindings returns the names of the bindings of --on, each with a colon: the prefix of a
// value for this binding only.
func (o *createHook) bindings(a *command.App) []string {
	table, err := projectKinds(a)
	if err != nil {
		table = kubeapi.Builtin()
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

// conversions returns the possible values of --convert, such as v1:v2, for the CRDs of the
// project.
func (o *createHook) conversions(a *command.App) []string {
	table, err := projectKinds(a)
	if err != nil {
		return nil
	}
	current := currentText(o.cmd)
	crd, converted := current("crd"), o.values("convert")
	var steps []string
	for _, k := range table.Preferred() {
		if _, own := kubeapi.Builtin().FindResource(k.Group, k.Resource); own || crd != "" && crd != k.Kind && crd != k.String() {
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

// projectKinds returns the built-in Kubernetes kinds and the kinds of the project's CRDs.
func projectKinds(a *command.App) (*kubeapi.Kinds, error) {
	return hookproject.Kinds(hookproject.Root(a.Dir), a.Dir, nil)
}

// hookKinds returns the kinds that can trigger a hook: the kinds of the project and the
// built-in Kubernetes kinds.
func hookKinds(a *command.App) []string {
	var names []string
	if cfg, err := a.ReadConfig(); err == nil {
		for _, r := range cfg.Resources {
			if r.API != nil {
				names = append(names, r.Kind)
			}
		}
	}
	for _, k := range kubeapi.Builtin().Preferred() {
		if k.Supports("watch") {
			names = append(names, k.Kind)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkHookKind validates an answer, which is a kind, a plural or a short name.
func checkHookKind(a *command.App, answer string) error {
	if slices.Contains(hookKinds(a), answer) {
		return nil
	}
	_, err := kubeapi.Builtin().Find("", answer)
	if err != nil {
		return fault.Usage("name a kind, such as Secret", "%v", err)
	}
	return nil
}

// complete registers the completion of the flags.
func (o *createHook) complete(a *command.App) {
	cmd := o.cmd
	kindsAfter := func(before string, own bool) cobra.CompletionFunc {
		return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			head := before
			if i := strings.LastIndexAny(typed, ",:"); before != "" && strings.HasPrefix(typed, before) {
				head = typed[:i+1]
			}
			var offers []cobra.Completion
			for _, kind := range hookKinds(a) {
				if _, err := kubeapi.Builtin().Find("", kind); err != nil || !own {
					offers = append(offers, head+kind)
				}
			}
			return offers, cobra.ShellCompDirectiveNoFileComp
		}
	}
	offers := map[string]cobra.CompletionFunc{
		"on": kindsAfter("kubernetes:", false), "validate": kindsAfter("", false), "mutate": kindsAfter("", false), "crd": kindsAfter("", true),
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
