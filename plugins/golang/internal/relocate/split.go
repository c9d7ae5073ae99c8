package relocate

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// split describes how the files of a folder are divided among its places.
type split struct {
	folder
	at       map[string]place   // file -> place, for files that do not go to the first place
	declared map[string]place   // declared name -> place, likewise
	suite    string             // file that starts the API server for the specs, or ""
	shared   map[string]string  // helper -> the helper that determines its places
	copies   map[string][]place // helper -> places of its copies
	files    map[string]*member // the Go files of the folder's package
}

// member is a Go file of the folder's package.
type member struct {
	*goedit.File
	declares map[string]int
	free     map[string]bool
}

// split decides where each file of a folder goes.
func (m *move) split(f folder, names []string) (split, error) {
	s := split{folder: f, at: map[string]place{}, declared: map[string]place{}, shared: map[string]string{}, copies: map[string][]place{}}
	files := map[string]*member{}
	s.files = files
	for _, name := range names {
		if path.Dir(name) != f.dir {
			continue
		}
		file, ok, err := m.parse(name)
		if err != nil {
			return s, err
		}
		if ok {
			files[name] = &member{file, file.Declares(), file.Free()}
		}
		if ok && source.IsTest(name) && file.Mentions("BeforeSuite") {
			s.suite = name
		} else if to, ok := f.named(name); ok && to.dir != f.to[0].dir {
			s.at[name] = to
		}
	}
	if len(f.to) > 1 {
		m.helpers(s, names, files)
		if err := s.follow(files); err != nil {
			return s, err
		}
		m.share(s, files)
	}
	for name, to := range s.at {
		if files[name] == nil {
			continue
		}
		for declared := range files[name].declares {
			s.declared[declared] = to
		}
	}
	m.noteNames(files, s)
	return s, s.check(files)
}

func (s split) target(name string) place {
	if to, ok := s.at[name]; ok {
		return to
	}
	return s.to[0]
}

// suites gives each place with tests its own suite: a copy of the folder's suite, with the
// user's changes. Each suite registers and sets up what its own kinds and specs need.
func (s split) suites(m *move) error {
	if s.suite == "" || len(s.to) < 2 {
		return nil
	}
	own := s.to[0].dir + strings.TrimPrefix(s.suite, s.dir)
	src, err := m.plan.Read(own)
	if err != nil {
		return err
	}
	for i, to := range s.to {
		next := to.dir + strings.TrimPrefix(s.suite, s.dir)
		isTest := func(name string) bool { return source.IsTest(name) && s.at[name].dir == to.dir }
		if i > 0 && !slices.ContainsFunc(slices.Sorted(maps.Keys(s.at)), isTest) {
			continue
		}
		if i > 0 {
			if err := m.plan.Share(next, 0o644, src); err != nil {
				return err
			}
			m.files[next] = s.suite
		}
		err := source.Edit(m.plan, next, func(f *goedit.File) error {
			for j, other := range s.to {
				for _, r := range other.resources {
					if i == j {
						continue
					}
					if err := f.DropCall("BeforeSuite", r.WebhookSetup()); err != nil {
						return err
					}
					if types := m.typesBefore(r); !s.usesAt(to, types) {
						if err := f.DropUse("BeforeSuite", types, "AddToScheme"); err != nil {
							return err
						}
					}
				}
			}
			if to.pkg == "" {
				return nil
			}
			return f.SetPackage(to.pkg)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// typesBefore returns the import path of the types of r before the layout changes.
func (m *move) typesBefore(r project.Resource) string {
	i := slices.IndexFunc(m.after.Resources, r.SameVersion)
	return m.before.APIPath(m.before.Resources[i])
}

// usesAt reports whether a file other than the suite that goes to a place imports a package.
func (s split) usesAt(to place, pkg string) bool {
	for name, file := range s.files {
		if name != s.suite && holds(s.places(name), to) && slices.Contains(file.Imports(), pkg) {
			return true
		}
	}
	return false
}

// check reports files that need each other's names but would be separated. Names of the suite
// are available everywhere.
func (s split) check(files map[string]*member) error {
	for _, user := range slices.Sorted(maps.Keys(files)) {
		if len(s.at) == 0 || user == s.suite {
			continue
		}
		free := files[user].free
		for _, other := range slices.Sorted(maps.Keys(files)) {
			if other == s.suite || files[user].Package() != files[other].Package() {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(files[other].declares)) {
				if !free[name] || !slices.ContainsFunc(s.places(user), func(to place) bool { return !holds(s.places(other), to) }) {
					continue
				}
				if s.shared[user] != "" {
					return fault.Failed("remove that use, then repeat the command",
						"%s uses %s of %s, but is copied to packages without it", user, name, other)
				}
				hint := "move the shared code to its own package"
				if slices.ContainsFunc(slices.Sorted(maps.Keys(files)), func(f string) bool { return slices.Contains(files[f].Receivers(), name) }) {
					hint = "remove the dependency" // methods must be in the package of their type
				}
				return fault.Failed(hint+", then repeat the command",
					"%s uses %s of %s, and their kinds are in different groups", user, name, other)
			}
		}
	}
	return nil
}

// noteNames records the names that are declared in files that move to a folder.
func (m *move) noteNames(files map[string]*member, s split) {
	if m.names == nil {
		m.names = map[string]map[string]string{}
	}
	for name, file := range files {
		dir := s.target(name).dir
		if m.names[dir] == nil {
			m.names[dir] = map[string]string{}
		}
		for declared := range file.declares {
			if first, known := m.names[dir][declared]; !known || name < first {
				m.names[dir][declared] = name
			}
		}
	}
}

// checkJoined reports an error if packages that are merged declare the same name.
func (m *move) checkJoined() error {
	for _, next := range slices.Sorted(maps.Keys(m.files)) {
		file, ok, err := m.parse(next)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(file.Declares())) {
			if other := m.names[path.Dir(next)][name]; other != "" && path.Dir(other) != path.Dir(m.files[next]) && m.plan.Exists(m.moved[other]) {
				return fault.Failed("rename one of the two, then repeat the command",
					"%s and %s both declare %s, and their packages are merged", other, m.files[next], name)
			}
		}
	}
	return nil
}

// joinSuite removes the suite of a package that is merged with another package with a suite.
// If changes of the user would be lost, it returns an error.
func (m *move) joinSuite(name, next string, to place) (gone bool, err error) {
	file, ok, err := m.parse(name)
	if err != nil || !ok || !file.Mentions("BeforeSuite") || !m.plan.Exists(next) {
		return false, err
	}
	src, err := m.plan.Read(name)
	if err != nil {
		return false, err
	}
	kept, err := m.plan.Read(next)
	if err != nil {
		return false, err
	}
	for _, r := range to.resources {
		if file.Mentions(r.WebhookSetup()) {
			if err := m.serve(r, next, m.plan); err != nil {
				return false, err
			}
		}
	}
	have := map[string]bool{}
	for line := range strings.Lines(string(kept)) {
		have[plain(line)] = true
	}
	for line := range strings.Lines(string(src)) {
		text := plain(line)
		switch {
		case have[text], strings.HasPrefix(text, "package "):
		case strings.Contains(text, ".AddToScheme(") || strings.Contains(text, "WebhookWithManager("):
		case strings.HasSuffix(text, `"`) && !strings.Contains(text, "="): // an import
		default:
			return false, fault.Failed("move its changes to "+next+", then repeat the command",
				"%s and %s both start an API server, and their packages are merged: the line %q of the first would be lost", name, next, strings.TrimSpace(line))
		}
	}
	return true, m.plan.Remove(name)
}

// plain returns the line without indentation and parent folders, which depend on its folder.
func plain(line string) string { return strings.ReplaceAll(strings.TrimSpace(line), `"..", `, "") }
