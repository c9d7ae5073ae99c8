package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// times says where the run's time went. Tests run side by side, so that the
// lines add up to more than the whole.
var times struct {
	sync.Mutex
	lines []timed
	tests map[string]bool
}

type timed struct {
	what, step string
	start      time.Time
	took       time.Duration
}

// spent starts a clock for a line of the summary; the returned function stops it.
func spent(what, step string) (stop func()) {
	start := time.Now()
	return func() {
		times.Lock()
		defer times.Unlock()
		times.lines = append(times.lines, timed{what, step, start, time.Since(start)})
	}
}

// clock gives a test a line of its own in the summary.
func clock(t *testing.T) {
	times.Lock()
	defer times.Unlock()
	if times.tests == nil {
		times.tests = map[string]bool{}
	}
	name, _, sub := strings.Cut(t.Name(), "/")
	if sub || times.tests[name] {
		return
	}
	times.tests[name] = true
	t.Cleanup(spent(name, "test"))
}

// printTimes prints the summary, and writes it into the file that E2E_TIMES
// names: `go test` hides what passing packages print.
func printTimes() {
	times.Lock()
	defer times.Unlock()
	slices.SortStableFunc(times.lines, func(a, b timed) int { return a.start.Compare(b.start) })
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "from\tseconds\twhat\n")
	for _, l := range times.lines {
		fmt.Fprintf(w, "%.1f\t%.1f\t%s %s\n", l.start.Sub(times.lines[0].start).Seconds(), l.took.Seconds(), l.what, l.step)
	}
	_ = w.Flush()
	fmt.Print(table.String())
	if name := os.Getenv("E2E_TIMES"); name != "" {
		if err := os.WriteFile(name, []byte(table.String()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
		}
	}
}
