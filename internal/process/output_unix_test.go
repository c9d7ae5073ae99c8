//go:build unix

package process

import (
	"errors"
	"os/exec"
	"testing"
)

// TestOutput keeps the output of a child, and stops a child that never stops
// printing.
func TestOutput(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]error{
		"printf abc":                        nil,
		"yes":                               ErrTooMuchOutput,
		"trap '' INT TERM; yes | cat; true": ErrTooMuchOutput,
	} {
		var out Output
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Stdout = &out
		err := Run(cmd)
		if got := out.Err(); !errors.Is(got, want) || want != nil && (err == nil || len(out.Bytes()) > maxOutput) {
			t.Errorf("%s: %v, %v, %d bytes", script, got, err, len(out.Bytes()))
		}
		if want == nil && (err != nil || string(out.Bytes()) != "abc") {
			t.Errorf("%s: %v, %q", script, err, out.Bytes())
		}
	}
}
