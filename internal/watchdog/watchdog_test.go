package watchdog

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
)

// TestWatchdog expects the end of a program whose foreign code runs for too long, or does not end with the program's context. The
// watchdog belongs to the process, so the steps come one after the other.
func TestWatchdog(t *testing.T) {
	ended := make(chan error)
	start := func(ctx context.Context) {
		Start(ctx, func(err error) {
			ended <- err
			runtime.Goexit()
		})
	}
	expect := func(want string) {
		t.Helper()
		select {
		case err := <-ended:
			if err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		case <-time.After(time.Minute):
			t.Errorf("no end, want %s", want)
		}
		running.Lock()
		defer running.Unlock()
		running.watching = false // exit does not return in a program
	}

	// Code that has ended, or has run for a short time, does not count.
	start(t.Context())
	Enter("the template a")()
	defer Enter("the template b")()

	leave := Enter("the template c")
	since(t, "the template c", time.Now().Add(-maxTime))
	expect("the template c does not end within 1m0s")
	leave()

	ctx, cancel := context.WithCancelCause(t.Context())
	start(ctx)
	defer Enter("the template d")()
	cancel(errors.New("interrupted"))
	expect("interrupted")
}

// TestBound calls functions with usual values, and with values whose results would fill the memory.
func TestBound(t *testing.T) {
	t.Parallel()
	functions := map[string]any(sprig.TxtFuncMap())
	Bound(functions)
	for text, want := range map[string]string{
		`{{ repeat 3 "ab" }}`:                                    "ababab",
		`{{ replace "a" "b" "aha" }}`:                            "bhb",
		`{{ indent 2 "a\nb" }}{{ nindent 1 "c" }}`:               "  a\n  b\n c",
		`{{ until 3 }} {{ untilStep 6 0 -2 }} {{ until -2 }}`:    "[0 1 2] [6 4 2] [0 -1]",
		`{{ untilStep 0 9000000000000000000 0 }}`:                "error",
		`{{ repeat 9000000000000000000 "abcdefgh" }}`:            "error",
		`{{ repeat 2000000000 "" }}`:                             "",
		`{{ replace "" (repeat 60000 "a") (repeat 60000 "a") }}`: "error",
		`{{ indent 200000000 "a" }}`:                             "error",
		`{{ nindent 20000 (repeat 20000 "\n") }}`:                "error",
		`{{ until 2000000000 }}`:                                 "error",
		`{{ until -2000000000 }}`:                                "error",
		`{{ untilStep 0 2000000000 2 }}`:                         "error",
	} {
		var out strings.Builder
		parsed, err := template.New("a").Funcs(functions).Parse(text)
		if err == nil {
			err = parsed.Execute(&out, nil)
		}
		if err != nil && want == "error" && strings.Contains(err.Error(), "larger than 64 MiB") {
			continue
		}
		if err != nil || out.String() != want {
			t.Errorf("%s: %q, %v, want %q", text, out.String(), err, want)
		}
	}
}

// since sets the time when running code has started.
func since(t *testing.T, what string, start time.Time) {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	for n, c := range running.calls {
		if c.what == what {
			running.calls[n] = call{what, start}
		}
	}
}
