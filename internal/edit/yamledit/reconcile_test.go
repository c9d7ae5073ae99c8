package yamledit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type m = map[string]any

func sameName(a, b any) bool {
	x, ok := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	return ok && ok2 && x["name"] == y["name"]
}

func TestReconcileYAML(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		src       string
		was, want any
		out       string
	}{
		"nothing differs": {
			"{a: 1", m{"a": 1}, m{"a": uint8(1)}, "{a: 1",
		},
		"scalar": {
			"# head\na:   1 # one\n\nb: x\n", m{"a": 1, "b": "x"}, m{"a": 2, "b": "y: z"}, "# head\na:   2 # one\n\nb: 'y: z'\n",
		},
		"quotes stay": {
			"a: \"x\"\nb: 'x' # b\n", m{"a": "x", "b": "x"}, m{"a": "y", "b": "it's"}, "a: \"y\"\nb: 'it''s' # b\n",
		},
		"text over lines": {
			"a: x\n  y\n\n  z # c\nb: |-\n  # t\n  u\nc: \"v\n  w\"\nd: 'q\n\n  r'\n",
			m{"a": "x y\nz", "b": "# t\nu", "c": "v w", "d": "q\nr"}, m{"a": "1", "b": "2", "c": "3\n", "d": "4"},
			"a: \"1\" # c\nb: \"2\"\nc: \"3\\n\"\nd: '4'\n",
		},
		"keys in order": {
			"# head\nb: 1\n# of d\nd: 1\n", m{"b": 1, "d": 1}, m{"a": 0, "b": 1, "c": []string{"x"}, "d": 1, "e": m{"f": nil}},
			"# head\na: 0\nb: 1\nc:\n- x\n# of d\nd: 1\ne:\n  f: null\n",
		},
		"unknown keys stay": {
			"a: 1\nzz: {y: 1}\nm:\n  unknown: 1 # u\n  x: 1\n", m{"a": 1, "m": m{"x": 1}}, m{"m": m{"x": 2}},
			"zz: {y: 1}\nm:\n  unknown: 1 # u\n  x: 2\n",
		},
		"written but not understood": {
			"a: false\n", m{}, m{"a": true}, "a: true\n",
		},
		"removed with its lines": {
			"a: 1\nb:\n  c: 1\n  # in c\n  d: 2\n\n# of e\ne: 1\n", m{"a": 1, "b": m{"c": 1, "d": 2}, "e": 1}, m{"a": 1, "e": 1},
			"a: 1\n\n# of e\ne: 1\n",
		},
		"kinds change": {
			"a: x # a\nb:\n  # in b\n  c: 1\nd:\n- 1\ne: []\nf: {}\ng:\n",
			m{"a": "x", "b": m{"c": 1}, "d": []any{1}, "g": nil},
			m{"a": []any{"x", "y"}, "b": 1, "d": m{"k": 1}, "e": []any{1}, "f": m{"k": "v"}, "g": m{"h": 1}},
			"a: # a\n- x\n- \"y\"\nb: 1\n  # in b\nd:\n  k: 1\ne:\n- 1\nf:\n  k: v\ng:\n  h: 1\n",
		},
		"list items": {
			"l:\n  - a # a\n  # of b\n  - b\n\n  - c\n", m{"l": []string{"a", "b", "c"}}, m{"l": []string{"0", "a", "c", "d"}},
			"l:\n  - \"0\"\n  - a # a\n  # of b\n\n  - c\n  - d\n",
		},
		"items by name": {
			"l:\n- name: a\n  v: 1 # one\n- v: 2\n  name: b\n  u: 3\n",
			m{"l": []any{m{"name": "a", "v": 1}, m{"name": "b", "v": 2}}},
			m{"l": []any{m{"name": "b", "v": 4}, m{"name": "c"}}},
			"l:\n- v: 4\n  name: b\n  u: 3\n- name: c\n",
		},
		"first key of an item": {
			"l:\n- name: a\n  v: 1\n", m{"l": []any{m{"name": "a", "v": 1}}}, m{"l": []any{m{"api": m{"x": true}, "name": "a", "v": 1}}},
			"l:\n- api:\n    x: true\n  name: a\n  v: 1\n",
		},
		"removed first key of an item": {
			"l:\n- api:\n    x: true\n  name: a\n", m{"l": []any{m{"api": m{"x": true}, "name": "a"}}}, m{"l": []any{m{"name": "a"}}},
			"l:\n- name: a\n",
		},
		"removed first key of an item, comment below": {
			"l:\n- api: 1\n  # the name\n  name: a\n", m{"l": []any{m{"api": 1, "name": "a"}}}, m{"l": []any{m{"name": "a"}}},
			"l:\n-\n  # the name\n  name: a\n",
		},
		"removed only key": {
			"a:\n  b: 1\nc: 1\n", m{"a": m{"b": 1}, "c": 1}, m{"a": m{}, "c": 1}, "a: {}\nc: 1\n",
		},
		"removed only item": {
			"a:\n- b\n", m{"a": []any{"b"}}, m{"a": []any{}}, "a: []\n",
		},
		"item replaced": {
			"a:\n- b # b\n-\n  c\n- \n", m{"a": []any{"b", "c", nil}}, m{"a": []any{m{"x": 1, "y": 2}, "d", 1}},
			"a:\n- x: 1\n  \"y\": 2\n- d\n- 1\n",
		},
		"braces": {
			"a: {b: 1, c: [x, 'y'], d: } # end\n", m{"a": m{"b": 1, "c": []any{"x", "y"}, "d": nil}},
			m{"a": m{"b": 2, "c": []any{"y", "z, z"}, "e": m{"f": "g\nh"}}},
			"a: {b: 2, c: ['y', 'z, z'], e: {f: \"g\\nh\"}} # end\n",
		},
		"byte order mark and accents": {
			"\ufeffé: ü # ö\nü: [é, x]\n", m{"é": "ü", "ü": []any{"é", "x"}}, m{"é": "u", "ü": []any{"é", "y"}}, "\ufeffé: u # ö\nü: [é, \"y\"]\n",
		},
		"four columns": {
			"a:\n    b: 1\nl:\n    - x\n", m{"a": m{"b": 1}, "l": []any{"x"}}, m{"a": m{"b": 1, "c": m{"d": []any{m{"e": 1, "f": 2}}}}, "l": []any{"x"}},
			"a:\n    b: 1\n    c:\n        d:\n            - e: 1\n              f: 2\nl:\n    - x\n",
		},
		"no final newline": {
			"a: 1\nb: 1", m{"a": 1, "b": 1}, m{"a": 1, "b": 2, "c": 3}, "a: 1\nb: 2\nc: 3",
		},
		"lists in lists": {
			"a:\n- - b\n  - c\n", m{"a": []any{[]any{"b", "c"}}}, m{"a": []any{[]any{"0", "c", "d"}, []any{"e"}}},
			"a:\n- - \"0\"\n  - c\n  - d\n- - e\n",
		},
		"new file": {
			"# head\n", nil, m{"b": m{"c": []any{m{"d": 1}}}, "a": "3"}, "# head\na: \"3\"\nb:\n  c:\n  - d: 1\n",
		},
		"anchors elsewhere": {
			"x: &a {k: 1}\ny: *a\nz: 1\n", m{"z": 1}, m{"z": 2}, "x: &a {k: 1}\ny: *a\nz: 2\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, convert := range []func(string) string{
				func(s string) string { return s },
				func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			} {
				got, err := Reconcile([]byte(convert(tt.src)), tt.was, tt.want, sameName)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(convert(tt.out), string(got)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

func TestReconcileYAMLErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		src       string
		was, want any
		err       string
	}{
		"alias":     {"a: &x {k: 1}\nb: *x\n", m{"b": m{"k": 1}}, m{"b": m{"k": 1, "l": 2}}, "2:4: the alias *x cannot be edited"},
		"anchor":    {"a: &x {k: 1}\nb: *x\n", m{"a": m{"k": 1}}, m{"a": m{"k": 2}}, "1:11: this is written in a form that cannot be edited in place"},
		"merge key": {"a: &x {k: 1}\nb:\n  <<: *x\n", m{"b": m{"k": 1}}, m{"b": m{"k": 2}}, "3:3: k is not written here (it may come from a merge key)"},
		"root":      {"a: 1\n", m{"a": 1}, 1, "1:1: the document as a whole cannot be replaced"},
		"syntax":    {"a: [\n", m{}, m{"a": 1}, "1:1: did not find expected node content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Reconcile([]byte(tt.src), tt.was, tt.want, nil)
			if err == nil || err.Error() != tt.err {
				t.Errorf("error %v, want %q\n%s", err, tt.err, got)
			}
		})
	}
}
