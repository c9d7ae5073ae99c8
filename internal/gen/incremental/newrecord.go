package incremental

import (
	"cmp"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// newRecord returns the record after a successful attempt: what is unchanged since the
// last run, and the results for the loaded packages. The caller fills in the sources and
// the answers of the go command. It returns a [golist.Inexact], and no record, in two cases: a
// later run over some of the packages could differ from a run over all, or several
// generators write the same file.
func (u *update) newRecord(a *attempt) (*record.Record, error) {
	if a.kinds == nil {
		return nil, golist.Inexact("the sources have an unusual shape")
	}
	if a.Made.Overwritten {
		return nil, errSeveral
	}
	found, why := a.kinds.Result()
	if why != "" {
		return nil, golist.Inexact(why)
	}
	next := &record.Record{Kinds: u.allKinds(found), Joint: u.last.Joint}
	byPackage := map[string][]record.Output{}
	if !a.sameMarkers {
		next.Joint = nil
	}
	for _, o := range a.Made.Outputs {
		is := record.Output{Generator: o.Generator, Path: o.Path, Sum: record.SumOf(o.Content)}
		switch {
		case o.Package != "":
			byPackage[o.Package] = append(byPackage[o.Package], is)
		case o.Generator != "crd":
			next.Joint = append(next.Joint, is)
		}
	}
	read := u.readPackages(a)
	for _, root := range u.graph.Roots {
		unit := record.Unit{Path: root.ImportPath, Root: true}
		if s, loaded := a.scanned[root.ImportPath]; loaded {
			unit.Group, unit.Object = a.Made.Groups[root.ImportPath], byPackage[root.ImportPath]
			unit.Markers, unit.Warnings = s.Joint, s.Warnings
			unit.Refs, _ = a.refs(root)
		} else {
			unit = *u.units[root.ImportPath]
		}
		next.Units = append(next.Units, unit)
	}
	for _, p := range slices.SortedFunc(maps.Keys(read), (*golist.Package).Compare) {
		if !p.DepOnly || p.External() {
			continue
		}
		refs, readNow := a.refs(p)
		if was := u.units[p.ImportPath]; was != nil && !readNow {
			refs = was.Refs
		}
		next.Units = append(next.Units, record.Unit{Path: p.ImportPath, Refs: refs})
	}
	next.Packages = u.graph.Save(read)
	next.Identities = u.identities()
	u.addStats(next)
	if !distinct(next.Outputs()) {
		return nil, errSeveral
	}
	return next, nil
}

const errSeveral = golist.Inexact("several generators write the same file")

// distinct reports whether no two outputs have the same path.
func distinct(outputs []record.Output) bool {
	made := map[string]bool{}
	for _, o := range outputs {
		if made[o.Path] {
			return false
		}
		made[o.Path] = true
	}
	return true
}

// identities returns the identities that this run used, and those of the last run
// that are still valid.
func (u *update) identities() []record.Identity {
	all := map[string]record.Sum{}
	for _, is := range u.last.Identities {
		if u.partial || u.graph.Package(is.Path) != nil {
			all[is.Path] = is.Sum
		}
	}
	for path, is := range u.Library.usedIdentities() {
		all[path] = record.Sum(is)
	}
	var list []record.Identity
	for _, path := range slices.Sorted(maps.Keys(all)) {
		list = append(list, record.Identity{Path: path, Sum: all[path]})
	}
	return list
}

// readPackages returns the packages that this run or the last one read.
func (u *update) readPackages(a *attempt) map[*golist.Package]bool {
	read := map[*golist.Package]bool{}
	for path := range u.recorded() {
		if p := u.graph.Package(path); p != nil {
			read[p] = true
		}
	}
	if a.Loaded != nil {
		for p := range a.Loaded.Read {
			read[p] = true
		}
	}
	return read
}

// refs returns the packages of the project that the types of p refer to. read is
// false if the attempt did not read p.
func (a *attempt) refs(p *golist.Package) (refs []string, read bool) {
	if a.Loaded == nil {
		return nil, false
	}
	all, read := a.Loaded.Read[p]
	for _, ref := range all {
		if !ref.External() {
			refs = append(refs, ref.ImportPath)
		}
	}
	slices.Sort(refs)
	return slices.Compact(refs), read
}

// allKinds returns the kinds that were found, and those of all groups without dirty
// packages.
func (u *update) allKinds(found []record.Kind) []record.Kind {
	dirty := u.dirtyGroups()
	all := slices.Clone(found)
	for _, k := range u.last.Kinds {
		if !dirty[k.Group] {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b record.Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// addStats sets the file stats of outputs whose files are as generated. It is not known
// yet whether the other ones will be written.
func (u *update) addStats(next *record.Record) {
	set := func(outputs []record.Output) []record.Output {
		outputs = slices.Clone(outputs)
		for i, o := range outputs {
			outputs[i].Stat = filestat.Stat{}
			if o.From == "" && u.disk.isCurrent(o) {
				outputs[i].Stat = u.disk.current[o.Path].Stat
			}
		}
		return outputs
	}
	next.Joint = set(next.Joint)
	for i, unit := range next.Units {
		next.Units[i].Object = set(unit.Object)
	}
	for i, k := range next.Kinds {
		next.Kinds[i].Outputs = set(k.Outputs)
	}
}
