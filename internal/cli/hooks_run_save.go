package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/operator"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/hooks/patch"
	"github.com/operon-dev/operon/internal/watch"
)

// follow starts hooks anew that are saved, until ctx ends.
func (r *hookRunner) follow(ctx context.Context) error {
	for {
		paths, err := r.watcher.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, watch.ErrGone) {
			return fault.Failed("start it again", "%s is gone: there is nothing left to run", r.o.dir)
		}
		if err != nil {
			return err
		}
		if err := r.saved(ctx, paths); err != nil {
			return err
		}
	}
}

// saved starts anew what a change of files is about: the hooks that changed, or
// all when it is a file that they may read.
func (r *hookRunner) saved(ctx context.Context, paths []string) error {
	found, _, err := hooks.Discover(r.dir)
	if err != nil {
		return nil //nolint:nilerr // a folder that was just moved: another change follows
	}
	names := map[string]bool{}
	var changed []hooks.Hook
	for _, h := range found {
		names[h.Name] = true
		if r.texts[h.Name] != contentOf(h.Path) {
			changed = append(changed, h)
		}
	}
	there := filesBelow(r.dir)
	shared := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		_, was := r.texts[path]
		passed := !there[path] && !r.files[path] // such as what an editor renames to the file that it saves
		return names[path] || was || passed || unread(path)
	})
	r.files = there
	if len(shared) > 0 {
		r.Notef("%s changed, which hooks may read: all start anew", strings.Join(shared, ", "))
		changed = found
	}
	for _, name := range slices.Sorted(maps.Keys(r.texts)) {
		if !names[name] {
			r.Notef("%s is gone, or not executable any more: it ends", name)
			delete(r.texts, name)
			r.operator.Replace(name, nil)
		}
	}
	for _, h := range changed {
		if err := r.again(ctx, h); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// filesBelow are the files of a folder, by their paths from there.
func filesBelow(dir string) map[string]bool {
	all := map[string]bool{}
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error { // what cannot be read, hooks do not read
		if err == nil && !e.IsDir() {
			all[path] = true
		}
		return nil
	})
	return all
}

// unread reports whether a file is of an editor, and of no hook: hidden, or a copy.
func unread(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || name == "4913" // vim asks whether it may write
}

// again asks a hook for its configuration and starts it anew, unless the engine
// would refuse it.
func (r *hookRunner) again(ctx context.Context, h hooks.Hook) error {
	_, runs := r.texts[h.Name]
	text := contentOf(h.Path)
	config, findings, err := r.sandbox.Config(ctx, h)
	if err != nil {
		return nil //nolint:nilerr // it ends, or the hook is being written
	}
	if err := r.printRefused(findings); err != nil {
		return err
	}
	if config == nil || slices.ContainsFunc(findings, finding.Finding.IsError) {
		if runs {
			r.texts[h.Name] = text // not to be told again
			r.Notef("%s goes on with its last good configuration", h.Name)
		}
		return nil
	}
	r.texts[h.Name] = text
	r.Notef("%s starts anew", h.Name)
	r.operator.Replace(h.Name, &engine.Hook{Hook: h, Config: config})
	return nil
}

func (r *hookRunner) printRefused(findings []finding.Finding) error {
	refused := slices.DeleteFunc(slices.Clone(findings), func(f finding.Finding) bool { return !f.IsError() })
	if len(refused) == 0 {
		return nil
	}
	return printFindings(r.App, "text", judged{hooks: 1}, finding.InFolder(r.o.dir, refused))
}

// metricText is a metric in the form that Prometheus shows.
func metricText(m output.Metric) string {
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(m.Labels)) {
		labels = append(labels, fmt.Sprintf("%s=%q", name, m.Labels[name]))
	}
	text := m.Action + " " + m.Name
	if labels != nil {
		text += "{" + strings.Join(labels, ",") + "}"
	}
	if m.Value != nil {
		text += fmt.Sprintf(" %v", *m.Value)
	}
	return text
}

// resultOf says what a run came to.
func resultOf(run operator.Run) (text, colour string) {
	var parts []string
	switch n := len(run.Operations); {
	case n > 3:
		parts = append(parts, command.Plural(n, "operation"))
	default:
		for _, op := range run.Operations {
			parts = append(parts, patch.Describe(op))
		}
	}
	if n := len(run.Metrics); n > 0 {
		parts = append(parts, command.Plural(n, "metric"))
	}
	switch a := run.Admission; {
	case run.Err != nil || a == nil:
	case !a.Allowed:
		parts = append(parts, strings.TrimSuffix("denied: "+a.Message, ": "))
	case len(a.Patch) > 0:
		parts = append(parts, "allowed, and changed")
	default:
		parts = append(parts, "allowed")
	}
	if c := run.Conversion; run.Err == nil && c != nil {
		parts = append(parts, command.Plural(len(c.ConvertedObjects), "object")+" converted")
	}
	if run.Err == nil {
		return strings.Join(append(parts, "ok")[:max(1, len(parts))], ", "), ""
	}
	text = "error: " + strings.ReplaceAll(run.Err.Error(), "\n", "; ")
	if run.ExitCode != 0 { // what it printed stands behind the line
		text = fmt.Sprintf("error: exit code %d", run.ExitCode)
	}
	if run.Again > 0 {
		text += fmt.Sprintf(" (again in %s)", run.Again)
	}
	return text, command.Red
}
