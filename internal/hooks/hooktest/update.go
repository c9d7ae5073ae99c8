package hooktest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// fix is a correction of an unmet expectation. change edits its keys as written in the
// file.
type fix struct {
	expect *Expect
	change func(written map[string]any)
}

// addFix records a correction of an unmet expectation.
func (s *session) addFix(x *Expect, change func(written map[string]any)) {
	s.outcome.fixes = append(s.outcome.fixes, fix{x, change})
}

// Updated is a test file with updated expectations.
type Updated struct {
	Text    []byte
	Changed int      // number of changed expectations
	Failing []string // names of tests that newly expect a failure
}

// Update returns the text of the file with unmet expectations replaced by the actual
// results. It leaves other text, including comments, unchanged. Tests with an unexpected
// failure of the hook keep their expectations. The tests may still fail, because some
// failures have no corresponding expectation. Update returns an error rather
// than an invalid test file.
func (f *File) Update(outcomes []Outcome) (u Updated, err error) {
	y, err := yamledit.Decode(f.text)
	if err != nil {
		return Updated{}, fmt.Errorf("%s: %w", f.Path, err)
	}
	next, _ := jsonvalue.Clone(y.Value).(map[string]any)
	for _, o := range outcomes {
		if o.Test.File != f || o.HookFailed {
			continue
		}
		for _, fix := range o.fixes {
			path := f.path(fix.expect)
			around, last := at(next, path[:len(path)-1]).(map[string]any), path[len(path)-1].(string)
			written, isMap := around[last].(map[string]any)
			if !isMap {
				written = map[string]any{}
				around[last] = written
			}
			before := jsonvalue.Clone(written)
			fix.change(written)
			if !reflect.DeepEqual(before, any(written)) {
				u.Changed++
			}
			if was, _ := before.(map[string]any); fails(written) && !fails(was) && !slices.Contains(u.Failing, o.Test.Name) {
				u.Failing = append(u.Failing, o.Test.Name)
			}
		}
	}
	if u.Text, err = yamledit.Rewrite(f.text, next); err != nil {
		return Updated{}, fmt.Errorf("%s:%w", f.Path, err)
	}
	if _, err := read(u.Text, f.Path, f.dir); err != nil {
		return Updated{}, fault.Failed("write the expectation by hand; the file is unchanged", "the actual results cannot be written as a test: %v", err)
	}
	return u, nil
}

// fails reports whether an expectation expects a failure.
func fails(expect map[string]any) bool {
	code, coded := expect["exitCode"]
	return expect["error"] != nil || coded && code != nil && fmt.Sprint(code) != "0"
}

// path returns the path of an expectation in the file.
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

// at returns the value at a path, or nil.
func at(v any, path []any) any {
	for _, step := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[fmt.Sprint(step)]
		case []any:
			n, isIndex := step.(int)
			if !isIndex || n >= len(x) {
				return nil
			}
			v = x[n]
		}
	}
	return v
}

// Rewrite is a change of a test file that updates its expectations.
type Rewrite struct {
	Updated
	File   *File
	Before []byte // the content of the file

	path string // absolute
}

// PlanUpdate returns the changes that update the expectations in test files with the actual
// results. It writes nothing. It refuses a file that changed since it was read: the results belong
// to the tests in the order of that time.
func PlanUpdate(workDir string, files []*File, outcomes []Outcome) ([]Rewrite, error) {
	var all []Rewrite
	for _, f := range files {
		u, err := f.Update(outcomes)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(f.text, u.Text) {
			continue
		}
		path := hookproject.Abs(workDir, f.Path)
		now, err := input.ReadFile(path, input.Text)
		if err != nil {
			return nil, fault.Failed("", "%v", err)
		}
		if !bytes.Equal(f.text, now) {
			return nil, fault.Failed("repeat the command", "%s changed while the tests ran", f.Path)
		}
		all = append(all, Rewrite{u, f, f.text, path})
	}
	return all, nil
}

// Apply writes the changes. It returns the changes that it wrote, also together with an
// error. It writes none if the new content of one of the files cannot be stored.
func Apply(all []Rewrite) (written []Rewrite, err error) {
	var staged []atomicfile.Staged
	defer func() {
		for _, s := range staged {
			s.Discard()
		}
	}()
	for _, r := range all {
		s, err := atomicfile.Stage(r.path, r.Text)
		if err != nil {
			return nil, r.writeError(err)
		}
		staged = append(staged, s)
	}
	for i, s := range staged {
		if err := s.Place(); err != nil {
			return written, all[i].writeError(err)
		}
		written = append(written, all[i])
	}
	return written, nil
}

// writeError returns the error for a test file that cannot be written. It does not contain the
// name of the temporary file.
func (r Rewrite) writeError(err error) error {
	return fault.Failed("check the permissions and the free space of its folder", "%s cannot be updated: %v", r.File.Path, fault.Reason(err))
}
