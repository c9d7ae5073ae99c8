package yamledit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRewriteYAML rewrites each text to the value of another one.
func TestRewriteYAML(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ src, want, out string }{
		"an alias that changes":              {"a: &x {k: 1} # a\nb: *x # b\nc: *x\n", "{a: {k: 1}, b: {k: 2}, c: {k: 1}}", "a: &x {k: 1} # a\nb: {k: 2} # b\nc: *x\n"},
		"all of them change in the same way": {"a: &x {k: 1}\nb: *x\nc: [*x]\n", "{a: {k: 2}, b: {k: 2}, c: [{k: 2}]}", "a: &x {k: 2}\nb: *x\nc: [*x]\n"},
		"the anchor changes alone":           {"a: &x {k: 1}\nb: *x\nc: *x\n", "{a: {k: 2}, b: {k: 1}, c: {k: 1}}", "a: &x {k: 2}\nb: &x {k: 1}\nc: *x\n"},
		"the anchor and one alias":           {"a: &x {k: 1}\nb: *x\nc: *x\n", "{a: {k: 2}, b: {k: 1}, c: {k: 2}}", "a: &x {k: 2}\nb: {k: 1}\nc: *x\n"},
		"removed anchor":                     {"l: [&x {k: 1}, {n: 2}]\nb: *x\nc: *x\n", "{l: [{n: 2}], b: {k: 1}, c: {k: 1}}", "l: [{n: 2}]\nb: &x {k: 1}\nc: *x\n"},
		"removed alias":                      {"a: &x {k: 1}\nl:\n- *x\n- {n: 2}\n", "{a: {k: 1}, l: [{n: 2}]}", "a: &x {k: 1}\nl:\n- {n: 2}\n"},
		"a text":                             {"a: &x one\nb: *x\n", "{a: two, b: two}", "a: &x two\nb: *x\n"},
		"an anchor of lines":                 {"a: &x\n  k: 1 # k\n  l: [1]\nb: *x\n", "{a: {k: 2, l: [1]}, b: {k: 1, l: [1]}}", "a: &x\n  k: 2 # k\n  l: [1]\nb: {k: 1, l: [1]}\n"},
		"a key in an anchor of lines":        {"l:\n- &x\n  k: 1\n- *x\n", "{l: [{k: 1, m: 2}, {k: 1, m: 2}]}", "l:\n- &x\n  k: 1\n  m: 2\n- *x\n"},
		"an item in a list of an anchor":     {"l: &x\n- a\n- b\nm: *x\n", "{l: [a, c, b], m: [a, c, b]}", "l: &x\n- a\n- c\n- b\nm: *x\n"},
		"a name that is defined twice":       {"a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "{a: 1, b: 3, c: 2, d: 4}", "a: &x 1\nb: 3\nc: &x 2\nd: 4\n"},
		"an anchor in an anchor":             {"a: &x {k: &y [1]}\nb: *x\nc: *y\n", "{a: {k: [2]}, b: {k: [2]}, c: [1]}", "a: &x {k: &y [2]}\nb: *x\nc: [1]\n"},
		"equal items keep their comments":    {"l:\n- a # of a\n- b # of b\n", "{l: [new, a, b]}", "l:\n- new\n- a # of a\n- b # of b\n"},
		"nothing":                            {"a: &x 1\nb: *x\n", "{a: 1, b: 1}", "a: &x 1\nb: *x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := Decode([]byte(tt.want))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Rewrite([]byte(tt.src), want.Value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.out, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
