package relocate

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Helpers that are copied to each package whose controllers use them.
const (
	specsHelper  = "specs_test.go"
	ownHelper    = "own.go"
	statusHelper = "patch_status.go"
)

// helperFuncs maps each helper to the function that identifies it.
var helperFuncs = map[string]string{specsHelper: "runController", ownHelper: "own", statusHelper: "patchStatus"}

// helpers finds the helpers in the folder. It maps each one to the helper that determines its
// places: own_test.go goes where own.go goes.
func (m *move) helpers(s split, names []string, files map[string]*member) {
	for _, name := range names {
		file := files[name]
		known := file == nil && m.plan.HasBase(name)
		base := path.Base(name)
		tested := strings.TrimSuffix(base, "_test.go") + ".go"
		switch {
		case path.Dir(name) != s.dir:
		case helperFuncs[base] != "" && (known || file != nil && file.declares[helperFuncs[base]] > 0):
			s.shared[name] = name
		case helperFuncs[tested] != "" && (known || file != nil && file.free[helperFuncs[tested]]):
			s.shared[name] = path.Join(s.dir, tested)
		}
	}
}

// share assigns helpers to the places that need them: those where, according to PROJECT,
// operon writes code that uses them, and those with a file that uses them.
func (m *move) share(s split, files map[string]*member) {
	needs := map[string][]place{} // by the helper that determines the places
	for again := true; again; {
		again = false
		for _, name := range slices.Sorted(maps.Keys(s.shared)) {
			lead := s.shared[name]
			for _, to := range s.to {
				if !holds(needs[lead], to) && (m.needsHelper(lead, to) || s.used(files, name, to, needs)) {
					needs[lead], again = append(needs[lead], to), true
				}
			}
		}
	}
	for name, lead := range s.shared {
		places := needs[lead]
		slices.SortFunc(places, func(a, b place) int { return s.order(a) - s.order(b) })
		if len(places) == 0 {
			continue // unused, so it stays
		}
		if places[0].dir != s.to[0].dir {
			s.at[name] = places[0]
		}
		s.copies[name] = places[1:]
	}
}

// needsHelper reports whether operon writes the helper at a place.
func (m *move) needsHelper(helper string, to place) bool {
	return slices.ContainsFunc(to.resources, func(r project.Resource) bool {
		switch has := m.after.AllFeatures(r); path.Base(helper) {
		case specsHelper:
			return !has.IsZero()
		case ownHelper:
			return len(has.Owns) > 0
		default: // used by the controllers that operon wrote for the project's own kinds
			return !r.HasExternalTypes() && slices.ContainsFunc(r.ControllerNames(), func(controller string) bool {
				return m.plan.HasBase(path.Dir(helper) + "/" + project.ControllerFile(controller) + "_controller.go")
			})
		}
	})
}

// used reports whether a file that moves to a place uses the helper name.
func (s split) used(files map[string]*member, name string, to place, needs map[string][]place) bool {
	if files[name] == nil {
		return false
	}
	for user, file := range files {
		there := s.target(user).dir == to.dir
		if lead := s.shared[user]; lead != "" {
			there = lead != s.shared[name] && holds(needs[lead], to)
		}
		if there && usesOf(file, files[name]) {
			return true
		}
	}
	return false
}

func (s split) order(to place) int {
	return slices.IndexFunc(s.to, func(p place) bool { return p.dir == to.dir })
}

func holds(places []place, to place) bool {
	return slices.ContainsFunc(places, func(p place) bool { return p.dir == to.dir })
}

// places returns all places of a file.
func (s split) places(name string) []place {
	return append([]place{s.target(name)}, s.copies[name]...)
}

// copy plans the copies of a helper for the places after its first one.
func (m *move) copy(s split, name string) error {
	first := m.moved[name]
	for _, to := range s.copies[name] {
		next := path.Join(to.dir, path.Base(name))
		if err := m.plan.Copy(first, next); err != nil {
			return err
		}
		m.files[next] = name
		if to.pkg == "" || !m.plan.Exists(next) {
			continue
		}
		if err := source.Edit(m.plan, next, func(f *goedit.File) error { return f.SetPackage(to.pkg) }); err != nil {
			return err
		}
	}
	return nil
}

// joinCopy removes a helper when its package is merged with another one that has the same
// helper. If the user deleted one of the two, the other one stays.
func (m *move) joinCopy(name, next string, to place) (gone bool, err error) {
	first := m.files[next]
	if first == "" || path.Ext(name) != ".go" {
		return false, nil
	}
	if !m.plan.Exists(name) {
		return true, m.plan.Remove(name)
	}
	if !m.plan.Exists(next) {
		delete(m.moved, first)
		return false, m.plan.Remove(next)
	}
	mine, err := m.plan.Read(name)
	if err == nil && to.pkg != "" {
		mine, err = source.EditFunc(name, func(f *goedit.File) error { return f.SetPackage(to.pkg) })(mine)
	}
	if err != nil {
		return false, err
	}
	theirs, err := m.plan.Read(next)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(mine, theirs) {
		return false, fault.Failed("make them equal, or rename one and its declarations, then repeat the command",
			"%s and %s differ, and their packages are merged", first, name)
	}
	return true, m.plan.Remove(name)
}
