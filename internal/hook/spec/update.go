package spec

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/operon-dev/operon/internal/edit"
)

// fix is a value that would meet an expectation.
type fix struct {
	expect *Expect
	key    string
	at     []any // places in lists below the key
	value  any
}

// corrected is what is expected, with the values that are there: keys that were not
// asked for stay out, and those that are not there go.
func corrected(want, got any) any {
	switch w := want.(type) {
	case map[string]any:
		g, isObject := got.(map[string]any)
		if !isObject {
			return lasting(got)
		}
		next := map[string]any{}
		for k := range w {
			if v, there := g[k]; there {
				next[k] = corrected(w[k], v)
			} else if w[k] == nil {
				next[k] = nil
			}
		}
		return next
	case []any:
		g, isList := got.([]any)
		if !isList || len(g) != len(w) {
			return lasting(got)
		}
		next := make([]any, len(w))
		for i := range w {
			next[i] = corrected(w[i], g[i])
		}
		return next
	}
	return got
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
			for _, k := range []string{"creationTimestamp", "managedFields", "resourceVersion", "uid"} {
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

// Update returns the text of a file with the expectations that failed replaced by
// what is the case, and how many. Other text, comments among it, stays as it is.
// The outcomes keep the failures that no value would mend, and lose the others.
func (f *File) Update(text []byte, outcomes []Outcome) (updated []byte, fixed int, err error) {
	y, err := edit.DecodeYAML(text)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", f.Path, err)
	}
	was, next := y.Value, copied(y.Value)
	for i, o := range outcomes {
		if o.Test.File != f {
			continue
		}
		outcomes[i].Failures = slices.DeleteFunc(o.Failures, func(failure Failure) bool {
			if failure.fix == nil {
				return false
			}
			path := append(f.path(failure.fix.expect), failure.fix.key)
			place(next, append(path, failure.fix.at...), failure.fix.value)
			fixed++
			return true
		})
	}
	updated, err = edit.ReconcileYAML(text, was, next, func(a, b any) bool { return true })
	return updated, fixed, err
}

// path leads to an expectation in the file.
func (f *File) path(x *Expect) []any {
	for i, t := range f.Tests {
		for n, e := range t.Events {
			if e.Expect == x {
				return []any{"tests", i, "events", n, "expect"}
			}
		}
		if t.Expect == x {
			return []any{"tests", i, "expect"}
		}
	}
	return nil
}

// place puts a value where a path leads.
func place(v any, path []any, value any) {
	for i, step := range path {
		last := i == len(path)-1
		switch x := v.(type) {
		case map[string]any:
			key := fmt.Sprint(step)
			if last {
				x[key] = value
			}
			v = x[key]
		case []any:
			n, err := strconv.Atoi(fmt.Sprint(step))
			if err != nil || n >= len(x) {
				return
			}
			if last {
				x[n] = value
			}
			v = x[n]
		}
	}
}

// copied is a deep copy of plain data.
func copied(v any) any {
	switch x := v.(type) {
	case map[string]any:
		next := make(map[string]any, len(x))
		for k := range x {
			next[k] = copied(x[k])
		}
		return next
	case []any:
		next := make([]any, len(x))
		for i := range x {
			next[i] = copied(x[i])
		}
		return next
	}
	return v
}
