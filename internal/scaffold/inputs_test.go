package scaffold

import (
	"slices"
	"testing"
)

// TestInputs checks that Inputs has every path that the plan looked up,
// existing or not.
func TestInputs(t *testing.T) {
	t.Parallel()
	_, fsys := project(t, map[string]string{"a": "x", "dir/b": "x", "dir/sub/c": "x"})
	p := newPlan(t, fsys, Options{})
	if _, ok := p.Inputs(); ok {
		t.Error("complete before DependsOn")
	}
	if _, err := p.Read("a"); err != nil {
		t.Fatal(err)
	}
	if p.Exists("dir/sub/gone") || p.Exists("nowhere/file") {
		t.Error("missing files exist")
	}
	if names, err := p.Files("dir"); err != nil || !slices.Equal(names, []string{"b"}) {
		t.Fatal(names, err)
	}
	p.DependsOn(func() ([]string, bool) { return []string{"/z", "/y"}, true })
	p.DependsOn(func() ([]string, bool) { return []string{"/z"}, true })
	in, ok := p.Inputs()
	if !ok {
		t.Error("incomplete")
	}
	same(t, "sources", []string{"/y", "/z"}, in.Sources)
	same(t, "listed", []string{"dir"}, in.Listed)
	for _, name := range []string{"a", "dir", "dir/sub", "dir/sub/gone", "nowhere", ".operon"} {
		if !slices.Contains(in.Looked, name) {
			t.Errorf("%s is not in %q", name, in.Looked)
		}
	}
	p.DependsOn(func() ([]string, bool) { return []string{"/x"}, false })
	in, ok = p.Inputs()
	if ok {
		t.Error("complete with incomplete sources")
	}
	same(t, "known sources", []string{"/x", "/y", "/z"}, in.Sources)
	if !slices.Contains(in.Looked, "a") {
		t.Errorf("a is not in %q", in.Looked)
	}
}
