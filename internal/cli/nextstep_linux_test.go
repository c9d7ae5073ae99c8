package cli

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/termtest"
)

// TestNextStep checks that a person learns the next step after a command that changed files,
// and only then.
func TestNextStep(t *testing.T) {
	t.Parallel()
	a, _, _, _ := newProject(t)
	a.Prompt = nil
	person, terminal := termtest.Open(t, 80)
	a.Out, a.Err = terminal, terminal
	if err := person.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	seen := bufio.NewScanner(person)
	for _, tt := range []struct{ command, next string }{
		{"create api --group ship --version v1 --kind Frigate --make=false --controller=false", "describe the kind in its _types.go, then make test"},
		{"templates copy golang/init/Makefile.tmpl", "edit the copy; operon init and operon generate apply it to the files of this project"},
		{"catalog init fleet -c stable --catalog ships", "add a bundle: operon catalog add --catalog ships ./bundle --image IMAGE"},
	} {
		for _, again := range []bool{false, true} {
			if code := Run(t.Context(), a, strings.Fields(tt.command)); code != 0 {
				t.Fatalf("%s: exit code %d", tt.command, code)
			}
			_, _ = terminal.WriteString("end\n")
			next := false
			for seen.Scan() && seen.Text() != "end" {
				next = next || strings.HasSuffix(seen.Text(), tt.next)
			}
			if next == again {
				t.Errorf("%s: repeated: %t, next step: %t", tt.command, again, next)
			}
		}
	}
}
