package adopt

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// manager is a file that creates a controller-runtime manager in a program.
type manager struct {
	at       place
	tagged   bool // the file is only built with tags
	setups   int  // calls in the file that add controllers and webhooks to a manager
	together int  // the same in its package
	reached  int  // controllers in the packages that it imports
	started  bool // a program that contains it calls Start
}

// compareManagers orders managers by how much they set up, most first. Those that are only built with tags are last.
func compareManagers(a, b manager) int {
	if a.tagged != b.tagged {
		if a.tagged {
			return 1
		}
		return -1
	}
	return cmp.Or(b.setups-a.setups, b.together-a.together, b.reached-a.reached)
}

// managersIn returns the managers that programs of a module make, the one that sets up most first.
func (r *repository) managersIn(m module) []manager {
	programs := map[string]bool{} // packages that programs contain, and whether one of these programs calls Start
	for _, f := range r.src.files {
		if of, ok := r.src.moduleOf(f.dir()); ok && of == m && f.hasMain {
			within := r.src.reachable(f.dir())
			starts := slices.ContainsFunc(r.src.files, func(other *goFile) bool { return other.starts && within[other.dir()] })
			for dir := range within {
				programs[dir] = programs[dir] || starts
			}
		}
	}
	var all []manager
	for _, f := range r.src.files {
		started, inProgram := programs[f.dir()]
		if of, ok := r.src.moduleOf(f.dir()); !ok || of != m || len(f.managers) == 0 || !inProgram {
			continue
		}
		found := manager{at: f.at(f.managers[0]), tagged: f.tagged, setups: f.setups, started: started}
		for _, other := range r.src.byDir[f.dir()] {
			found.together += other.setups
		}
		within := r.src.reachable(f.dir())
		for _, other := range r.src.files {
			if within[other.dir()] {
				found.reached += len(other.builders)
			}
		}
		all = append(all, found)
	}
	slices.SortStableFunc(all, compareManagers)
	return all
}

// noMain is the value of Options.Main for a repository of API types alone.
const noMain = "none"

// chooseManager returns the manager of the operator: the chosen file, or the one that sets up most controllers. ok is
// false if the user says that there is none.
func (r *repository) chooseManager(chosen string) (m manager, confidence Confidence, ok bool, err error) {
	all := r.managersIn(r.module)
	switch {
	case chosen == noMain:
		return manager{}, "", false, nil
	case chosen != "":
		chosen = path.Clean(chosen)
		for _, f := range r.src.files {
			if f.name == chosen {
				m := manager{at: place{file: chosen}}
				if len(f.managers) > 0 {
					m.at.line = f.managers[0]
				}
				return m, Certain, true, nil
			}
		}
		return manager{}, "", false, fault.Usage("name one with --main, relative to the folder of PROJECT", "there is no Go file %s, which should create the manager", chosen)
	case len(all) == 0:
		return manager{}, "", false, r.noManager()
	case len(all) == 1:
		return all[0], r.confidence(all[0]), true, nil
	}
	confidence = r.confidence(all[0])
	if confidence != Certain || compareManagers(all[0], all[1]) == 0 {
		var names []string
		for _, m := range all {
			names = append(names, m.at.file)
		}
		return manager{}, "", false, ask(Question{"main", "several files create a manager: " + strings.Join(names, ", "), names},
			"name the one that sets up the controllers: --main "+names[0])
	}
	return all[0], confidence, true, nil
}

// confidence returns how certain it is that new controllers belong to a manager: it is started, and its program sets up
// most controllers.
func (r *repository) confidence(m manager) Confidence {
	controllers := 0
	for _, f := range r.src.files {
		if of, ok := r.src.moduleOf(f.dir()); ok && of == r.module {
			controllers += len(f.builders)
		}
	}
	if m.tagged || !m.started || 2*m.reached < controllers {
		return Likely
	}
	return Certain
}

// noManager returns the error of a module without a manager.
func (r *repository) noManager() error {
	for _, m := range r.src.modules {
		if m != r.module && len(r.managersIn(m)) > 0 {
			return fault.Usage("run operon adopt in "+m.dir, "no program of this module creates a controller-runtime manager, but one of the module in %s does", m.dir)
		}
	}
	if len(r.kinds) > 0 {
		return fault.Usage("name the file with --main, or use --main "+noMain+" to record the API types alone",
			"no program of this module creates a controller-runtime manager")
	}
	return fault.Usage("start an operator with operon init, or change to the folder of one",
		"no operator found: no program creates a controller-runtime manager, and no package defines kinds")
}
