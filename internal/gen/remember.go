package gen

import (
	"cmp"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// next is the record after the run: what stands of the last one, and what the
// packages that were loaded came to. Sources and answers of the go command are
// for others to fill in. It is nil where a run over a part of the packages would
// not make of it what a run over all does, or one file is made of several.
func (r *refresh) next() *record.Record {
	if r.kinds == nil || r.kinds.inexact || r.set.twice {
		return nil
	}
	next := &record.Record{Kinds: r.nextKinds(), Joint: r.last.Joint}
	byPackage := map[string][]record.Output{}
	if !r.set.settled {
		next.Joint = nil
	}
	for _, o := range r.outputs {
		is := record.Output{Generator: o.generator, Path: o.path, Sum: record.SumOf(o.content)}
		switch {
		case o.pkg != "":
			byPackage[o.pkg] = append(byPackage[o.pkg], is)
		case o.generator != "crd":
			next.Joint = append(next.Joint, is)
		}
	}
	known := r.known()
	for _, root := range r.graph.Roots {
		u := record.Unit{Path: root.ImportPath, Root: true}
		if s, loaded := r.scanned[root.ImportPath]; loaded {
			u.Group, u.Object = r.set.groups[root.ImportPath], byPackage[root.ImportPath]
			u.Markers, u.Warnings = s.Joint, s.Warnings
			u.Refs = r.refs(root)
		} else {
			u = *r.units[root.ImportPath]
		}
		next.Units = append(next.Units, u)
	}
	for _, p := range slices.SortedFunc(maps.Keys(known), (*golist.Package).Compare) {
		if !p.DepOnly || p.Fixed() {
			continue
		}
		u := record.Unit{Path: p.ImportPath, Refs: r.refs(p)}
		if was := r.units[p.ImportPath]; was != nil && !r.read(p) {
			u.Refs = was.Refs
		}
		next.Units = append(next.Units, u)
	}
	next.Packages = r.graph.Save(known)
	next.Identities = r.identities()
	r.stamp(next)
	made := map[string]bool{}
	for _, o := range next.Outputs() {
		if made[o.Path] {
			return nil
		}
		made[o.Path] = true
	}
	return next
}

// identities are those that this run asked for, and those of the last run that
// still hold.
func (r *refresh) identities() []record.Identity {
	all := map[string]record.Sum{}
	for _, is := range r.last.Identities {
		if r.resumed || r.graph.Package(is.Path) != nil {
			all[is.Path] = is.Sum
		}
	}
	if r.library != nil {
		for path, is := range r.library.asked {
			all[path] = record.Sum(is)
		}
	}
	var list []record.Identity
	for _, path := range slices.Sorted(maps.Keys(all)) {
		list = append(list, record.Identity{Path: path, Sum: all[path]})
	}
	return list
}

// known are the packages of which the record tells more than the name.
func (r *refresh) known() map[*golist.Package]bool {
	known := map[*golist.Package]bool{}
	for path := range r.saved() {
		if p := r.graph.Package(path); p != nil {
			known[p] = true
		}
	}
	if r.loaded != nil {
		for p := range r.loaded.Read {
			known[p] = true
		}
	}
	return known
}

func (r *refresh) read(p *golist.Package) bool {
	if r.loaded == nil {
		return false
	}
	_, ok := r.loaded.Read[p]
	return ok
}

// refs are the packages that the types of a loaded package refer to and that may
// change.
func (r *refresh) refs(p *golist.Package) []string {
	if !r.read(p) {
		return nil
	}
	var refs []string
	for _, ref := range r.loaded.Read[p] {
		if !ref.Fixed() {
			refs = append(refs, ref.ImportPath)
		}
	}
	slices.Sort(refs)
	return slices.Compact(refs)
}

// nextKinds are the kinds that were found, and those of the groups that nothing
// touched.
func (r *refresh) nextKinds() []record.Kind {
	touched := r.touched()
	var all []record.Kind
	for _, k := range r.last.Kinds {
		if !touched[k.Group] {
			all = append(all, k)
		}
	}
	all = append(all, r.kinds.found...)
	slices.SortFunc(all, func(a, b record.Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// stamp puts on the outputs what is known of the files.
func (r *refresh) stamp(next *record.Record) {
	put := func(outputs []record.Output) []record.Output {
		outputs = slices.Clone(outputs)
		for i, o := range outputs {
			outputs[i].Stat = filestat.Stat{} // nobody may have written it
			if r.disk.isRight(o) {
				outputs[i].Stat = r.disk.right[o.Path].Stat
			}
		}
		return outputs
	}
	next.Joint = put(next.Joint)
	for i, u := range next.Units {
		next.Units[i].Object = put(u.Object)
	}
	for i, k := range next.Kinds {
		next.Kinds[i].Outputs = put(k.Outputs)
	}
}
