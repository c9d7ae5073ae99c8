package spec

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// compare compares what is expected with what was counted and with the cluster.
func (s *session) compare(ctx context.Context, x *Expect, t *tally) {
	if x.Runs != nil && *x.Runs != t.runs {
		s.differs(x.Line, &fix{x, "runs", nil, t.runs}, "runs: the hook ran %s, want %d", times(t.runs), *x.Runs)
	}
	if x.ExitCode != nil && (t.runs == 0 || *x.ExitCode != t.exitCode) {
		if t.runs == 0 {
			s.differs(x.Line, nil, "exitCode: the hook did not run, want exit code %d", *x.ExitCode)
		} else {
			s.differs(x.Line, &fix{x, "exitCode", nil, t.exitCode}, "exitCode: the last run ended with %d, want %d", t.exitCode, *x.ExitCode)
		}
	}
	if x.Error != "" && !slices.ContainsFunc(t.errors, func(e string) bool { return strings.Contains(e, x.Error) }) {
		s.differs(x.Line, nil, "error: nothing failed with %q%s", x.Error, but(t.errors))
	}
	for _, text := range x.Output {
		if !strings.Contains(t.output.String(), text) {
			s.differs(x.Line, nil, "output: the hook did not say %q%s", text, but(lastLines(t.output.String(), 5)))
		}
	}
	s.list(x, "patches", x.Patches, t.patches)
	s.list(x, "contexts", x.Contexts, normal(t.contexts))
	s.list(x, "converted", x.Converted, t.converted)
	s.metrics(x, t)
	if w := x.Response; w != nil {
		if t.response == nil {
			s.differs(w.line(-1), nil, "response: no webhook was asked")
		} else {
			s.value(x, w.line(-1), "response", nil, w.value, normal(t.response))
		}
	}
	s.objects(ctx, x)
	s.absent(ctx, x)
	s.values(x, t)
}

func times(n int) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func but(said []string) string {
	if len(said) == 0 {
		return ""
	}
	return ", but: " + strings.Join(said, " | ")
}

func (s *session) differs(line int, f *fix, format string, args ...any) {
	s.outcome.Failures = append(s.outcome.Failures, Failure{line, fmt.Sprintf(format, args...), f})
}

// value compares a value, of which what is expected is a part.
func (s *session) value(x *Expect, line int, key string, at []any, want, got any) {
	diffs := differences(want, got, "", false)
	if len(diffs) == 0 {
		return
	}
	place := key
	if len(at) > 0 {
		place = fmt.Sprintf("%s%v", key, at) // patches[0]
	}
	var said []string
	for _, d := range diffs {
		said = append(said, d.String())
	}
	s.differs(line, &fix{x, key, at, corrected(want, got)}, "%s: %s", place, strings.Join(said, "\n"))
}

// list compares lists, item by item.
func (s *session) list(x *Expect, key string, w *wanted, got any) {
	if w == nil {
		return
	}
	items, _ := normal(got).([]any)
	want := w.list()
	if len(items) != len(want) {
		s.differs(w.line(-1), &fix{x, key, nil, lasting(items)}, "%s: there are %d, want %d:\n%s", key, len(items), len(want), lines(items))
		return
	}
	for i := range want {
		s.value(x, w.line(i), key, []any{i}, want[i], items[i])
	}
}

// metrics finds each metric among those that were written; an empty list has none
// written.
func (s *session) metrics(x *Expect, t *tally) {
	if x.Metrics == nil {
		return
	}
	got, _ := normal(t.metrics).([]any)
	if len(x.Metrics.list()) == 0 && len(got) > 0 {
		s.differs(x.Metrics.line(-1), nil, "metrics: there are %d, want none:\n%s", len(got), lines(got))
	}
	for i, want := range x.Metrics.list() {
		if !slices.ContainsFunc(got, func(m any) bool { return len(differences(want, m, "", false)) == 0 }) {
			s.differs(x.Metrics.line(i), nil, "metrics[%d]: no such metric was written, but:\n%s", i, lines(got))
		}
	}
}

// objects finds each object in the cluster.
func (s *session) objects(ctx context.Context, x *Expect) {
	if x.Objects == nil {
		return
	}
	for i, want := range x.Objects.list() {
		o := &unstructured.Unstructured{Object: want.(map[string]any)}
		there, err := s.find(ctx, o)
		switch {
		case err != nil:
			s.differs(x.Objects.line(i), nil, "objects[%d]: %v", i, err)
		case there == nil:
			s.differs(x.Objects.line(i), nil, "objects[%d]: %s is not there", i, identity(o))
		default:
			s.value(x, x.Objects.line(i), "objects", []any{i}, want, normal(there.Object))
		}
	}
}

// absent finds that objects are not in the cluster.
func (s *session) absent(ctx context.Context, x *Expect) {
	if x.Absent == nil {
		return
	}
	for i, want := range x.Absent.list() {
		o := &unstructured.Unstructured{Object: want.(map[string]any)}
		there, err := s.find(ctx, o)
		switch {
		case err != nil:
			s.differs(x.Absent.line(i), nil, "absent[%d]: %v", i, err)
		case there != nil:
			s.differs(x.Absent.line(i), nil, "absent[%d]: %s is there", i, identity(there))
		}
	}
}

// find returns an object of a name; or without one the first that has all that is
// asked for; or nil.
func (s *session) find(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	api := s.cluster.Person()
	kind, err := api.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return nil, err
	}
	if o.GetName() != "" {
		there, err := api.Get(ctx, kind, o.GetNamespace(), o.GetName())
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return there, err
	}
	list, err := api.List(ctx, kind, o.GetNamespace(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if len(differences(normal(o.Object), normal(list.Items[i].Object), "", false)) == 0 {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// normal is a value as it would be read from JSON.
func normal(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var n any
	if err := json.Unmarshal(text, &n); err != nil {
		return v
	}
	return n
}

// missing stands for a key that is not there.
type missing struct{}

// difference is a value that is not what is expected.
type difference struct {
	path      string
	want, got any
}

func (d difference) String() string {
	path := d.path
	if path != "" {
		path += " "
	}
	switch {
	case d.want == nil:
		return fmt.Sprintf("%sis %s, want none", path, shown(d.got))
	case d.got == missing{}:
		return fmt.Sprintf("%sis missing, want %s", path, shown(d.want))
	}
	return fmt.Sprintf("%sis %s, want %s", path, shown(d.got), shown(d.want))
}

// differences finds what of want is not in got. With exact, it also finds what got
// has beside.
func differences(want, got any, path string, exact bool) []difference {
	switch w := want.(type) {
	case map[string]any:
		g, isObject := got.(map[string]any)
		if !isObject {
			return []difference{{path, want, got}}
		}
		return objectDifferences(w, g, path, exact)
	case []any:
		g, isList := got.([]any)
		if !isList || len(g) != len(w) {
			return []difference{{path, want, got}}
		}
		var all []difference
		for i := range w {
			all = append(all, differences(w[i], g[i], fmt.Sprintf("%s[%d]", path, i), exact)...)
		}
		return all
	}
	if shown(want) != shown(got) {
		return []difference{{path, want, got}}
	}
	return nil
}

func objectDifferences(want, got map[string]any, path string, exact bool) []difference {
	var all []difference
	for _, k := range sortedKeys(want) {
		below := k
		if path != "" {
			below = path + "." + k
		}
		g, there := got[k]
		switch {
		case want[k] == nil && (!there || g == nil):
		case !there:
			all = append(all, difference{below, want[k], missing{}})
		default:
			all = append(all, differences(want[k], g, below, exact)...)
		}
	}
	for _, k := range sortedKeys(got) {
		if _, asked := want[k]; exact && !asked {
			all = append(all, difference{strings.TrimPrefix(path+"."+k, "."), missing{}, got[k]})
		}
	}
	return all
}

// longest is how much of a value is shown.
const longest = 300

// shown is a value as JSON in one line, shortened.
func shown(v any) string {
	if v == (missing{}) {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > longest {
		return string(text[:longest]) + "..."
	}
	return string(text)
}

func lines(items []any) string {
	var all []string
	for _, item := range items {
		all = append(all, "- "+shown(item))
	}
	return strings.Join(all, "\n")
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
