package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// suiteNames are what every suite of this layout declares for its specs, so that
// these find them in the suite of their new package.
var suiteNames = []string{"ctx", "cancel", "testEnv", "cfg", "k8sClient"}

// assign tells where each file of a folder goes, and which of the names that the
// folder's package declares go elsewhere than to its first place.
func (m *move) assign(f folder, names []string) (target func(string) place, declared map[string]place, err error) {
	at, declared := map[string]place{}, map[string]place{}
	files := map[string]*edit.GoFile{}
	for _, name := range names {
		if path.Dir(name) != f.dir {
			continue
		}
		file, err := m.parse(name)
		if err != nil {
			return nil, nil, err
		}
		for _, to := range f.to[1:] {
			if slices.ContainsFunc(to.resources, func(r project.Resource) bool { return belongs(name, file, r) }) {
				at[name] = to
			}
		}
		if file != nil {
			files[name] = file
		}
		if to, ok := at[name]; ok && file != nil {
			for declaredName := range file.Declares() {
				declared[declaredName] = to
			}
		}
	}
	target = func(name string) place {
		if to, ok := at[name]; ok {
			return to
		}
		return f.to[0]
	}
	if len(f.to) > 1 {
		err = checkSplit(files, target)
	}
	m.noteNames(f, files, target)
	return target, declared, err
}

// belongs reports whether a file in a folder of controllers or webhooks is about
// r: by what it declares, or by its name.
func belongs(name string, file *edit.GoFile, r project.Resource) bool {
	base := path.Base(name)
	types := []string{r.Kind + "CustomDefaulter", r.Kind + "CustomValidator", "Setup" + r.Kind + "WebhookWithManager"}
	files := []string{r.Lower() + "_webhook"}
	for _, controller := range r.ControllerNames() {
		types = append(types, r.Reconciler(controller))
		files = append(files, project.ControllerFile(controller)+"_controller")
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(base, ".go"), "_test")
	return slices.Contains(files, stem) || file != nil && slices.ContainsFunc(types, func(t string) bool { return file.Declares()[t] > 0 })
}

// checkSplit refuses to part files that need each other's names.
func checkSplit(files map[string]*edit.GoFile, target func(string) place) error {
	names := sortedKeys(files)
	for _, user := range names {
		free := files[user].Free()
		for _, other := range names {
			if target(user).dir == target(other).dir || files[user].Package() != files[other].Package() {
				continue
			}
			suite := files[other].Mentions("BeforeSuite")
			for _, name := range sortedKeys(files[other].Declares()) {
				if free[name] && !(suite && slices.Contains(suiteNames, name)) {
					return refuseSplit(name, other, user)
				}
			}
		}
	}
	return nil
}

// noteNames remembers what the files declare that come to a folder.
func (m *move) noteNames(f folder, files map[string]*edit.GoFile, target func(string) place) {
	if m.names == nil {
		m.names = map[string]map[string]string{}
	}
	for name, file := range files {
		dir := target(name).dir
		if m.names[dir] == nil {
			m.names[dir] = map[string]string{}
		}
		for declared := range file.Declares() {
			if first, twice := m.names[dir][declared]; !twice || name < first {
				m.names[dir][declared] = name
			}
		}
	}
}

// checkJoined refuses packages that declare the same name and become one.
func (m *move) checkJoined() error {
	for _, next := range sortedKeys(m.files) {
		file, err := m.parse(next)
		if err != nil {
			return err
		}
		if file == nil {
			continue
		}
		for _, name := range sortedKeys(file.Declares()) {
			if other := m.names[path.Dir(next)][name]; other != "" && path.Dir(other) != path.Dir(m.files[next]) && m.plan.Exists(m.newPath(other)) {
				return fault.Failed("rename one of the two, then repeat the command",
					"%s and %s both declare %s, and their packages become one", other, m.files[next], name)
			}
		}
	}
	return nil
}

func (m *move) newPath(old string) string {
	for next, from := range m.files {
		if from == old {
			return next
		}
	}
	return ""
}

// joinSuite takes out the suite of a package that becomes one with another, which
// has a suite. That one does for both; what a user wrote into the other would be
// lost, and is a reason to refuse.
func (m *move) joinSuite(name, next string) (gone bool, err error) {
	file, err := m.parse(name)
	if err != nil || file == nil || !file.Mentions("BeforeSuite") || !m.plan.Exists(next) {
		return false, err
	}
	src, err := m.plan.Read(name)
	if err != nil {
		return false, err
	}
	stays, err := m.plan.Read(next)
	if err != nil {
		return false, err
	}
	have := map[string]bool{}
	for line := range strings.Lines(string(stays)) {
		have[plain(line)] = true
	}
	inSetup := false
	for line := range strings.Lines(string(src)) {
		switch text := plain(line); {
		case have[text], strings.HasPrefix(text, "package "):
		case strings.Contains(text, ".AddToScheme(") || strings.Contains(text, "WebhookWithManager("):
		case strings.HasSuffix(text, `"`) && !strings.Contains(text, "="): // an import
		default:
			inSetup = true
		}
		if inSetup {
			return false, fault.Failed("bring its changes to "+next+", take them out of it, then repeat the command",
				"%s and %s both start an API server, and their packages become one: the line %q of the first would be lost", name, next, strings.TrimSpace(line))
		}
	}
	return true, m.plan.Remove(name)
}

// plain is a line without indent and without steps up, which depend on its folder.
func plain(line string) string { return strings.ReplaceAll(strings.TrimSpace(line), `"..", `, "") }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
