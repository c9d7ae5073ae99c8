package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/record"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Kinds has the kinds whose CRDs are known before a run, and collects the kinds that the
// run finds. A nil *Kinds has none and collects none.
type Kinds struct {
	// known are the kinds whose CRDs on the disk are as generated.
	known map[schema.GroupKind]record.Kind
	// own reports whether a package is part of the project, so that its sources may
	// change.
	own func(path string) bool

	found   []record.Kind
	files   []opened // of found; nil for those that are up to date
	inexact string   // why CRDs depend on more than the types that they reach, or ""
	types   map[crd.TypeIdent]reached
}

// reached is a type that a kind refers to, directly or not.
type reached struct {
	schema record.Sum
	refs   []crd.TypeIdent
}

// NewKinds returns kinds whose CRDs are known, and a function that reports whether a
// package is part of the project.
func NewKinds(known map[schema.GroupKind]record.Kind, own func(path string) bool) *Kinds {
	return &Kinds{known: known, own: own}
}

// Result returns the kinds of the run. inexact says why their CRDs depend on more than the types
// that they reach; it is empty if they do not.
func (k *Kinds) Result() (found []record.Kind, inexact string) { return k.found, k.inexact }

// upToDate reports whether the CRD of a kind with versions is known. If not, the caller passes the key
// to made. Without a key, the CRD is not known in the next run either.
func (k *Kinds) upToDate(p *crd.Parser, kind schema.GroupKind, versions []crd.TypeIdent) (key record.Sum, ok bool) {
	if k == nil {
		return key, false
	}
	key, ok = k.key(p, versions)
	if !ok {
		return record.Sum{}, false
	}
	was, known := k.known[kind]
	if !known || was.Key != key {
		return key, false
	}
	k.found, k.files = append(k.found, was), append(k.files, nil)
	return key, true
}

// made records the CRD of a kind and the files that will contain it.
func (k *Kinds) made(kind schema.GroupKind, key record.Sum, files opened) {
	if k != nil {
		k.found = append(k.found, record.Kind{Group: kind.Group, Kind: kind.Kind, Key: key})
		k.files = append(k.files, files)
	}
}

// refusals returns the reasons why API servers refuse the CRD of a kind that is up to date or made.
func (k *Kinds) refusals(of schema.GroupKind) *[]record.Refusal {
	if k == nil {
		return new([]record.Refusal)
	}
	i := slices.IndexFunc(k.found, func(f record.Kind) bool { return f.Group == of.Group && f.Kind == of.Kind })
	return &k.found[i].Refused
}

// finish records the files, which are complete, and whether the result is exact. A kind has a version for each package
// of its group that the parser has found by then. If one of these packages is not a root, the result depends on the
// order of the kinds, and must not be recorded. The same is true if types refer to each other in a cycle.
func (k *Kinds) finish(p *crd.Parser, roots []*loader.Package) {
	if k == nil {
		return
	}
	for i, files := range k.files {
		for _, f := range files {
			k.found[i].Outputs = append(k.found[i].Outputs, record.Output{Generator: f.Generator, Path: f.Path, Sum: record.SumOf(f.Bytes())})
		}
	}
	if k.cyclic(p) {
		k.inexact = "types refer to each other in a cycle"
	}
	for _, kind := range k.found {
		if kind.Group == "" {
			k.inexact = "the kind " + kind.Kind + " has no group"
		}
		for pkg, gv := range p.GroupVersions {
			if gv.Group == kind.Group && !slices.Contains(roots, pkg) && p.LookupType(pkg, kind.Kind) != nil {
				k.inexact = "the kind " + kind.Kind + " has a version in " + pkg.PkgPath + ", which the paths do not name"
			}
		}
	}
}

// key returns a checksum of everything that the CRD of a kind is made from: the versions,
// the markers of its type, and the raw schemas of all types that it reaches. An
// external package counts by its path. ok is false if that is incomplete.
func (k *Kinds) key(p *crd.Parser, versions []crd.TypeIdent) (key record.Sum, ok bool) {
	var text bytes.Buffer
	seen := map[crd.TypeIdent]bool{}
	for _, id := range versions {
		values, err := json.Marshal(p.Types[id].Markers)
		if err != nil {
			return key, false
		}
		p.NeedSchemaFor(id)
		fmt.Fprintf(&text, "%q %s\n", p.GroupVersions[id.Package], values)
		if !k.reach(p, id, seen, &text) {
			return key, false
		}
	}
	return record.SumOf(text.Bytes()), true
}

// reach adds a type and the types that it refers to, in an order that depends only on
// the types. It returns false if one of them is incomplete.
func (k *Kinds) reach(p *crd.Parser, id crd.TypeIdent, seen map[crd.TypeIdent]bool, text *bytes.Buffer) bool {
	if seen[id] {
		return true
	}
	seen[id] = true
	text.WriteString(id.Package.ID + "." + id.Name)
	if !k.own(id.Package.PkgPath) {
		text.WriteByte('\n')
		return true
	}
	t, ok := k.read(p, id)
	if !ok {
		return false
	}
	text.WriteByte(' ')
	text.Write(t.schema[:])
	for _, ref := range t.refs {
		if !k.reach(p, ref, seen, text) {
			return false
		}
	}
	return true
}

// read returns what a type of the parser reaches. ok is false if it is incomplete.
func (k *Kinds) read(p *crd.Parser, id crd.TypeIdent) (t reached, ok bool) {
	if t, ok = k.types[id]; ok {
		return t, true
	}
	props, made := p.Schemata[id]
	encoded, err := props.Marshal() // with sorted keys
	if !made || err != nil {
		return t, false
	}
	t.schema = record.SumOf(encoded)
	t.refs = refsOf(props, id)
	if slices.ContainsFunc(t.refs, func(to crd.TypeIdent) bool { return to.Package == nil }) {
		return t, false
	}
	slices.SortFunc(t.refs, compareTypes)
	if k.types == nil {
		k.types = map[crd.TypeIdent]reached{}
	}
	k.types[id] = t
	return t, true
}

// refsOf returns the types that the schema of a type refers to. The package of one that is not imported is nil.
func refsOf(props apiextensionsv1.JSONSchemaProps, id crd.TypeIdent) (refs []crd.TypeIdent) {
	depcache.EachRef(&props, func(path, name string) {
		to := crd.TypeIdent{Package: id.Package, Name: name}
		if path != "" {
			to.Package = id.Package.Imports()[path]
		}
		refs = append(refs, to)
	})
	return refs
}

// cyclic reports whether types refer to each other in a cycle. The schema of each of them then depends on which one
// the library flattens first. A type that is not a kind may refer to itself.
func (k *Kinds) cyclic(p *crd.Parser) bool {
	kinds := map[string]bool{}
	for _, kind := range k.found {
		kinds[kind.Kind] = true
	}
	open, done := map[crd.TypeIdent]bool{}, map[crd.TypeIdent]bool{}
	var visit func(id crd.TypeIdent) bool
	visit = func(id crd.TypeIdent) (cycle bool) {
		open[id] = true
		for _, to := range refsOf(p.Schemata[id], id) {
			switch {
			case open[to]:
				cycle = cycle || to != id || kinds[id.Name]
			case !done[to] && to.Package != nil:
				cycle = visit(to) || cycle
			}
		}
		open[id], done[id] = false, true
		return cycle
	}
	cycle := false
	for id := range p.Schemata {
		cycle = !done[id] && visit(id) || cycle
	}
	return cycle
}
