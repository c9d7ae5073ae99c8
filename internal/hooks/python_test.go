package hooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/process"
)

// TestPythonRunner runs scripts that replace python3.
func TestPythonRunner(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted")
	for name, tc := range map[string]struct {
		script  string // "" if python3 is missing
		timeout time.Duration
		cancel  bool
		is      error
		message string
	}{
		"missing":         {is: rbac.ErrNoPython},
		"too slow":        {script: "exec sleep 60", timeout: 200 * time.Millisecond, message: "python3 did not end within 200ms"},
		"interrupted":     {script: "exec sleep 60", cancel: true, is: interrupted},
		"failed":          {script: "echo broken >&2; exit 3", message: "exit status 3: broken"},
		"too much output": {script: "exec yes", is: process.ErrTooMuchOutput},
		"works":           {script: "exec cat"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			if tc.script != "" {
				script := "#!/bin/sh\nPATH=/usr/bin:/bin\n" + tc.script + "\n"
				if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(script), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			timeout := tc.timeout
			if timeout == 0 {
				timeout = time.Minute
			}
			s, err := NewSandbox(t.TempDir(), bin, timeout)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if tc.cancel {
				time.AfterFunc(200*time.Millisecond, func() { cancel(interrupted) })
			}
			output, err := s.pythonRunner(ctx)("", []byte("input"))
			switch {
			case tc.is != nil && !errors.Is(err, tc.is), tc.message != "" && (err == nil || !strings.Contains(err.Error(), tc.message)):
				t.Errorf("got %v, want %v%s", err, tc.is, tc.message)
			case tc.is == nil && tc.message == "" && (err != nil || string(output) != "input"):
				t.Errorf("got %q, %v", output, err)
			}
		})
	}
}
