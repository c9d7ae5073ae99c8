package hooktest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	s.list(x, "contexts", x.Contexts, normal(t.contexts))
	s.list(x, "converted", x.Converted, t.converted)
	s.metrics(x, t)
	if w := x.Response; w != nil {
		if t.response == nil {
			s.differs(w.line(-1), "response: no webhook was asked")
			s.addFix(x, unset("response", t))
		} else {
			s.value(x, "response", w, normal(t.response))
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
		s.differs(x.Line, "exitCode: the last run ended with %d, want %d", t.exitCode, *x.ExitCode)
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
	s.differs(x.Line, "error: nothing failed with %q%s", x.Error, instead(t.errors))
	if len(t.reasons) == 0 {
		s.addFix(x, unset("error", t))
		return
	}
	s.addFix(x, set("error", s.portablePart(t.reasons[nearestText(x.Error, t.reasons)])))
}

func (s *session) output(x *Expect, t *activity) {
	missing := slices.DeleteFunc(slices.Clone(x.Output), func(text string) bool { return strings.Contains(t.output.String(), text) })
	for _, text := range missing {
		s.differs(x.Line, "output: the hook did not print %q%s", text, instead(lastLines(t.output.String(), 5)))
	}
	if len(missing) > 0 {
		s.addFix(x, func(written map[string]any) { s.correctOutput(written, x.Output, t) })
	}
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

func instead(alternatives []string) string {
	if len(alternatives) == 0 {
		return ""
	}
	return ", but: " + strings.Join(alternatives, " | ")
}

func (s *session) differs(line int, format string, args ...any) {
	s.outcome.fail(line, format, args...)
}

// same reports whether got contains all expected fields of want.
func (s *session) same(line int, place string, want, got any) bool {
	var texts []string
	for _, d := range differences(want, got, "", false) {
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
	items, _ := normal(got).([]any)
	want := w.list()
	if len(items) != len(want) {
		s.differs(w.line(-1), "%s: there are %d, want %d:\n%s", key, len(items), len(want), lines(items))
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
	got, _ := normal(t.metrics).([]any)
	want := x.Metrics.list()
	if len(want) == 0 && len(got) > 0 {
		s.differs(x.Metrics.line(-1), "metrics: there are %d, want none:\n%s", len(got), lines(got))
		s.addFix(x, set("metrics", got))
	}
	all := make([]found, len(want))
	for i, w := range want {
		for _, m := range got {
			all[i].fits = all[i].fits || len(differences(w, m, "", false)) == 0
			if metricName(w) == metricName(m) {
				all[i].like = append(all[i].like, m)
			}
		}
		if !all[i].fits {
			s.differs(x.Metrics.line(i), "metrics[%d]: no such metric was written, but:\n%s", i, lines(got))
		}
	}
	s.correct(x, "metrics", x.Metrics, all)
	if len(want) > 0 && !slices.ContainsFunc(all, func(f found) bool { return f.fits || len(f.like) > 0 }) {
		s.addFix(x, set("metrics", asList(got))) // an empty list would expect no metrics
	}
}

func metricName(m any) any {
	all, _ := m.(map[string]any)
	return all["name"]
}

// objects compares the cluster with the expected and the absent objects.
func (s *session) objects(ctx context.Context, x *Expect, t *activity) {
	var move []func(written map[string]any)
	if w := x.Objects; w != nil {
		all := make([]found, len(w.list()))
		for i, want := range w.list() {
			all[i] = s.object(ctx, w.line(i), i, want.(map[string]any))
			if all[i].gone() {
				move = append(move, func(written map[string]any) { add(written, "absent", want, sparse(want)) })
			}
		}
		s.correct(x, "objects", w, all)
	}
	if w := x.Absent; w != nil {
		all := make([]found, len(w.list()))
		for i, want := range w.list() {
			o := &unstructured.Unstructured{Object: want.(map[string]any)}
			there, err := s.find(ctx, o)
			all[i].fits = there == nil
			switch {
			case err != nil:
				s.differs(w.line(i), "absent[%d]: %v", i, err)
			case there != nil:
				s.differs(w.line(i), "absent[%d]: %s is there", i, identity(there))
				move = append(move, func(written map[string]any) {
					add(written, "objects", want, corrected(want, want, normal(there.Object)))
				})
			}
		}
		s.correct(x, "absent", w, all)
	}
	if len(move) > 0 {
		s.addFix(x, func(written map[string]any) {
			for _, each := range move {
				each(written)
			}
			for _, key := range []string{"objects", "absent"} {
				if list, isList := written[key].([]any); isList && len(list) == 0 {
					unset(key, t)(written)
				}
			}
		})
	}
}

// object finds the i-th expected object.
func (s *session) object(ctx context.Context, line, i int, want map[string]any) found {
	o := &unstructured.Unstructured{Object: want}
	there, err := s.find(ctx, o)
	switch {
	case err != nil:
		s.differs(line, "objects[%d]: %v", i, err)
		return found{fits: true} // an update cannot correct this
	case there != nil:
		got := normal(there.Object)
		return found{fits: s.same(line, fmt.Sprintf("objects[%d]", i), want, got), got: got}
	}
	s.differs(line, "objects[%d]: %s is not there", i, identity(o))
	var like []any
	if o.GetName() == "" {
		like = s.others(ctx, o)
	}
	return found{like: like}
}

// find returns the object with the name of o. If o has no name, find returns the first
// object of the kind that contains all fields of o. The object is nil if there is none.
func (s *session) find(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if o.GetName() != "" {
		api := s.cluster.User()
		kind, err := api.Kind(ctx, o.GetAPIVersion(), o.GetKind())
		if err != nil {
			return nil, err
		}
		there, err := api.Get(ctx, kind, o.GetNamespace(), o.GetName())
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return there, err
	}
	list, err := s.listed(ctx, o)
	for i := range list {
		if len(differences(normal(o.Object), normal(list[i].Object), "", false)) == 0 {
			return &list[i], nil
		}
	}
	return nil, err
}

// listed returns the objects of the kind and namespace of like.
func (s *session) listed(ctx context.Context, like *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	api := s.cluster.User()
	kind, err := api.Kind(ctx, like.GetAPIVersion(), like.GetKind())
	if err != nil {
		return nil, err
	}
	list, err := api.List(ctx, kind, like.GetNamespace(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// others returns the candidates for an expected object without a name.
func (s *session) others(ctx context.Context, o *unstructured.Unstructured) []any {
	list, err := s.listed(ctx, o)
	if err != nil {
		return nil
	}
	var all []any
	for _, other := range list {
		all = append(all, normal(other.Object))
	}
	return all
}

// normal converts a value to the types that decoding JSON results in.
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
