package cli

import (
	"os"
	"path"
	"regexp"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/createcmd"
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/spf13/cobra"
)

// onlyFolders offers folders for an argument.
func onlyFolders(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// complete offers the hooks, and of the one that is named its bindings, its events
// and the versions that it converts.
func (o *hooksContext) complete(a *command.App, cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []string
		if _, found, err := o.find(a); err == nil && len(args) == 0 {
			for _, h := range found {
				names = append(names, h.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	ofHook := func(flag string, values func(*config.Config) []string) {
		command.CompleteFlag(cmd, flag, func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return values(o.sketch(a, args)), cobra.ShellCompDirectiveNoFileComp
		})
	}
	ofHook("event", eventsOf)
	ofHook("binding", func(c *config.Config) []string { return bindingsFor(c, o.event) })
	ofHook("from", func(c *config.Config) []string { from, _ := versionsOf(c, o.binding); return from })
	ofHook("to", func(c *config.Config) []string { _, to := versionsOf(c, o.binding); return to })
	command.CompleteValues(cmd, "operation", "CREATE", "UPDATE", "DELETE", "CONNECT")
}

// sketch is what the text of the hook tells that the arguments name, or nil.
func (o *hooksContext) sketch(a *command.App, args []string) *config.Config {
	_, found, err := o.find(a)
	if err != nil || len(args) == 0 {
		return nil
	}
	i := hookNamed(a, found, args[0])
	if i < 0 {
		return nil
	}
	text, err := os.ReadFile(found[i].Path)
	if err != nil {
		return nil
	}
	return config.Sketch(text)
}

// hookNamed is the place of the hook that a person names, or -1.
func hookNamed(a *command.App, found []hooks.Hook, name string) int {
	var names []string
	for _, h := range found {
		names = append(names, h.Name)
	}
	i := slices.IndexFunc(found, func(h hooks.Hook) bool { return h.Name == name || h.Path == inDir(a, name) })
	for _, called := range []func(file string) string{stem, path.Base, func(file string) string { return path.Base(stem(file)) }} {
		if i < 0 {
			i = only(names, func(file string) bool { return called(file) == name })
		}
	}
	return i
}

// eventsOf are the events that a hook may be run for: all, when nothing is known of it.
func eventsOf(c *config.Config) []string {
	if c == nil {
		return hookEvents
	}
	has := map[string]bool{"startup": c.OnStartup != nil}
	for _, event := range []string{"schedule", "validating", "mutating", "conversion"} {
		has[event] = len(bindingsFor(c, event)) > 0
	}
	for _, k := range c.Kubernetes {
		has["sync"] = has["sync"] || k.Synchronizes()
		for _, event := range k.Events() {
			has[event] = true
		}
	}
	for _, step := range c.StepNames() {
		has[config.Event(step)] = true
	}
	return slices.DeleteFunc(slices.Clone(hookEvents), func(event string) bool { return !has[event] })
}

// bindingsFor are the names of the bindings that an event may be about; all, without one.
func bindingsFor(c *config.Config, event string) []string {
	if c == nil {
		return nil
	}
	var names []string
	add := func(name string, events ...string) {
		if (event == "" || slices.Contains(events, event)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, k := range c.Kubernetes {
		add(k.BindingName(), "sync", "Added", "Modified", "Deleted")
	}
	for _, s := range c.Schedule {
		add(s.BindingName(), "schedule")
	}
	for _, w := range c.Validating {
		add(w.Name, "validating")
	}
	for _, w := range c.Mutating {
		add(w.Name, "mutating")
	}
	for _, v := range c.Conversion {
		add(v.Name, "conversion")
	}
	return names
}

// versionsOf are the versions that a hook converts from and to, in a binding or in all.
func versionsOf(c *config.Config, binding string) (from, to []string) {
	if c == nil {
		return nil, nil
	}
	for _, v := range c.Conversion {
		if binding != "" && binding != v.Name {
			continue
		}
		for _, r := range v.Conversions {
			from, to = append(from, r.FromVersion), append(to, r.ToVersion)
		}
	}
	slices.Sort(from)
	slices.Sort(to)
	return slices.Compact(from), slices.Compact(to)
}

// completeTests offers files of tests as arguments, and what --run may match.
func completeTests(a *command.App, cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	command.CompleteFlag(cmd, "run", func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return testNames(a, args), cobra.ShellCompDirectiveNoFileComp
	})
	command.CompleteFrom(cmd, "name", func() []string { return controlPlanes(a) })
	command.CompleteNothing(cmd, "timeout")
}

// testNames are patterns of which each matches one test, or all of a hook.
func testNames(a *command.App, files []string) []string {
	if len(files) == 0 {
		files = []string{rbac.TestDir}
	}
	var names []string
	for _, name := range files {
		read, err := hooktest.ReadAll(inDir(a, name), name)
		if err != nil {
			continue
		}
		for _, f := range read {
			for _, t := range f.Tests {
				pattern := f.Subject() + "/" + t.Name
				if re, err := regexp.Compile(pattern); err != nil || !re.MatchString(pattern) {
					pattern = regexp.QuoteMeta(pattern)
				}
				names = append(names, pattern)
			}
		}
	}
	return names
}

// controlPlanes are those that run.
func controlPlanes(a *command.App) []string {
	home, err := controlplane.Open(a.Getenv)
	if err != nil {
		return nil
	}
	planes, err := home.List()
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range planes {
		if s.Phase == controlplane.Running {
			names = append(names, s.Name)
		}
	}
	return names
}

// contexts are those of the kubeconfig that is meant.
func contexts(a *command.App, w cluster.Where) []string {
	if w.Kubeconfig != "" {
		w.Kubeconfig = inDir(a, w.Kubeconfig)
	}
	return cluster.Contexts(w, a.Getenv)
}

// moduleNames are the modules of the project.
func moduleNames(a *command.App) []string {
	d, isAddon := addonAt(a.Dir)
	if !isAddon {
		return nil
	}
	var names []string
	if modules, _, err := d.modules(); err == nil {
		for _, m := range modules {
			names = append(names, m.Name)
		}
	}
	return names
}

// hookNames completes the flags of create hook.
func hookNames(a *command.App) createcmd.HookNames {
	return createcmd.HookNames{
		Kinds:   func() (*kinds.Table, error) { return projectKinds(a, aroundHooks(a.Dir), nil) },
		Modules: func() []string { return moduleNames(a) },
	}
}
