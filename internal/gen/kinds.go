package gen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/gen/generate/crdyaml"
	"github.com/operon-dev/operon/internal/gen/generate/flatten"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// kinds is what is known of the kinds' CRDs before a run, and what the run finds
// out. A nil one knows nothing and is told nothing.
type kinds struct {
	// known are kinds whose CRDs are as they were made.
	known map[schema.GroupKind]record.Kind
	// own reports whether a package may change while the listing stays.
	own func(path string) bool

	mu      sync.Mutex
	found   []record.Kind
	inexact bool // the CRDs depend on more than on the types they reach

	sums    sync.WaitGroup // of outputs, which take their time
	types   map[crd.TypeIdent]reached
	emitter crdyaml.Emitter
}

// reached is what a type is for those that refer to it.
type reached struct {
	schema record.Sum
	refs   []crd.TypeIdent
}

// stands reports whether the CRD of a kind is known. Where it is not, key is for
// made; without a key it will not be known the next time either.
func (k *kinds) stands(p *crd.Parser, kind schema.GroupKind) (key record.Sum, stands bool) {
	if k == nil {
		return key, false
	}
	key, ok := k.key(p, kind)
	if !ok {
		return record.Sum{}, false
	}
	was, known := k.known[kind]
	if !known || was.Key != key {
		return key, false
	}
	k.mu.Lock()
	k.found = append(k.found, was)
	k.mu.Unlock()
	return key, true
}

// made notes the CRD of a kind and the files that it went to.
func (k *kinds) made(kind schema.GroupKind, key record.Sum, files []*memoryFile) {
	if k == nil {
		return
	}
	made := record.Kind{Group: kind.Group, Kind: kind.Kind, Key: key, Outputs: make([]record.Output, len(files))}
	k.mu.Lock()
	k.found = append(k.found, made)
	k.mu.Unlock()
	for i, f := range files {
		made.Outputs[i] = record.Output{Generator: f.generator, Path: f.path}
		k.sums.Go(func() { made.Outputs[i].Sum = record.SumOf(f.Bytes()) })
	}
}

// finish waits until all is noted. A kind has a version for each package of its
// group that the parser came across by then: where that is one that was not
// asked for, the order of the kinds decides, which is not for a record.
func (k *kinds) finish(p *crd.Parser, roots []*loader.Package) {
	if k == nil {
		return
	}
	k.sums.Wait()
	for _, kind := range k.found {
		k.inexact = k.inexact || kind.Group == ""
		for pkg, gv := range p.GroupVersions {
			if gv.Group == kind.Group && !slices.Contains(roots, pkg) && p.LookupType(pkg, kind.Kind) != nil {
				k.inexact = true
			}
		}
	}
}

// key is the sum of all that a kind's CRD is made from: the versions, the
// markers of its type, and the raw schemas of all types that it reaches. A
// package that never changes is told by its path. It is not ok where that would
// not tell all.
func (k *kinds) key(p *crd.Parser, kind schema.GroupKind) (key record.Sum, ok bool) {
	var text strings.Builder
	seen := map[crd.TypeIdent]bool{}
	for _, id := range versionsOf(p, kind) {
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
	return record.SumOf([]byte(text.String())), true
}

// versionsOf are the types that a kind is made of, in order.
func versionsOf(p *crd.Parser, kind schema.GroupKind) []crd.TypeIdent {
	var versions []crd.TypeIdent
	for pkg, gv := range p.GroupVersions {
		if id := (crd.TypeIdent{Package: pkg, Name: kind.Kind}); gv.Group == kind.Group && p.Types[id] != nil {
			versions = append(versions, id)
		}
	}
	sortTypes(versions)
	return versions
}

// reach adds a type and those that it refers to, in an order that only the
// types decide.
func (k *kinds) reach(p *crd.Parser, id crd.TypeIdent, seen map[crd.TypeIdent]bool, text *strings.Builder) bool {
	if seen[id] {
		return true
	}
	seen[id] = true
	text.WriteString(id.String())
	if !k.own(id.Package.PkgPath) {
		text.WriteByte('\n')
		return true
	}
	t, known := k.types[id]
	if !known {
		props, made := p.Schemata[id]
		printed, ok := k.emitter.Schema(&props)
		if !made || !ok {
			return false
		}
		t.schema = record.SumOf(printed)
		if t.refs, ok = flatten.Refs(&props, id.Package); !ok {
			return false
		}
		sortTypes(t.refs)
		if k.types == nil {
			k.types = map[crd.TypeIdent]reached{}
		}
		k.types[id] = t
	}
	fmt.Fprintf(text, " %x\n", t.schema)
	for _, ref := range t.refs {
		if !k.reach(p, ref, seen, text) {
			return false
		}
	}
	return true
}

func sortTypes(ids []crd.TypeIdent) {
	slices.SortFunc(ids, func(a, b crd.TypeIdent) int { return strings.Compare(a.String(), b.String()) })
}
