package operator

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/watch"
)

// Reloader restarts hooks when their files are saved.
type Reloader struct {
	Dir     string // the folder of hooks
	Folder  string // that folder, as the user named it
	Sandbox *hooks.Sandbox
	Watcher *watch.Watcher
	Note    func(format string, args ...any)  // prints a line about what happens
	Print   func([]finding.Finding) error     // prints errors in configurations
	replace func(name string, h *engine.Hook) // Operator.Replace

	loaded map[string]string // the content of each hook when it was loaded, by name
	files  map[string]bool   // the files in Dir when it was last read, by path from there
}

// Load loads all hooks. If the configuration of any has an error it returns no hooks and
// the findings.
func (r *Reloader) Load(ctx context.Context) ([]engine.Hook, []finding.Finding, error) {
	found, err := hookproject.Discover(r.Dir, r.Folder)
	if err != nil {
		return nil, nil, err
	}
	configs, findings, err := hooks.Load(ctx, r.Sandbox, found)
	if err != nil || finding.FirstError(findings) >= 0 {
		return nil, findings, err
	}
	r.loaded, r.files = map[string]string{}, filesBelow(r.Dir)
	var all []engine.Hook
	for i, h := range found {
		r.loaded[h.Name] = content(h.Path)
		all = append(all, engine.Hook{Hook: h, Config: configs[i]})
	}
	return all, findings, nil
}

// Run runs the loaded hooks with o, and restarts hooks whose files are saved, until ctx ends.
func (r *Reloader) Run(ctx context.Context, o *Operator, loaded []engine.Hook) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	r.replace = o.Replace
	ran := make(chan error, 1)
	go func() { ran <- o.Run(ctx, loaded); end() }()
	watched := r.watch(ctx)
	end()
	if err := <-ran; err != nil {
		return err
	}
	return watched
}

// watch reloads hooks until ctx ends.
func (r *Reloader) watch(ctx context.Context) error {
	for {
		paths, err := r.Watcher.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, watch.ErrGone) {
			return fault.Failed("start it again", "the folder %s was removed: there are no hooks to run", r.Folder)
		}
		if err != nil {
			return err
		}
		if err := r.reload(ctx, paths); err != nil {
			return err
		}
	}
}

// reload restarts the hooks that changed, or all if a file changed that is not a hook:
// any hook may read it.
func (r *Reloader) reload(ctx context.Context, paths []string) error {
	found, _, err := hooks.Discover(r.Dir)
	if err != nil {
		return nil //nolint:nilerr // the folder is being moved: another change follows
	}
	isHook := map[string]bool{}
	var changed []hooks.Hook
	for _, h := range found {
		isHook[h.Name] = true
		if r.loaded[h.Name] != content(h.Path) {
			changed = append(changed, h)
		}
	}
	files := filesBelow(r.Dir)
	shared := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		_, wasHook := r.loaded[path]
		temporary := !files[path] && !r.files[path] // such as a file that an editor renames to the one that it saves
		return isHook[path] || wasHook || temporary || isEditorFile(path)
	})
	r.files = files
	if len(shared) > 0 {
		r.Note("%s changed, and hooks may read it: restarting all hooks", strings.Join(shared, ", "))
		changed = found
	}
	for _, name := range slices.Sorted(maps.Keys(r.loaded)) {
		if !isHook[name] {
			r.Note("%s was removed or is no longer executable: stopped", name)
			delete(r.loaded, name)
			r.replace(name, nil)
		}
	}
	for _, h := range changed {
		if err := r.restart(ctx, h); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// restart reads the configuration of a hook and restarts it, unless the configuration
// has an error.
func (r *Reloader) restart(ctx context.Context, h hooks.Hook) error {
	_, runs := r.loaded[h.Name]
	text := content(h.Path)
	config, findings, err := r.Sandbox.Config(ctx, h)
	if err != nil {
		return nil //nolint:nilerr // ctx has ended, or the file is still being written
	}
	errs := finding.Errors(findings)
	if len(errs) > 0 {
		if err := r.Print(errs); err != nil {
			return err
		}
	}
	if config == nil || len(errs) > 0 {
		if runs {
			r.loaded[h.Name] = text // report the same error only once
			r.Note("%s keeps running with its last valid configuration", h.Name)
		}
		return nil
	}
	r.loaded[h.Name] = text
	r.Note("%s restarted", h.Name)
	r.replace(h.Name, &engine.Hook{Hook: h, Config: config})
	return nil
}

// content returns the content of a file, or "" if it cannot be read.
func content(path string) string {
	text, err := filestat.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// filesBelow returns the files below a folder, by their paths from there. It skips
// files that it cannot read, because hooks cannot read them either.
func filesBelow(dir string) map[string]bool {
	all := map[string]bool{}
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all[path] = true
		}
		return nil
	})
	return all
}

// isEditorFile reports whether a file belongs to an editor: a hidden file, a backup, or the
// file that vim creates to test whether it may write.
func isEditorFile(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || name == "4913"
}
