package testfile

import (
	"strings"
	"testing"
)

// TestDifferences checks the text of differences.
func TestDifferences(t *testing.T) {
	t.Parallel()
	object := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	long := strings.Repeat("x", Longest)
	for _, tc := range []struct {
		want, got any
		diffs     string
	}{
		{object("a", 1.0), object("a", int64(1), "b", 2), ""},
		{object("a", nil), object("b", 2), ""},
		{object("a", nil), object("a", 2), "a is 2, want none"},
		{object("a", object("b", "x")), object("a", object("b", "y")), `a.b is "y", want "x"`},
		{object("a", object("b", "x")), object("a", "y"), `a is "y", want {"b":"x"}`},
		{object("a", "x"), object(), `a is missing, want "x"`},
		{[]any{1.0, 2.0}, []any{1.0}, "is [1], want [1,2]"},
		{[]any{object("a", 1.0)}, []any{object("a", 2.0)}, "[0].a is 2, want 1"},
		{"1", 1.0, `is 1, want "1"`},
		{long + "old", long + "old", ""},
		{long + "old", long + "new", `is ...xxxxxxxxxxxxxxxxxxxxnew", want ...xxxxxxxxxxxxxxxxxxxxold"`},
		{long + "ö", long + "ü", `is ...xxxxxxxxxxxxxxxxxxxü", want ...xxxxxxxxxxxxxxxxxxxö"`},
		{long, 1.0, `is 1, want "` + long[:Longest-1] + "..."},
		{object("a", long+"old"), object("a", long+"new"), `a is ...xxxxxxxxxxxxxxxxxxxxnew", want ...xxxxxxxxxxxxxxxxxxxxold"`},
	} {
		var all []string
		for _, d := range Differences(tc.want, tc.got, "", false) {
			all = append(all, d.String())
		}
		if s := strings.Join(all, "; "); s != tc.diffs {
			t.Errorf("%v and %v: %q, want %q", tc.want, tc.got, s, tc.diffs)
		}
	}
}
