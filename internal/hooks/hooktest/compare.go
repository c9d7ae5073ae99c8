package hooktest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/testfile"
)

// compare compares the recorded activity and the cluster with the expectation.
func (s *session) compare(ctx context.Context, x *Expect, t *activity) {
	s.fillEmptyKeys(ctx, x, t)
	if x.Runs != nil && *x.Runs != t.runs {
		s.differs(x.Line, "runs: the hook ran %s, want %d", times(t.runs), *x.Runs)
		s.addFix(x, set("runs", t.runs))
	}
	s.exitCode(x, t)
	s.failure(x, t)
	s.output(x, t)
	s.list(x, "patches", x.Patches, t.patches)
	s.list(x, "contexts", x.Contexts, testfile.Normal(t.contexts))
	s.list(x, "converted", x.Converted, t.converted)
	s.metrics(x, t)
	if w := x.Response; w != nil {
		if t.response == nil {
			s.differs(w.line(-1), "response: no webhook was called")
			s.addFix(x, unset("response", t))
		} else {
			s.value(x, "response", w, testfile.Normal(t.response))
		}
	}
	s.objects(ctx, x, t)
	s.values(x, t)
}

func (s *session) exitCode(x *Expect, t *activity) {
	switch {
	case x.ExitCode == nil || t.runs > 0 && *x.ExitCode == t.exitCode:
	case t.runs == 0:
		s.differs(x.Line, "exitCode: the hook did not run, want exit code %d", *x.ExitCode)
		s.addFix(x, unset("exitCode", t))
	default:
		s.differs(x.Line, "exitCode: the last run exited with %d, want %d", t.exitCode, *x.ExitCode)
		s.addFix(x, func(written map[string]any) {
			written["exitCode"] = t.exitCode
			if t.exitCode == 0 && x.Error == "" && len(t.reasons) > 0 { // the hook fails despite exit code 0
				written["error"] = s.portablePart(last(t.reasons))
			}
		})
	}
}

func (s *session) failure(x *Expect, t *activity) {
	if x.Error == "" || slices.ContainsFunc(t.errors, func(e string) bool { return strings.Contains(e, x.Error) }) {
		return
	}
	s.differs(x.Line, "error: no run failed with %q%s", x.Error, instead(t.errors))
	if len(t.reasons) == 0 {
		s.addFix(x, unset("error", t))
		return
	}
	s.addFix(x, set("error", s.portablePart(t.reasons[nearestText(x.Error, t.reasons)])))
}

func (s *session) output(x *Expect, t *activity) {
	missing := slices.DeleteFunc(slices.Clone(x.Output), func(text string) bool { return strings.Contains(t.output.String(), text) })
	for _, text := range missing {
		s.differs(x.Line, "output: the hook did not print %q%s", text, instead(lastLines(hooks.WithoutTracebacks(t.output.String()), 5)))
	}
	if len(missing) > 0 {
		s.addFix(x, func(written map[string]any) { s.correctOutput(written, x.Output, t) })
	}
}

func times(n int) string {
	switch n {
	case 0:
		return "0 times"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func instead(alternatives []string) string {
	if len(alternatives) == 0 {
		return ""
	}
	return "; got: " + strings.Join(alternatives, " | ")
}

// differs records an unmet expectation.
func (s *session) differs(line int, format string, args ...any) {
	s.outcome.fail(line, format, args...)
	s.outcome.unmet++
}

// same reports whether got contains all expected fields of want.
func (s *session) same(line int, place string, want, got any) bool {
	var texts []string
	for _, d := range testfile.Differences(want, got, "", false) {
		texts = append(texts, d.String())
	}
	if len(texts) > 0 {
		s.differs(line, "%s: %s", place, strings.Join(texts, "\n"))
	}
	return len(texts) == 0
}

// value compares the value of a key.
func (s *session) value(x *Expect, key string, w *expected, got any) {
	if !s.same(w.line(-1), key, w.value, got) {
		s.addFix(x, func(written map[string]any) { written[key] = corrected(written[key], w.value, got) })
	}
}

// list compares two lists item by item.
func (s *session) list(x *Expect, key string, w *expected, got any) {
	if w == nil {
		return
	}
	items, _ := testfile.Normal(got).([]any)
	want := w.list()
	if len(items) != len(want) {
		s.differs(w.line(-1), "%s: got %d, want %d:\n%s", key, len(items), len(want), testfile.Lines(items))
		s.addFix(x, func(written map[string]any) { written[key] = aligned(written[key], want, items) })
		return
	}
	all := make([]found, len(want))
	for i := range want {
		all[i] = found{fits: s.same(w.line(i), fmt.Sprintf("%s[%d]", key, i), want[i], items[i]), got: items[i]} // such as patches[0]
	}
	s.correct(x, key, w, all)
}

// metrics finds each expected metric among the written ones. An empty list expects no
// metrics.
func (s *session) metrics(x *Expect, t *activity) {
	if x.Metrics == nil {
		return
	}
	got, _ := testfile.Normal(t.metrics).([]any)
	want := x.Metrics.list()
	if len(want) == 0 && len(got) > 0 {
		s.differs(x.Metrics.line(-1), "metrics: got %d, want none:\n%s", len(got), testfile.Lines(got))
		s.addFix(x, set("metrics", got))
	}
	all := make([]found, len(want))
	for i, w := range want {
		for _, m := range got {
			m := inShortForm(w, m)
			all[i].fits = all[i].fits || len(testfile.Differences(w, m, "", false)) == 0
			if metricName(w) == metricName(m) {
				all[i].like = append(all[i].like, m)
			}
		}
		if !all[i].fits {
			s.differs(x.Metrics.line(i), "metrics[%d]: the hook wrote no such metric; it wrote:\n%s", i, testfile.Lines(got))
		}
	}
	s.correct(x, "metrics", x.Metrics, all)
	if len(want) > 0 && !slices.ContainsFunc(all, func(f found) bool { return f.fits || len(f.like) > 0 }) {
		s.addFix(x, set("metrics", asList(got))) // an empty list would expect no metrics
	}
}

// inShortForm returns a metric with the key add or set instead of action and value, if the expectation has that key, as hooks write
// it in the metrics file.
func inShortForm(want, metric any) any {
	w, _ := want.(map[string]any)
	m, _ := metric.(map[string]any)
	action, _ := m["action"].(string)
	if _, short := w[action]; !short {
		return metric
	}
	m = maps.Clone(m)
	m[action] = m["value"]
	delete(m, "action")
	delete(m, "value")
	return m
}

func metricName(m any) any {
	all, _ := m.(map[string]any)
	return all["name"]
}

func lastLines(text string, n int) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all[max(0, len(all)-n):]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
