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

// TestExecutableInImage checks which scripts count as hooks because of the Dockerfile, and that they run here.
func TestExecutableInImage(t *testing.T) {
	t.Parallel()
	for dockerfile, want := range map[string]string{
		"FROM x\nADD ./hooks/a.sh /hooks\nRUN chmod +x /hooks/a.sh\n":                 "a.sh",
		"FROM x\nRUN chmod +x /usr/bin/kubectl && mkdir /hooks\n":                     "",
		"FROM x\nRUN chmod +x /hooks/*\n":                                             "a.sh b.py",
		"FROM x\nCOPY --chmod=755 hooks /hooks\n":                                     "a.sh b.py",
		"FROM x\nRUN apk add jq && \\\n  chmod -R 0755 \\\n  /hooks\n":                "a.sh b.py",
		"FROM x\nRUN find /hooks -name '*.sh' -exec chmod a+rx {} \\;\n":              "a.sh",
		"FROM x\nRUN find /hooks -type f -exec chmod a+rx {} \\;\n":                   "a.sh b.py",
		"FROM x\nWORKDIR /h\nRUN chmod u+x *.sh\n":                                    "a.sh",
		"FROM x\nRUN chmod +x /usr/bin/b.py\n":                                        "b.py",
		"FROM x\nRUN chmod +x /usr/bin/kubectl\n":                                     "",
		"FROM x\nRUN chmod 644 /hooks/a.sh && chmod -x /hooks/b.py\n# chmod +x hooks": "",
		"": "",
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "hooks")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"../Dockerfile": dockerfile, "a.sh": "#!/bin/sh\n[ \"$1\" = --config ] && echo '{configVersion: v1, onStartup: 1}'\n", "sourced.sh": "#!/bin/sh\n",
			"b.py": "#!/usr/bin/env python3\nimport sys\nif sys.argv[1:] == ['--config']: print('{configVersion: v1, onStartup: 1}')\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found, _, err := Discover(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, h := range found {
			names = append(names, h.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: hooks %q, want %q", dockerfile, got, want)
		}
		s, err := NewSandbox(dir, os.Getenv("PATH"), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, findings, err := Load(t.Context(), s, found); err != nil || len(findings) > 0 {
			t.Errorf("%q: %v, %v", dockerfile, findings, err)
		}
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
