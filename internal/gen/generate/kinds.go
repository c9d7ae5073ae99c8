package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/gen/generate/crdyaml"
	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

	mu      sync.Mutex
	found   []record.Kind
	inexact string // why CRDs depend on more than the types that they reach, or ""

	sums    sync.WaitGroup // computes the sums of outputs
	types   map[schemas.Type]reached
	emitter crdyaml.Emitter
}

// reached is a type that a kind refers to, directly or not.
type reached struct {
	schema record.Sum
	refs   []schemas.Type
}

// NewKinds returns kinds whose CRDs are known, and a function that reports whether a
// package is part of the project.
func NewKinds(known map[schema.GroupKind]record.Kind, own func(path string) bool) *Kinds {
	return &Kinds{known: known, own: own}
}

// Result returns the kinds of the run. inexact says why their CRDs depend on more than the types
// that they reach; it is empty if they do not.
func (k *Kinds) Result() (found []record.Kind, inexact string) { return k.found, k.inexact }

// upToDate reports whether the CRD of a kind is known. If not, the caller passes the key
// to made. Without a key, the CRD is not known in the next run either.
func (k *Kinds) upToDate(p *schemas.Parser, kind schema.GroupKind) (key record.Sum, ok bool) {
	if k == nil {
		return key, false
	}
	key, ok = k.key(p, kind)
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

// made records the CRD of a kind and the files that contain it.
func (k *Kinds) made(kind schema.GroupKind, key record.Sum, files []*memoryFile) {
	if k == nil {
		return
	}
	made := record.Kind{Group: kind.Group, Kind: kind.Kind, Key: key, Outputs: make([]record.Output, len(files))}
	k.mu.Lock()
	k.found = append(k.found, made)
	k.mu.Unlock()
	for i, f := range files {
		made.Outputs[i] = record.Output{Generator: f.Generator, Path: f.Path}
		k.sums.Go(func() { made.Outputs[i].Sum = record.SumOf(f.Bytes()) })
	}
}

// finish waits until everything is recorded. A kind has a version for each package of
// its group that the parser has found by then. If one of these packages is not a root,
// the result depends on the order of the kinds, and must not be recorded. The same is
// true if types refer to each other in a cycle.
func (k *Kinds) finish(p *schemas.Parser, roots []*loader.Package, cycle bool) {
	if k == nil {
		return
	}
	k.sums.Wait()
	if cycle {
		k.inexact = "types refer to each other in a cycle"
	}
	for _, kind := range k.found {
		if kind.Group == "" {
			k.inexact = "the kind " + kind.Kind + " has no group"
		}
		for pkg, gv := range p.Groups {
			if gv.Group == kind.Group && !slices.Contains(roots, pkg) && p.Types[schemas.Type{Package: pkg, Name: kind.Kind}] != nil {
				k.inexact = "the kind " + kind.Kind + " has a version in " + pkg.PkgPath + ", which the paths do not name"
			}
		}
	}
}

// key returns a checksum of everything that a kind's CRD is made from: the versions,
// the markers of its type, and the raw schemas of all types that it reaches. An
// external package counts by its path. ok is false if that is incomplete.
func (k *Kinds) key(p *schemas.Parser, kind schema.GroupKind) (key record.Sum, ok bool) {
	var text bytes.Buffer
	seen := map[schemas.Type]bool{}
	for _, id := range p.Versions(kind) {
		values, err := json.Marshal(p.Types[id].Markers)
		if err != nil {
			return key, false
		}
		p.Schema(id)
		fmt.Fprintf(&text, "%q %s\n", p.Groups[id.Package], values)
		if !k.reach(p, id, seen, &text) {
			return key, false
		}
	}
	return record.SumOf(text.Bytes()), true
}

// reach adds a type and the types that it refers to, in an order that depends only on
// the types. It returns false if one of them is incomplete.
func (k *Kinds) reach(p *schemas.Parser, id schemas.Type, seen map[schemas.Type]bool, text *bytes.Buffer) bool {
	if seen[id] {
		return true
	}
	seen[id] = true
	text.WriteString(id.Package.ID + "." + id.Name)
	if !k.own(id.Package.PkgPath) {
		text.WriteByte('\n')
		return true
	}
	t, known := k.types[id]
	if !known {
		props, made := p.Schemas[id]
		printed, ok := k.emitter.Fingerprint(&props)
		if !made || !ok {
			return false
		}
		t.schema = record.SumOf(printed)
		schemas.EachRef(&props, func(ref string) {
			to := schemas.Referred(ref, id.Package)
			ok = ok && to.Package != nil
			t.refs = append(t.refs, to)
		})
		if !ok {
			return false
		}
		slices.SortFunc(t.refs, schemas.Type.Compare)
		if k.types == nil {
			k.types = map[schemas.Type]reached{}
		}
		k.types[id] = t
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
