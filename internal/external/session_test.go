//go:build unix

package external

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

// newProgram returns a plugin that is a shell script, which the user allowed.
func newProgram(t *testing.T, script string) Program {
	t.Helper()
	folders := install(t, map[string]string{"operon/a/v1/a": "#!/bin/sh\n" + script})
	found, ok, err := folders.Find("a/v1")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return Program{Found: found, Dir: t.TempDir(), Env: os.Environ(), Stderr: io.Discard, Limit: time.Minute,
		Allow: func(context.Context, string, string) error { return nil }}
}

// TestSession sends two lines to a program, and ends it.
func TestSession(t *testing.T) {
	t.Parallel()
	const echo = "while read -r line; do echo \"got $line\"; done\n"
	for name, test := range map[string]struct{ script, want string }{
		"responds":               {echo, "got 1, got 2"},
		"prints blank lines":     {"while read -r line; do echo; echo \"$line\"; echo; done\n", "1, 2"},
		"leaves a child":         {"sleep 600 2>/dev/null &\n" + echo, "got 1, got 2"},
		"prints more":            {echo + "echo more\n", "got 1, got 2, error: the plugin a/v1 printed more than one response"},
		"fails":                  {echo + "exit 3\n", "got 1, got 2, error: the plugin a/v1 failed: exit status 3"},
		"ends":                   {"read -r line\necho one\n", "one, error: the plugin a/v1 ended without a response"},
		"ends, with a child":     {"sleep 600 2>/dev/null &\n", "error: a child of the plugin a/v1 keeps its output open"},
		"prints no end of lines": {"exec yes\n", "y, y, error: the plugin a/v1 printed more than one response"},
		"prints without end":     {"exec cat /dev/zero\n", "error: the plugin a/v1 printed more than 64 MiB and was stopped"},
		"does not read":          {"echo 1\necho 2\n", "1, 2"},
		"no newline at the end":  {"read -r line\necho 1\nread -r line\nprintf 2\n", "1, 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := newProgram(t, test.script).start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, text := range []string{"1\n", "2\n"} {
				var out []byte
				if out, err = s.request(t.Context(), []byte(text)); err != nil {
					break
				}
				got = append(got, strings.TrimSpace(string(out)))
			}
			if end := s.end(); err == nil {
				err = end
			}
			if err != nil {
				got = append(got, "error: "+err.Error())
				if fault.HintOf(err) == "" {
					t.Errorf("no hint: %v", err)
				}
			}
			if text := strings.Join(got, ", "); text != test.want {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}

// TestSessionStops expects that the process ends if the time is over or the user interrupts the command, and
// that only one goroutine reads its output, which go test -race checks.
func TestSessionStops(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"silent": "exec sleep 600\n", "endless": "while :; do printf x; done\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := newProgram(t, script)
			program.Limit = 50 * time.Millisecond
			s, err := program.start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.request(t.Context(), []byte("1\n")); errorText(err) != "the plugin a/v1 did not respond within 50ms" {
				t.Error(err)
			}
			if err := s.end(); err == nil {
				t.Error("a killed program ended without an error")
			}

			program.Limit = time.Minute
			ctx, cancel := context.WithCancel(t.Context())
			if s, err = program.start(ctx); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(50*time.Millisecond, cancel)
			if _, err := s.request(ctx, []byte("1\n")); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			_ = s.end()
			<-s.ended
		})
	}
}

// TestRelativeProgram expects that a relative path is refused.
func TestRelativeProgram(t *testing.T) {
	t.Parallel()
	program := newProgram(t, "echo 1\n")
	program.Path = "a"
	if _, err := program.run(t.Context(), nil); errorText(err) != "the path of the plugin a/v1 is relative: a" {
		t.Error(err)
	}
}
