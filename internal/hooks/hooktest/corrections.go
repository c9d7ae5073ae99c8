package hooktest

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/testfile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// set returns a correction that sets a key.
func set(key string, value any) func(written map[string]any) {
	return func(written map[string]any) { written[key] = withoutServerFields(value) }
}

// unset returns a correction that removes a key. An expectation must not become empty: it
// then gets the key runs.
func unset(key string, t *activity) func(written map[string]any) {
	return func(written map[string]any) {
		delete(written, key)
		if len(written) == 0 {
			written["runs"] = t.runs
		}
	}
}

// found is the result of looking for an expected list item.
type found struct {
	fits bool  // the item is as expected
	got  any   // the actual item, if it is known
	like []any // otherwise the candidates for it
}

// isMissing reports whether there is neither an actual item nor a candidate.
func (f found) isMissing() bool { return !f.fits && f.got == nil && len(f.like) == 0 }

// correct replaces unmet list items by the actual ones, and removes items without any.
func (s *session) correct(x *Expect, key string, w *expected, all []found) {
	if !slices.ContainsFunc(all, func(f found) bool { return !f.fits }) {
		return
	}
	s.addFix(x, func(written map[string]any) {
		list, _ := written[key].([]any)
		next := []any{}
		var taken []any
		for i, f := range all {
			want, got := w.list()[i], f.got
			if f.fits {
				next = append(next, list[i])
				continue
			}
			if got == nil {
				if got = nearest(want, f.like, taken); got == nil {
					continue
				}
				taken = append(taken, got)
			}
			next = append(next, corrected(list[i], want, got))
		}
		written[key] = next
	})
}

// nearest returns the value with the fewest differences from want that is not in taken,
// or nil.
func nearest(want any, all, taken []any) any {
	var best any
	least := 0
	for _, v := range all {
		if slices.ContainsFunc(taken, func(t any) bool { return reflect.DeepEqual(t, v) }) {
			continue
		}
		if n := len(testfile.Differences(want, v, "", false)); best == nil || n < least {
			best, least = v, n
		}
	}
	return best
}

// aligned returns the actual items. Items that meet an expectation keep their written
// form.
func aligned(written any, want, items []any) []any {
	list, _ := written.([]any)
	next, from := []any{}, 0
	for _, item := range items {
		i := from
		for i < len(want) && len(testfile.Differences(want[i], item, "", false)) > 0 {
			i++
		}
		if i < len(want) && i < len(list) {
			next, from = append(next, list[i]), i+1
		} else {
			next = append(next, withoutServerFields(item))
		}
	}
	return next
}

// add appends an object to a list unless the list already contains it.
func add(written map[string]any, key string, object, as any) {
	list, _ := written[key].([]any)
	id := func(v any) string {
		o, _ := v.(map[string]any)
		return testfile.Identity(&unstructured.Unstructured{Object: o})
	}
	named, _ := object.(map[string]any)
	same := func(v any) bool { return id(v) == id(object) }
	if (&unstructured.Unstructured{Object: named}).GetName() == "" || !slices.ContainsFunc(list, same) {
		written[key] = append(list[:len(list):len(list)], as)
	}
}

// sparse returns the fields that identify an object: kind, namespace and name. An object
// without a name is returned unchanged.
func sparse(object any) any {
	all, _ := object.(map[string]any)
	o := &unstructured.Unstructured{Object: all}
	if o.GetName() == "" {
		return object
	}
	metadata := map[string]any{"name": o.GetName()}
	if o.GetNamespace() != "" {
		metadata["namespace"] = o.GetNamespace()
	}
	return map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": metadata}
}

// corrected returns the expectation with the actual values. It adds no keys, removes keys
// that the actual value lacks and metadata that an API server sets in each run, and leaves
// matching values as written.
func corrected(written, want, got any) any {
	switch w := want.(type) {
	case map[string]any:
		g, isObject := got.(map[string]any)
		if !isObject {
			return withoutServerFields(got)
		}
		was, _ := written.(map[string]any)
		next := map[string]any{}
		for k := range w {
			if v, found := g[k]; found {
				next[k] = corrected(was[k], w[k], v)
				if k == "metadata" {
					dropServerFields(next[k], w[k])
				}
			} else if w[k] == nil {
				next[k] = nil
			}
		}
		return next
	case []any:
		g, isList := got.([]any)
		was, _ := written.([]any)
		if !isList || len(was) != len(w) {
			return withoutServerFields(got)
		}
		if len(g) != len(w) {
			return aligned(written, w, g)
		}
		next := make([]any, len(w))
		for i := range w {
			next[i] = corrected(was[i], w[i], g[i])
		}
		return next
	}
	if testfile.JSON(want) == testfile.JSON(got) {
		return written
	}
	return withoutServerFields(got)
}

// withoutServerFields returns a value without the metadata that an API server sets in
// each run.
func withoutServerFields(v any) any {
	switch x := v.(type) {
	case map[string]any:
		next := map[string]any{}
		for k, item := range x {
			next[k] = withoutServerFields(item)
		}
		dropServerFields(next["metadata"], nil)
		return next
	case []any:
		next := make([]any, len(x))
		for i, item := range x {
			next[i] = withoutServerFields(item)
		}
		return next
	}
	return v
}

// dropServerFields deletes the fields that an API server sets in each run from metadata,
// except for those that are as expected.
func dropServerFields(metadata, want any) {
	m, _ := metadata.(map[string]any)
	w, _ := want.(map[string]any)
	for _, k := range []string{"creationTimestamp", "deletionTimestamp", "managedFields", "resourceVersion", "uid"} {
		if expected, found := w[k]; !found || testfile.JSON(expected) != testfile.JSON(m[k]) {
			delete(m, k)
		}
	}
}

// correctOutput replaces expected texts that the hook did not print by the most similar
// output lines.
func (s *session) correctOutput(written map[string]any, want []string, t *activity) {
	printed := s.outputLines(t)
	next := []any{}
	for _, text := range want {
		if strings.Contains(t.output.String(), text) {
			next = append(next, text)
			printed = slices.DeleteFunc(printed, func(line string) bool { return strings.Contains(line, text) })
		}
	}
	for i, text := range want {
		if strings.Contains(t.output.String(), text) || len(printed) == 0 {
			continue
		}
		line := nearestText(text, printed)
		next = slices.Insert(next, min(i, len(next)), any(printed[line]))
		printed = slices.Delete(printed, line, line+1)
	}
	if written["output"] = next; len(next) == 0 {
		unset("output", t)(written)
	}
}

// outputLines returns the distinct output lines of the hook, without machine-specific
// parts.
func (s *session) outputLines(t *activity) []string {
	var all []string
	for _, line := range lastLines(t.output.String(), t.output.Len()) {
		if line = s.portablePart(line); line != "" && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// portablePart returns the longest part of a text that contains no folder of this
// machine, so that an expectation holds on every machine.
func (s *session) portablePart(text string) string {
	var folders []string
	for _, folder := range s.folders {
		folders = append(folders, regexp.QuoteMeta(folder))
	}
	longest := ""
	for _, part := range regexp.MustCompile(`\n|(?:`+strings.Join(folders, "|")+`)[^\s:'"]*`).Split(text, -1) {
		if part = strings.Trim(part, " :\t\r"); len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// nearestText returns the index of the most similar text.
func nearestText(text string, all []string) int {
	best, least := 0, -1
	for i, other := range all {
		if d := fault.Distance(text, other); least < 0 || d < least {
			best, least = i, d
		}
	}
	return best
}
