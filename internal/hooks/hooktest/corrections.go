package hooktest

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// set gives a key a value.
func set(key string, value any) func(written map[string]any) {
	return func(written map[string]any) { written[key] = lasting(value) }
}

// unset takes a key away. What is left says something in any case.
func unset(key string, t *activity) func(written map[string]any) {
	return func(written map[string]any) {
		delete(written, key)
		if len(written) == 0 {
			written["runs"] = t.runs
		}
	}
}

// found is what there is for an item of a list that is expected.
type found struct {
	fits bool  // it is as expected
	got  any   // what it is, if that is known
	like []any // or what it may have become
}

// gone reports whether there is nothing of the kind.
func (f found) gone() bool { return !f.fits && f.got == nil && len(f.like) == 0 }

// correct has items of a list become what was found for them. Those for which
// nothing was found go.
func (s *session) correct(x *Expect, key string, w *expected, all []found) {
	if !slices.ContainsFunc(all, func(f found) bool { return !f.fits }) {
		return
	}
	s.amend(x, func(written map[string]any) {
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

// nearest is what differs least from what is wanted, and is not taken; or nil.
func nearest(want any, all, taken []any) any {
	var best any
	least := 0
	for _, v := range all {
		if slices.ContainsFunc(taken, func(t any) bool { return reflect.DeepEqual(t, v) }) {
			continue
		}
		if n := len(differences(want, v, "", false)); best == nil || n < least {
			best, least = v, n
		}
	}
	return best
}

// aligned are the items that there are. Those that are as expected stand as they are
// written.
func aligned(written any, want, items []any) []any {
	list, _ := written.([]any)
	next, from := []any{}, 0
	for _, item := range items {
		i := from
		for i < len(want) && len(differences(want[i], item, "", false)) > 0 {
			i++
		}
		if i < len(want) && i < len(list) {
			next, from = append(next, list[i]), i+1
		} else {
			next = append(next, lasting(item))
		}
	}
	return next
}

// add appends an object to a list, unless it is there.
func add(written map[string]any, key string, object, as any) {
	list, _ := written[key].([]any)
	id := func(v any) string {
		o, _ := v.(map[string]any)
		return identity(&unstructured.Unstructured{Object: o})
	}
	named, _ := object.(map[string]any)
	if (&unstructured.Unstructured{Object: named}).GetName() == "" || !slices.ContainsFunc(list, func(v any) bool { return id(v) == id(object) }) {
		written[key] = append(list[:len(list):len(list)], as)
	}
}

// sparse is what tells which object is meant: its name, or else all that is asked of
// it.
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

// corrected is what is expected, with the values that are there: keys that were not
// asked for stay out, those that are not there go, and what is right stays as it is
// written.
func corrected(written, want, got any) any {
	switch w := want.(type) {
	case map[string]any:
		g, isObject := got.(map[string]any)
		if !isObject {
			return lasting(got)
		}
		was, _ := written.(map[string]any)
		next := map[string]any{}
		for k := range w {
			if v, there := g[k]; there {
				next[k] = corrected(was[k], w[k], v)
			} else if w[k] == nil {
				next[k] = nil
			}
		}
		return next
	case []any:
		g, isList := got.([]any)
		was, _ := written.([]any)
		if !isList || len(was) != len(w) {
			return lasting(got)
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
	if whole(want) == whole(got) {
		return written
	}
	return lasting(got)
}

// lasting is a value without what API servers give objects anew in each run: on
// another one the test would fail.
func lasting(v any) any {
	switch x := v.(type) {
	case map[string]any:
		next := map[string]any{}
		for k, item := range x {
			next[k] = lasting(item)
		}
		if metadata, isObject := next["metadata"].(map[string]any); isObject {
			for _, k := range []string{"creationTimestamp", "deletionTimestamp", "managedFields", "resourceVersion", "uid"} {
				delete(metadata, k)
			}
		}
		return next
	case []any:
		next := make([]any, len(x))
		for i, item := range x {
			next[i] = lasting(item)
		}
		return next
	}
	return v
}

// correctOutput has texts that were not said become the lines that are most like
// them.
func (s *session) correctOutput(written map[string]any, want []string, t *activity) {
	said := s.said(t)
	next := []any{}
	for _, text := range want {
		if strings.Contains(t.output.String(), text) {
			next = append(next, text)
			said = slices.DeleteFunc(said, func(line string) bool { return strings.Contains(line, text) })
		}
	}
	for i, text := range want {
		if strings.Contains(t.output.String(), text) || len(said) == 0 {
			continue
		}
		line := nearestText(text, said)
		next = slices.Insert(next, min(i, len(next)), any(said[line]))
		said = slices.Delete(said, line, line+1)
	}
	if written["output"] = next; len(next) == 0 {
		unset("output", t)(written)
	}
}

// said are the lines that the hook wrote, as far as they are the same on any machine.
func (s *session) said(t *activity) []string {
	var all []string
	for _, line := range lastLines(t.output.String(), t.output.Len()) {
		if line = s.anywhere(line); line != "" && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// anywhere is the longest part of a text that names no folder of this machine, which
// the same run has on any other.
func (s *session) anywhere(text string) string {
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

// nearestText is the index of the text that is most like another one.
func nearestText(text string, all []string) int {
	best, least := 0, -1
	for i, other := range all {
		if d := fault.Distance(text, other); least < 0 || d < least {
			best, least = i, d
		}
	}
	return best
}
