package relocate

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// next returns the path at a place of a file or folder in f. The packages of apply configurations have the names of
// the last two folders of the types.
func (f folder) next(name string, to place) string {
	rest := strings.TrimPrefix(name, f.dir)
	applied := func(dir string) string {
		return "/" + path.Join(request.ApplyConfigurations, path.Base(path.Dir(dir)), path.Base(dir))
	}
	if below, ok := strings.CutPrefix(rest+"/", applied(f.dir)+"/"); ok {
		rest = strings.TrimSuffix(applied(to.dir)+"/"+below, "/")
	}
	return to.dir + rest
}

// named returns the place of a file whose name operon uses for a kind. For a file that the
// user deleted, the name is the only clue.
func (f folder) named(name string) (place, bool) {
	stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".go"), "_test")
	for _, to := range f.to {
		for _, r := range to.resources {
			if slices.Contains([]string{r.Lower() + "_webhook", r.Lower() + "_defaulter", r.Lower() + "_validator"}, stem) {
				return to, true
			}
			for _, controller := range r.ControllerNames() {
				if rest, ok := strings.CutPrefix(stem, project.ControllerFile(controller)+"_"); ok && isControllerPart(rest) {
					return to, true
				}
			}
		}
	}
	return place{}, false
}

// isControllerPart reports whether rest is the suffix of a file name that a controller's files
// can have.
func isControllerPart(rest string) bool {
	_, of, _ := strings.Cut(rest, "_") // the kind that a controller owns or watches
	return slices.Contains([]string{"controller", "status", "apply", "label", "finalizer"}, rest) || of == "owned" || of == "watched"
}

// typesOf returns the names of types that belong to r. A file that declares one of them
// belongs to r too.
func typesOf(r project.Resource) []string {
	names := append(source.AdmissionTypes(r), r.WebhookSetup())
	for _, controller := range r.ControllerNames() {
		names = append(names, r.Reconciler(controller))
	}
	return names
}

// follow assigns places to files. A file that declares types of a kind gets the place of the
// kind, and a file with methods of a type gets the place of the type. The names of the others
// decide. A file that only one place needs goes there.
func (s split) follow(files map[string]*member) error {
	types := map[string]string{} // -> the file that declares it
	bound := map[string]place{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for declared := range files[name].declares {
			types[declared] = name
		}
		for _, to := range s.to {
			for _, r := range to.resources {
				if !slices.ContainsFunc(typesOf(r), func(t string) bool { return files[name].declares[t] > 0 }) {
					continue
				}
				if other, ok := bound[name]; ok && other.dir != to.dir {
					return s.torn(name, other, to)
				}
				bound[name] = to
			}
		}
	}
	if err := s.bind(files, types, bound); err != nil {
		return err
	}
	for name, to := range bound {
		delete(s.at, name)
		if to.dir != s.to[0].dir {
			s.at[name] = to
		}
	}
	for again := len(s.at) > 0; again; {
		again = false
		for _, name := range slices.Sorted(maps.Keys(files)) {
			_, is := bound[name]
			if _, ok := s.at[name]; ok || is || name == s.suite || s.shared[name] != "" {
				continue
			}
			if to, ok := s.following(files, name); ok {
				s.at[name], again = to, true
			}
		}
	}
	return nil
}

// bind carries places from files that declare a type to files with its methods, and back. A
// file with methods of a type that every package gets is also copied to every package.
func (s split) bind(files map[string]*member, types map[string]string, bound map[string]place) error {
	for again := true; again; {
		again = false
		for _, name := range slices.Sorted(maps.Keys(files)) {
			for _, receiver := range files[name].Receivers() {
				with, ok := types[receiver]
				if !ok || with == name {
					continue
				}
				if s.shared[with] != "" && s.shared[name] == "" {
					s.shared[name], again = s.shared[with], true
				}
				here, isHere := bound[name]
				there, isThere := bound[with]
				switch {
				case isHere && isThere && here.dir != there.dir:
					return s.torn(name, here, there)
				case isHere && !isThere:
					bound[with], again = here, true
				case isThere && !isHere:
					bound[name], again = there, true
				}
			}
		}
	}
	for name, lead := range s.shared {
		_, is := bound[name]
		if _, leads := bound[lead]; is || leads {
			delete(s.shared, name)
		}
	}
	return nil
}

func (s split) torn(name string, a, b place) error {
	return fault.Failed("split the file by kind, with the methods of each type, then repeat the command",
		"%s has code for kinds of different groups, which move to %s and %s", name, a.dir, b.dir)
}

// following returns the place that a file takes from others: a test from the code under test,
// and any other file from its users, if they have a single place.
func (s split) following(files map[string]*member, name string) (place, bool) {
	dirs := map[string]place{}
	for other, file := range files {
		uses := source.IsTest(name) && usesOf(files[name], file) || !source.IsTest(name) && !source.IsTest(other) && usesOf(file, files[name])
		if uses && other != name && other != s.suite && s.shared[other] == "" {
			to := s.target(other)
			dirs[to.dir] = to
		}
	}
	for dir, to := range dirs {
		return to, len(dirs) == 1 && dir != s.to[0].dir
	}
	return place{}, false
}

// usesOf reports whether user refers to a name that other declares.
func usesOf(user, other *member) bool {
	free := user.free
	for declared := range other.declares {
		if free[declared] {
			return true
		}
	}
	return false
}
