//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignPrompts asks what to do with generated files that a person changed, and records the answers.
func TestForeignPrompts(t *testing.T) {
	t.Parallel()
	a, prompter, out, errs := newProject(t)
	create := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--resource", "--controller", "--make=false"}
	for _, args := range [][]string{create, {"generate"}} {
		if code := Run(t.Context(), a, args); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, errs)
		}
	}
	const crd, role = "config/crd/bases/ship.example.org_frigates.yaml", "config/rbac/role.yaml"
	for _, name := range []string{crd, role} {
		f, err := os.OpenFile(filepath.Join(a.Dir, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("# Mine\n"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	config := func() string {
		content, err := os.ReadFile(filepath.Join(a.Dir, "PROJECT"))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	before := config()

	prompter.interrupt = true
	if code := Run(t.Context(), a, []string{"generate"}); code != 130 || config() != before {
		t.Errorf("Ctrl-C: exit code %d\n%s", code, errs)
	}
	prompter.interrupt = false
	const command = "echo '# Mine' >>" + role
	prompter.answers = []string{"keep it: operon never writes it", "run a command on it after the generators", "", command, "y"}
	if code := Run(t.Context(), a, []string{"generate"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if len(prompter.answers) > 0 {
		t.Errorf("unused answers: %q", prompter.answers)
	}
	for _, want := range []string{crd + ": keep\n", command} {
		if !strings.Contains(config(), want) {
			t.Errorf("PROJECT lacks %q:\n%s", want, config())
		}
	}
	if want := "equivalent command: operon generate --after '" + role + "=echo '\\''# Mine'\\'' >>" + role + "' --keep " + crd + "\n"; !strings.Contains(errs.String(), want) {
		t.Errorf("stderr:\n%s\nwant %q", errs, want)
	}
	for range 2 {
		out.Reset()
		if code := Run(t.Context(), a, []string{"generate"}); code != 0 || out.String() != "nothing to do\n" {
			t.Errorf("exit code %d: %s\n%s", code, out, errs)
		}
	}
}
