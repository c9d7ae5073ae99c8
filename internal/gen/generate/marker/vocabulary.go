package marker

import (
	"iter"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/request"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// Vocabulary has all markers that a list of generators knows.
type Vocabulary struct {
	reg   *markers.Registry
	names []string
}

// NewVocabulary returns the markers of generators.
func NewVocabulary(generators iter.Seq[request.Options]) *Vocabulary {
	v := &Vocabulary{reg: &markers.Registry{}}
	for g := range generators {
		// A conflict among the library's own definitions would fail every run.
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

// lookup returns a bit for each target that the marker is registered for, and its name
// with the plus sign. The name of an unknown marker is its text before the first
// argument.
func (v *Vocabulary) lookup(text string) (scopes int, name string) {
	name, _, _ = strings.Cut(text, "=")
	for _, t := range []markers.TargetType{markers.DescribesPackage, markers.DescribesType, markers.DescribesField} {
		if def := v.reg.Lookup(text, t); def != nil {
			scopes |= 1 << t
			name = "+" + def.Name
		}
	}
	return scopes, name
}

// others are markers below kubebuilder: that other tools read.
var others = []string{
	"kubebuilder:scaffold", // kubebuilder and operon: where code is inserted
	"kubebuilder:docs-gen", // crd-ref-docs and others
}

// suspect reports whether a marker that no generator knows was probably meant for one,
// because its first word is kubebuilder or a similar word. near is the most similar
// known marker, or "".
func (v *Vocabulary) suspect(name string) (near string, suspect bool) {
	name = strings.TrimPrefix(name, "+")
	if i := strings.IndexAny(name, ";, \t"); i > 0 {
		name = name[:i] // what follows cannot be part of a name
	}
	first, rest, ok := strings.Cut(name, ":")
	if !ok || first != "kubebuilder" && fault.Distance(first, "kubebuilder") > 2 {
		return "", false
	}
	for _, o := range others {
		if name == o || strings.HasPrefix(name, o+":") {
			return "", false
		}
	}
	// The last part may be the first argument: kubebuilder:rbac:groups=...
	near = fault.Nearest("kubebuilder:"+rest, v.names)
	if i := strings.LastIndex(rest, ":"); i >= 0 {
		shorter := "kubebuilder:" + rest[:i]
		n := fault.Nearest(shorter, v.names)
		if n != "" && (near == "" || fault.Distance(shorter, n) < fault.Distance("kubebuilder:"+rest, near)) {
			near = n
		}
	}
	return near, true
}
