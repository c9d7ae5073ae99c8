package hookproject

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks"
)

// Named returns the hook that the user names by its name or path, or by the last path
// element with or without extension if only one hook matches.
func (h *Hooks) Named(workDir, name string) (hooks.Hook, error) {
	if i := h.index(workDir, name); i >= 0 {
		return h.All[i], nil
	}
	return hooks.Hook{}, h.unknown(workDir, name)
}

// Has reports whether Named finds a hook.
func (h *Hooks) Has(workDir, name string) bool { return h.index(workDir, name) >= 0 }

func (h *Hooks) index(workDir, name string) int {
	i := slices.IndexFunc(h.All, func(hook hooks.Hook) bool { return hook.Name == name || hook.Path == Abs(workDir, name) })
	for _, short := range []func(file string) string{withoutExt, path.Base, func(file string) string { return path.Base(withoutExt(file)) }} {
		if i < 0 {
			i = onlyIndex(h.All, func(hook hooks.Hook) bool { return short(hook.Name) == name })
		}
	}
	return i
}

// onlyIndex returns the index of the only element that matches, or -1.
func onlyIndex[T any](all []T, matches func(T) bool) int {
	i := slices.IndexFunc(all, matches)
	if i >= 0 && slices.ContainsFunc(all[i+1:], matches) {
		return -1
	}
	return i
}

func withoutExt(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

// unknown returns the error for a name that matches no hook or several.
func (h *Hooks) unknown(workDir, name string) error {
	var stems, matching []string
	for _, hook := range h.All {
		stems = append(stems, withoutExt(hook.Name))
		if base := path.Base(hook.Name); withoutExt(hook.Name) == name || base == name || withoutExt(base) == name {
			matching = append(matching, hook.Name)
		}
	}
	file := name
	if !isFile(Abs(workDir, file)) {
		file = path.Join(filepath.ToSlash(h.folder), name)
	}
	switch {
	case len(matching) > 1:
		return fault.Usage("name one of them: "+strings.Join(matching, ", "), "%d hooks are named %s", len(matching), name)
	case isFile(Abs(workDir, file)):
		return fault.Usage("chmod +x "+file+", unless it is a library or data", "%s is not a hook: it is not executable, or not in a hooks folder", file)
	case len(h.All) == 0:
		return fault.Usage("hooks are executable files: make a script executable with chmod +x", "%s has no hooks", h.folder)
	}
	if near := fault.Nearest(name, stems); near != "" && path.Ext(name) == "" {
		return fault.Usage("did you mean "+near+"?", "%s has no hook %s", h.folder, name)
	}
	hint := "hooks: " + strings.Join(h.Names(), ", ")
	if near := fault.Nearest(name, h.Names()); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fault.Usage(hint, "%s has no hook %s", h.folder, name)
}
