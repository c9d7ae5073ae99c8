package hooks

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/input"
)

// maxScriptSize is the maximum size in bytes of a script or library.
const maxScriptSize = 1 << 20

// ReadRBACInput runs hooks for their configurations, and reads the hooks and the scripts in
// their folder, to derive roles from them. Paths in the result start with shown, the path of
// the folder in messages. The result omits invalid hooks. Load returns the findings.
func ReadRBACInput(ctx context.Context, s *Sandbox, hooks []Hook, shown string) (rbac.Input, []finding.Finding, error) {
	var in rbac.Input
	configs, findings, err := Load(ctx, s, hooks)
	if err != nil {
		return in, nil, err
	}
	for i, h := range hooks {
		source, err := h.Source(shown)
		if err != nil || configs[i] == nil {
			continue // a finding reports the problem
		}
		in.Hooks = append(in.Hooks, rbac.Hook{Source: source, Config: configs[i]})
	}
	in.Library, err = Library(s.dir, hooks, shown)
	return in, findings, err
}

// Source returns the hook's file. Its path starts with shown.
func (h Hook) Source(shown string) (rbac.Source, error) {
	text, err := h.read()
	return rbac.Source{Path: path.Join(shown, h.Name), Text: text}, err
}

// Library returns the files below the hooks folder that hooks may source or import. Their paths start with shown.
func Library(dir string, hooks []Hook, shown string) ([]rbac.Source, error) {
	var all []rbac.Source
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && name != dir:
			return fs.SkipDir
		case entry.IsDir() || slices.ContainsFunc(hooks, func(h Hook) bool { return h.Path == name }):
			return nil
		}
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxScriptSize {
			return nil //nolint:nilerr // a dangling link is not a script
		}
		text, err := input.ReadFile(name, input.Text)
		if err != nil {
			return err
		}
		if !slices.Contains([]string{".sh", ".bash", ".py"}, filepath.Ext(name)) && !bytes.HasPrefix(text, []byte("#!")) {
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		all = append(all, rbac.Source{Path: path.Join(shown, filepath.ToSlash(rel)), Text: text})
		return err
	})
	return all, err
}
