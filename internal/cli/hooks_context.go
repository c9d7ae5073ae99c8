package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/spf13/cobra"
)

// hookEvents are what --event may be.
var hookEvents = append([]string{"startup", "sync", "Added", "Modified", "Deleted", "schedule", "validating", "mutating", "conversion"}, stepEvents()...)

// stepEvents are the steps of an addon-operator's work.
func stepEvents() []string {
	var names []string
	for _, step := range slices.Concat(config.Global.Steps(), config.Module.Steps()) {
		names = append(names, config.Event(step))
	}
	return names
}

// hooksContext holds the flags of `operon hooks context`.
type hooksContext struct {
	dir       string
	event     string
	binding   string
	objects   []string
	old       string
	given     []string
	crds      []string
	operation string
	from, to  string
	timeout   time.Duration
}

func newHooksContext(a *command.App) *cobra.Command {
	o := &hooksContext{}
	cmd := &cobra.Command{
		Use:   "context <hook>",
		Short: "Print what the engine would pass to a hook for an event",
		Long: `Print the binding context, the JSON that shell-operator would write for a hook
when something happens: with selectors, jqFilter, groups and snapshots applied.
The objects come from files; no cluster is asked. The hook is run with --config,
as hooks validate does.

Among the modules of an addon-operator, a hook is named by its path from there,
such as modules/010-web/hooks/nodes.sh, or by the last part of it where that is
one hook's alone.

Snapshots and synchronizations show the objects that --given names, and
snapshots the object of the event. When the engine would not run the hook, that
is said, and the exit code is 1; so is it when an API server would not ask a
webhook, for all that its matchConditions say: they are not evaluated. Objects
that no API server would store are refused.`,
		Example: `  operon hooks context copy.sh --event Added --object secret.yaml \
    --given cluster/
  operon hooks context policy.sh --event validating --operation UPDATE \
    --object new.yaml --old-object old.yaml
  export BINDING_CONTEXT_PATH=context.json KUBERNETES_PATCH_PATH=/dev/stdout
  operon hooks context copy.sh --event sync >context.json && hooks/copy.sh`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.event, "event", "", "what happens: "+strings.Join(hookEvents, ", "))
	f.StringVar(&o.binding, "binding", "", "name of the binding (default: the only one that can be meant)")
	f.StringArrayVar(&o.objects, "object", nil, "`file` with the object that it happens to; several for a conversion")
	f.StringVar(&o.old, "old-object", "", "`file` with that object before it was modified")
	f.StringArrayVar(&o.given, "given", nil, "`file` or folder with objects that are in the cluster")
	f.StringVar(&o.operation, "operation", "", "of a request to validate or mutate: CREATE, UPDATE, DELETE or CONNECT (default: by the objects)")
	f.StringVar(&o.from, "from", "", "version to convert from (default: the only rule's)")
	f.StringVar(&o.to, "to", "", "version to convert to")
	bindCRDs(cmd, &o.crds)
	bindHooks(cmd, &o.dir)
	bindConfigTime(cmd, &o.timeout)
	o.complete(a, cmd)
	return cmd
}

func (o *hooksContext) run(ctx context.Context, a *command.App, args []string) error {
	if len(args) != 1 {
		return fault.Usage("such as operon hooks context copy.sh --event sync", "name one hook, got %d", len(args))
	}
	if !slices.Contains(hookEvents, o.event) {
		if o.event == "" {
			return fault.Usage("events: "+strings.Join(hookEvents, ", "), "--event is missing")
		}
		return fault.Usage(meantOf(asFlag(o.event), hookEvents, "events: "), "unknown --event %q", o.event)
	}
	if err := checkTimeout(o.timeout, "10s"); err != nil {
		return err
	}
	if flag := o.idle(); flag != "" {
		return fault.Usage("leave it out", "--%s says nothing about --event %s", flag, o.event)
	}
	h, all, err := o.configs(ctx, a, args[0])
	if err != nil {
		return err
	}
	made, err := o.context(a, h, all)
	if notRun := (*binding.NotRunError)(nil); errors.As(err, &notRun) {
		return fault.Failed("", "the engine would not run %s: %v", args[0], err)
	}
	if err != nil {
		return err
	}
	return command.PrintJSON(a.Out, []binding.Context{made})
}

// find lists the hooks that may be meant, and the folder that they start in.
func (o *hooksContext) find(a *command.App) (dir string, found []hooks.Hook, err error) {
	dir = inDir(a, o.dir)
	if d, isAddon := addonWith(a, o.dir); isAddon {
		_, found, _, err = d.hooks()
		return d.root, found, err
	}
	found, _, err = hooks.Discover(dir)
	return dir, found, err
}

// configs asks the hook for its configuration. all does so for all hooks, and leaves out
// those that the engine refuses.
func (o *hooksContext) configs(ctx context.Context, a *command.App, name string) (h engine.Hook, all func() ([]engine.Hook, error), err error) {
	dir, found, err := o.find(a)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil, fault.Usage(elsewhere(a, "name the folder with --hooks"), "there is no folder %s", o.dir)
	}
	if err != nil {
		return h, nil, err
	}
	i := hookNamed(a, found, name)
	if i < 0 {
		folder := o.dir
		if _, isAddon := addonWith(a, o.dir); isAddon {
			folder = "the project"
		}
		return h, nil, noHook(a, folder, name, found)
	}
	sandbox, err := hooks.NewSandbox(dir, a.Getenv("PATH"), o.timeout)
	if err != nil {
		return h, nil, err
	}
	defer sandbox.Close()
	conf, findings, err := sandbox.Config(ctx, found[i])
	if err == nil {
		err = refusal(findings)
	}
	return engine.Hook{Hook: found[i], Config: conf}, func() (taken []engine.Hook, err error) {
		sandbox, err := hooks.NewSandbox(dir, a.Getenv("PATH"), o.timeout)
		if err != nil {
			return nil, err
		}
		defer sandbox.Close()
		configs, _, err := hooks.Load(ctx, sandbox, found)
		for i, conf := range configs {
			if conf != nil {
				taken = append(taken, engine.Hook{Hook: found[i], Config: conf})
			}
		}
		return taken, err
	}, err
}

// noHook says that no hook is called so, and what may be meant.
func noHook(a *command.App, folder, name string, found []hooks.Hook) error {
	var names, stems, alike []string
	for _, h := range found {
		names, stems = append(names, h.Name), append(stems, stem(h.Name))
		if base := path.Base(h.Name); stem(h.Name) == name || base == name || stem(base) == name {
			alike = append(alike, h.Name)
		}
	}
	file := name
	if !isFile(inDir(a, file)) {
		file = path.Join(filepath.ToSlash(folder), name)
	}
	switch {
	case len(names) == 0:
		return fault.Usage("hooks are executable files: chmod +x makes one of a script", "%s has no hooks", folder)
	case len(alike) > 1:
		return fault.Usage("name one of them: "+strings.Join(alike, ", "), "%d hooks are called %s", len(alike), name)
	case isFile(inDir(a, file)):
		return fault.Usage("chmod +x "+file+", unless it is a library or data", "%s is no hook: it is not executable, or not where hooks are", file)
	}
	if near := fault.Nearest(name, stems); near != "" && path.Ext(name) == "" {
		return fault.Usage("did you mean "+near+"?", "%s has no hook %s", folder, name)
	}
	return fault.Usage(meantOf(name, names, "hooks: "), "%s has no hook %s", folder, name)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// meantOf is a hint about a word that is none of those that are known: the nearest of
// them, or else all.
func meantOf(word string, known []string, title string) string {
	if near := fault.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return title + strings.Join(known, ", ")
}

// stem is a file without its extension, as create hook calls hooks.
func stem(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

// only is the place of the one file that is so, or -1.
func only(files []string, is func(string) bool) int {
	i := slices.IndexFunc(files, is)
	if i >= 0 && slices.ContainsFunc(files[i+1:], is) {
		return -1
	}
	return i
}

// refusal is the error about the first finding for which the engine does not start, or
// nil.
func refusal(findings []finding.Finding) error {
	i := slices.IndexFunc(findings, finding.Finding.IsError)
	if i < 0 {
		return nil
	}
	return fault.Failed("operon hooks validate lists all that is wrong", "%s: %s", findings[i].File, findings[i].Message)
}
