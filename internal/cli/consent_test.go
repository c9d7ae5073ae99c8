//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConsentPrompt checks that a program runs only after a person agreed, and that the answer lasts.
func TestConsentPrompt(t *testing.T) {
	t.Parallel()
	a, prompter, out, errs := newProject(t, "n", "y", "y")
	plugins := t.TempDir()
	program := filepath.Join(plugins, "note", "v1", "note")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	const script = "#!/bin/sh\necho '{\"universe\": {\"note.txt\": \"a\"}}'\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	a.Environ = append(a.Environ, "EXTERNAL_PLUGINS_PATH="+plugins, "XDG_CONFIG_HOME="+t.TempDir())
	edit := []string{"edit", "--plugins", "note/v1"}
	if code := Run(t.Context(), a, edit); code != 2 || !strings.Contains(errs.String(), "error: you have not allowed operon to use "+program) {
		t.Errorf("refused: exit code %d\n%s", code, errs)
	}
	if code := Run(t.Context(), a, edit); code != 0 || !strings.Contains(out.String(), "create   note.txt") {
		t.Errorf("allowed: exit code %d\n%s%s", code, out, errs)
	}
	out.Reset()
	if code := Run(t.Context(), a, edit); code != 0 || out.String() != "nothing to do\n" {
		t.Errorf("again: exit code %d\n%s%s", code, out, errs)
	}
	// Help asks nothing, also about a new version of the program.
	if err := os.WriteFile(program, []byte(script+"# new\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	errs.Reset()
	for _, help := range [][]string{{"edit", "--help"}, {"help", "edit"}, {"edit", "--plugins", "note/v1", "-h"}} {
		if code := Run(t.Context(), a, help); code != 0 || !strings.Contains(errs.String(), "note: the flags of the plugin note/v1 are missing here: you have not allowed") {
			t.Errorf("%q: exit code %d\n%s", help, code, errs)
		}
	}
	// After the answer, the command plans again.
	out.Reset()
	create := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--resource", "--controller", "--make=false"}
	if code := Run(t.Context(), a, create); code != 0 || strings.Count(out.String(), "api/v1/frigate_types.go") != 1 {
		t.Errorf("create api: exit code %d\n%s%s", code, out, errs)
	}
	if len(prompter.questions) != 3 || !strings.HasPrefix(prompter.questions[0], "Run the plugin "+program+" (SHA-256 ") {
		t.Errorf("%q", prompter.questions)
	}
}
