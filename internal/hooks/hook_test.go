//go:build unix

package hooks

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/process"
)

// TestDiscover checks the discovered hooks and their order. The engine compares full paths,
// in which a dot sorts before a slash.
func TestDiscover(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"b.sh": 0o755, "a/x.sh": 0o755, "a.sh": 0o755, "a/deep/y": 0o755, "owner": 0o100, "group": 0o010, "other": 0o001,
		".hidden.sh": 0o755, ".hidden/x.sh": 0o755, "a/.hidden/x.sh": 0o755, "library/x.sh": 0o755, "lib.sh": 0o755,
		"data.yaml": 0o755, "data.json": 0o755, "read.md": 0o755, "notes.txt": 0o755, "data.yml": 0o755, "yaml": 0o755,
		"lib/x.sh": 0o755, "b.sh~": 0o755, "b.sh.bak": 0o755, "c.orig": 0o644, "lib/x.sh.rej": 0o644, "a/lib/x.sh": 0o755, "lib/quiet.sh": 0o644, "plain.sh": 0o644, "words": 0o644,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "#!/bin/sh\n"
		if name == "words" {
			text = "not a script\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // independent of the umask
			t.Fatal(err)
		}
	}
	if err := os.Symlink("b.sh", filepath.Join(dir, "link.sh")); err != nil {
		t.Fatal(err)
	}
	hooks, findings, err := Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names, reported []string
	for _, h := range hooks {
		names = append(names, h.Name)
		if h.Path != filepath.Join(dir, h.Name) {
			t.Errorf("the path of %s is %s", h.Name, h.Path)
		}
	}
	for _, f := range finding.Sort(findings) {
		reported = append(reported, f.File+" "+f.Rule)
	}
	want := []string{"a.sh", "a/deep/y", "a/x.sh", "b.sh", "b.sh.bak", "b.sh~", "data.yml", "group", "lib.sh", "library/x.sh", "link.sh", "other", "owner", "yaml"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/lib/x.sh executable-in-lib", "b.sh.bak backup-file", "b.sh~ backup-file", "lib/x.sh executable-in-lib", "plain.sh not-executable"}, reported); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestRunConfig checks that a hook in a subfolder runs with one argument, in the hooks
// folder, and that only its stdout counts.
func TestRunConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n[ \"$*\" = --config ] && [ \"$(pwd -P)\" = \"$(cd " + dir + " && pwd -P)\" ] && [ \"$PWD\" = " + dir + " ] || exit 7\necho noise >&2\necho 'configVersion: v1'\necho 'onStartup: 5'\n"
	path := filepath.Join(dir, "sub", "hook.sh")
	if err := process.WriteProgram(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := NewSandbox(dir, os.Getenv("PATH"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, findings, err := s.Config(t.Context(), Hook{Name: "sub/hook.sh", Path: path})
	if err != nil || c == nil || c.OnStartup == nil || *c.OnStartup != 5 || len(findings) > 0 {
		t.Errorf("%+v, %v, %v", c, findings, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Config(canceled, Hook{Name: "sub/hook.sh", Path: path}); err == nil {
		t.Error("Config succeeds after cancellation")
	}
	if err := os.WriteFile(path, []byte("#!/usr/bin/env bash\nset -e\ncaat || true\n\nhook::run\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, findings, err := s.Config(t.Context(), Hook{Name: "sub/hook.sh", Path: path}); err != nil || len(findings) != 1 || findings[0].Line != 3 {
		t.Errorf("the finding must have the line of the first error: %+v, %v", findings, err)
	}
	if i := slices.IndexFunc(s.Env(), func(v string) bool { return strings.HasPrefix(v, "KUBECONFIG=") }); i >= 0 {
		t.Error("hooks have access to the user's cluster")
	}
}
