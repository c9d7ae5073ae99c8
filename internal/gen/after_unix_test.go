//go:build unix

package gen

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

// TestShell runs commands that do not end, fail, or leave something behind.
func TestShell(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"true":                  "",
		"echo a; false; echo b": "failed: exit status 1; it printed a",
		"sleep 1000":            "did not end within 2s",
		"trap '' TERM; while :; do sleep 0.05; done": "did not end within 2s",
		"echo begun; sleep 1000 & wait":              "did not end within 2s; it printed begun",
		"sleep 1000 >/dev/null 2>&1 &":               "",
		"sleep 1000 &":                               "ended, but left a process in the background",
		"kill -9 $$":                                 "failed: signal: killed",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s := &settling{ctx: t.Context(), r: Request{Environ: os.Environ()}}
			limit := time.Hour
			if strings.Contains(want, "2s") {
				limit = 2 * time.Second
			}
			err := s.shell(t.TempDir(), script, limit)
			if want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			message, printed, ok := strings.Cut(want, "; it printed ")
			if err == nil || !strings.HasSuffix(err.Error(), message) || ok && !strings.HasSuffix(fault.HintOf(err), "it printed\n"+printed) {
				t.Errorf("%v (%q), want %s", err, fault.HintOf(err), want)
			}
		})
	}
}

// TestInterruptedShell stops a command as soon as the user does.
func TestInterruptedShell(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("interrupted")
	time.AfterFunc(50*time.Millisecond, func() { cancel(reason) })
	s := &settling{ctx: ctx, r: Request{Environ: os.Environ()}}
	if err := s.shell(t.TempDir(), "sleep 1000", time.Hour); !errors.Is(err, reason) {
		t.Error(err)
	}
}
