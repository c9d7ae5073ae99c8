package gen

import (
	"strings"

	"sigs.k8s.io/controller-tools/pkg/markers"
)

// vocabulary is every marker that controller-gen's generators know.
type vocabulary struct {
	reg   *markers.Registry
	names []string
}

func newVocabulary() *vocabulary {
	v := &vocabulary{reg: &markers.Registry{}}
	for _, g := range generators() {
		// The library's own definitions; a clash would fail every run.
		_ = g.RegisterMarkers(v.reg)
	}
	seen := map[string]bool{}
	for _, d := range v.reg.AllDefinitions() {
		if !seen[d.Name] {
			seen[d.Name] = true
			v.names = append(v.names, d.Name)
		}
	}
	return v
}

// lookup returns a bit for each target that the marker is registered for, and
// its name with the plus sign. The name of an unknown marker is its text up to
// the first argument.
func (v *vocabulary) lookup(text string) (scopes int, name string) {
	name, _, _ = strings.Cut(text, "=")
	for _, t := range []markers.TargetType{markers.DescribesPackage, markers.DescribesType, markers.DescribesField} {
		if def := v.reg.Lookup(text, t); def != nil {
			scopes |= 1 << t
			name = "+" + def.Name
		}
	}
	return scopes, name
}

// others are names below kubebuilder: that tools beside the generators read.
var others = []string{
	"kubebuilder:scaffold", // kubebuilder and operon: where code is inserted
	"kubebuilder:docs-gen", // crd-ref-docs and others
	"kubebuilder:ac",       // the generator applyconfiguration
}

// suspect reports whether the name of a marker that no generator knows looks as if it was
// meant for one: its first word is kubebuilder, or nearly so. near is the
// known marker that it resembles, if any.
func (v *vocabulary) suspect(name string) (near string, suspect bool) {
	name = strings.TrimPrefix(name, "+")
	if i := strings.IndexAny(name, ";, \t"); i > 0 {
		name = name[:i] // what follows cannot be part of a name
	}
	first, rest, ok := strings.Cut(name, ":")
	if !ok || first != "kubebuilder" && distance(first, "kubebuilder") > 2 {
		return "", false
	}
	for _, o := range others {
		if name == o || strings.HasPrefix(name, o+":") {
			return "", false
		}
	}
	// The last part may be the first argument: kubebuilder:rbac:groups=...
	near = nearest("kubebuilder:"+rest, v.names)
	if i := strings.LastIndex(rest, ":"); i >= 0 {
		shorter := "kubebuilder:" + rest[:i]
		if n := nearest(shorter, v.names); n != "" && (near == "" || distance(shorter, n) < distance("kubebuilder:"+rest, near)) {
			near = n
		}
	}
	return near, true
}

// nearest returns the candidate with the smallest edit distance from name, in
// alphabetical order among equals, or "" when none is near enough to be meant.
func nearest(name string, candidates []string) string {
	best, least := "", 1+max(1, min(3, len(name)/4))
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < least || d == least && best != "" && c < best {
			best, least = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete, replace or swap with
// their neighbour, to turn a into b (optimal string alignment).
func distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
