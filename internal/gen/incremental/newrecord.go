package incremental

import (
	"cmp"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/record"
)

// newRecord returns the record after a successful attempt: what is unchanged since the
// last run, and the results for the loaded packages. It returns a [golist.Inexact], and no record, in two cases: a
// later run over some of the packages could differ from a run over all, or several
// generators write the same file.
func (u *update) newRecord(a *attempt) (*record.Record, error) {
	if a.kinds == nil {
		return nil, u.none
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
	for _, p := range u.ownPackages(a) {
		unit, err := u.unit(p, a, byPackage)
		if err != nil {
			return nil, golist.Inexact(err.Error())
		}
		next.Units = append(next.Units, unit)
	}
	next.Dependencies = u.dependencies(a)
	next.Sources = u.sources.Seen()
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

// ownPackages returns the roots, and the other packages of the project that this run or the last one read.
func (u *update) ownPackages(a *attempt) []*golist.Package {
	read := map[*golist.Package]bool{}
	for path := range u.units {
		read[u.graph.Package(path)] = true
	}
	if a.Loaded != nil {
		for p := range a.Loaded.Read {
			read[p] = true
		}
	}
	delete(read, nil) // it no longer exists
	for _, root := range u.graph.Roots {
		delete(read, root)
	}
	others := slices.SortedFunc(maps.Keys(read), (*golist.Package).Compare)
	return append(slices.Clone(u.graph.Roots), slices.DeleteFunc(others, (*golist.Package).External)...)
}

// unit returns what is recorded of a package: what this run found, if it loaded the package, or else the last one.
func (u *update) unit(p *golist.Package, a *attempt, made map[string][]record.Output) (record.Unit, error) {
	unit := record.Unit{Path: p.ImportPath, Root: !p.DepOnly}
	if was := u.units[p.ImportPath]; was != nil && was.Root == unit.Root {
		unit = *was
	}
	if refs, read := a.refs(p); read {
		unit.Refs = refs
	}
	if s, loaded := a.scanned[p.ImportPath]; loaded {
		unit.Group, unit.Object = a.Made.Groups[p.ImportPath], made[p.ImportPath]
		unit.Markers, unit.Warnings = s.Joint, s.Warnings
	}
	var err error
	unit.Sum, err = u.sum(p)
	return unit, err
}

// dependencies returns the checksums of the packages outside of the project that this run or the last one used.
func (u *update) dependencies(a *attempt) map[string]record.Sum {
	used := map[*golist.Package]bool{}
	for path := range u.last.Dependencies {
		used[u.graph.Package(path)] = true
	}
	for path := range u.Library.usedIdentities() {
		used[u.graph.Package(path)] = true
	}
	if a.Loaded != nil {
		for p := range a.Loaded.Read {
			used[p] = true
		}
	}
	sums := map[string]record.Sum{}
	for p := range used {
		if p != nil && p.External() {
			sums[p.ImportPath] = dependencySum(p, u.Library)
		}
	}
	return sums
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

// allKinds returns the kinds that were found, and the kinds of all groups without dirty
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
			if u.disk.isCurrent(o) {
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
