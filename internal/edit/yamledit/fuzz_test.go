package yamledit

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// randomTree returns a random value with the given maximum depth.
func randomTree(r *rand.Rand, depth int) any {
	words := []string{"x", "some words", "it's", "a: b", "# no", "3", "true", "", "two\nlines\n", "ü", " lead", "- dash", "[", "*a", "1e3"}
	n := r.IntN(10)
	switch {
	case depth > 0 && n < 4:
		v := m{}
		for range r.IntN(5) {
			v[string(rune('a'+r.IntN(8)))] = randomTree(r, depth-1)
		}
		return v
	case depth > 0 && n < 6:
		v := []any{}
		for range r.IntN(4) {
			v = append(v, randomTree(r, depth-1))
		}
		return v
	case n < 7:
		return []any{nil, true, int64(7), 1.5}[r.IntN(4)]
	}
	return words[r.IntN(len(words))]
}

// mutate changes parts of v.
func mutate(r *rand.Rand, v any, depth int) any {
	if r.IntN(6) == 0 {
		return randomTree(r, depth)
	}
	switch v := v.(type) {
	case m:
		out := m{}
		for k := range strings.SplitSeq("abcdefgh", "") {
			old, ok := v[k]
			n := r.IntN(8)
			switch {
			case ok && n > 0:
				out[k] = mutate(r, old, depth-1)
			case !ok && n == 0:
				out[k] = randomTree(r, depth-1)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			if r.IntN(5) > 0 {
				out = append(out, mutate(r, item, depth-1))
			}
			if r.IntN(6) == 0 {
				out = append(out, randomTree(r, depth-1))
			}
		}
		return out
	}
	return v
}

// restyle gives nodes random styles and comments.
func restyle(r *rand.Rand, n *yaml.Node, flow bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!str" {
			n.Style = []yaml.Style{0, 0, yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle}[r.IntN(6)]
		}
	default:
		if r.IntN(6) == 0 {
			n.Style, flow = yaml.FlowStyle, true
		}
		for _, c := range n.Content {
			if !flow && r.IntN(5) == 0 {
				c.HeadComment = "above"
			}
			if !flow && r.IntN(5) == 0 {
				c.LineComment = "beside"
			}
			restyle(r, c, flow)
		}
	}
}

// All styles of ordinary YAML can be edited without errors.
func TestReconcileYAMLRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		was := m{"a": randomTree(r, 4), "b": randomTree(r, 4), "c": randomTree(r, 2)}
		want, ok := mutate(r, was, 4).(m)
		if !ok {
			continue
		}
		var n yaml.Node
		if err := n.Encode(was); err != nil {
			t.Fatal(err)
		}
		restyle(r, &n, false)
		n.Style = 0
		var b bytes.Buffer
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(2 + 2*r.IntN(2))
		if r.IntN(2) == 0 {
			enc.CompactSeqIndent()
		}
		var back any
		if err := enc.Encode(&n); err != nil || yaml.Unmarshal(b.Bytes(), &back) != nil || !equalYAML(back, was) {
			continue // some combinations of comments and styles the encoder does not write right
		}
		out, err := Reconcile(b.Bytes(), was, want, nil)
		if err != nil {
			t.Errorf("%v\n%s\n-- want --\n%v", err, b.Bytes(), want)
			return
		}
		var got any
		if err := yaml.Unmarshal(out, &got); err != nil || !equalYAML(got, want) {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// For any YAML, an edit either succeeds and keeps every comment, or returns an
// error.
func FuzzReconcileYAML(f *testing.F) {
	f.Add("a: 1\nb:\n- x # c\n- y: z\n", "a: 2\nb:\n- y: q\nc: {d: e}\n")
	f.Add("a: |\n  x\n\n  # y\nb: 'c'\n", "a: [x]\n")
	f.Add("- a", "b")
	f.Add("a: {b: [c, d: e]}\n\"f\": *g", "a:\n  b: []\n")
	f.Fuzz(func(t *testing.T, src, goal string) {
		var was, want any
		if yaml.Unmarshal([]byte(src), &was) != nil || yaml.Unmarshal([]byte(goal), &want) != nil {
			return
		}
		was, want = plain(was), plain(want)
		if _, ok := want.(map[string]any); !ok {
			return
		}
		out, err := Reconcile([]byte(src), was, want, sameName)
		if err != nil {
			return
		}
		var got any
		if err := yaml.Unmarshal(out, &got); err != nil {
			t.Fatalf("the result does not parse: %v\n%s", err, out)
		}
		if !equalYAML(plain(got), want) {
			t.Errorf("(-want +got)\n%s\n%s", cmp.Diff(want, plain(got)), out)
		}
	})
}

// An edit adds lines and does not change existing ones.
func FuzzAppendYAML(f *testing.F) {
	f.Add("resources:\n- a\n# +kubebuilder:scaffold:m\n\npatches:\n- path: x\n")
	f.Add("resources:\n  - |\n    # +kubebuilder:scaffold:m\n  - b\n")
	f.Add("resources: # c\n\n# +kubebuilder:scaffold:m")
	f.Add("a:\r\n  b\r\n")
	f.Fuzz(func(t *testing.T, src string) {
		anchor := ListAnchor{Path: []string{"resources"}, Marker: "m"}
		out, err := Append([]byte(src), "the/new: item", anchor)
		if err != nil {
			return
		}
		again, err := Append(out, "the/new: item", anchor)
		if err != nil || string(again) != string(out) {
			t.Fatalf("not idempotent: %v\n%q\n%q\n%q", err, src, out, again)
		}
		rest := string(out)
		for line := range strings.Lines(src) {
			for word := range strings.FieldsSeq(line) {
				// The item replaces the brackets, null, tag and anchor of an empty list.
				if word = strings.Trim(word, "[]{},~"); word == "null" || strings.Trim(word, "!&") != word {
					continue
				}
				_, after, ok := strings.Cut(rest, word)
				if !ok {
					t.Fatalf("%q is missing:\n%q\n%q", word, src, out)
				}
				rest = after
			}
		}
	})
}

// Uncommenting removes only "#" and white space.
func FuzzUncommentYAML(f *testing.F) {
	f.Add("r:\n- a\n#- ../crd\n")
	f.Add("r:\n  # - ../crd # x\n  - a\n")
	f.Add("r: |\n  #- ../crd\n#   - ../crd")
	f.Add("r:\n#\t-   '../../config/crd/'\n")
	f.Fuzz(func(t *testing.T, src string) {
		const dir = "config/default"
		out, err := Uncomment([]byte(src), "- ../crd", dir)
		if err != nil {
			return
		}
		bare := strings.NewReplacer("#", "", " ", "", "\t", "")
		if bare.Replace(src) != bare.Replace(string(out)) {
			t.Fatalf("%q\n%q", src, out)
		}
		again, err := Uncomment(out, "- ../crd", dir)
		if err != nil || string(again) != string(out) {
			t.Fatalf("not idempotent: %v\n%q\n%q\n%q", err, src, out, again)
		}
	})
}
