package cli

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/spf13/cobra"
)

// Completion for hooks starts none of them, for they may be slow: what they are
// bound to is read from their text, where it stands there word for word.

// completeNothing offers nothing, and no files, for flags whose values nobody knows.
func completeNothing(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// completeText offers what values returns, and no files.
func completeText(cmd *cobra.Command, flag string, values func() []string) {
	must(cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}))
}

// onlyFolders offers folders for an argument.
func onlyFolders(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// complete offers the hooks, and of the one that is named its bindings, its events
// and the versions that it converts.
func (o *hooksContext) complete(a *App, cmd *cobra.Command) {
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
		must(cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return values(o.sketch(a, args)), cobra.ShellCompDirectiveNoFileComp
		}))
	}
	ofHook("event", eventsOf)
	ofHook("binding", func(c *config.Config) []string { return bindingsFor(c, o.event) })
	ofHook("from", func(c *config.Config) []string { from, _ := versionsOf(c, o.binding); return from })
	ofHook("to", func(c *config.Config) []string { _, to := versionsOf(c, o.binding); return to })
	completeValues(cmd, "operation", "CREATE", "UPDATE", "DELETE", "CONNECT")
}

// sketch is what the text of the hook tells that the arguments name, or nil.
func (o *hooksContext) sketch(a *App, args []string) *config.Config {
	_, found, err := o.find(a)
	if err != nil || len(args) == 0 {
		return nil
	}
	i := a.hookNamed(found, args[0])
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
func (a *App) hookNamed(found []hooks.Hook, name string) int {
	var names []string
	for _, h := range found {
		names = append(names, h.Name)
	}
	i := slices.IndexFunc(found, func(h hooks.Hook) bool { return h.Name == name || h.Path == a.inDir(name) })
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
func completeTests(a *App, cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	must(cmd.RegisterFlagCompletionFunc("run", func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.testNames(args), cobra.ShellCompDirectiveNoFileComp
	}))
	completeText(cmd, "name", a.controlPlanes)
	completeNothing(cmd, "timeout")
}

// testNames are patterns of which each matches one test, or all of a hook.
func (a *App) testNames(files []string) []string {
	if len(files) == 0 {
		files = []string{rbac.TestDir}
	}
	var names []string
	for _, name := range files {
		read, err := hooktest.ReadAll(a.inDir(name), name)
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
func (a *App) controlPlanes() []string {
	home, err := controlplane.Open(a.getenv)
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
func (a *App) contexts(w cluster.Where) []string {
	if w.Kubeconfig != "" {
		w.Kubeconfig = a.inDir(w.Kubeconfig)
	}
	return cluster.Contexts(w, a.getenv)
}

// moduleNames are the modules of the project.
func (a *App) moduleNames() []string {
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

// bindings are the names of those that the flags so far ask for, each with the colon
// that stands before a value for it alone.
func (o *createHook) bindings(a *App) []string {
	table, err := a.kinds(aroundHooks(a.Dir), nil)
	if err != nil {
		table = kinds.Builtin()
	}
	var names []string
	for _, on := range *o.lists["on"] {
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
func (o *createHook) conversions(a *App) []string {
	table, err := a.kinds(aroundHooks(a.Dir), nil)
	if err != nil {
		return nil
	}
	var steps []string
	for _, k := range table.Preferred() {
		if _, own := kinds.Builtin().Resource(k.Group, k.Resource); own || o.crd != "" && o.crd != k.Kind && o.crd != k.String() {
			continue
		}
		for _, from := range k.Versions {
			for _, to := range k.Versions {
				if step := from + ":" + to; from != to && !slices.Contains(*o.lists["convert"], step) && !slices.Contains(steps, step) {
					steps = append(steps, step)
				}
			}
		}
	}
	return steps
}
