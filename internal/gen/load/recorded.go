package load

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/overlay"
)

// RecordedQuery returns the query of an earlier run over the same paths, with the settings that
// the go command had then.
func RecordedQuery(src *overlay.Project, paths, env []string, program string, is record.Go) *Query {
	return &Query{
		Project: src,
		Command: golist.Command{
			Dir: moduleOf(src.Dir, paths), Env: goEnv(env), Program: program, Arch: is.Arch, External: []string{is.Root, is.ModCache},
		},
		goFlags:  is.Flags,
		Settings: Settings{Root: is.Root, ModCache: is.ModCache, env: is.Env, work: is.Work, compiler: is.Compiler},
	}
}

// Answer returns the settings of the go command and the folders of the listed packages.
// It omits folders in GOROOT, which the version of Go identifies.
func (q *Query) Answer(folders []string) record.Go {
	s := q.Settings
	is := record.Go{Flags: q.goFlags, Arch: q.Arch, Root: s.Root, ModCache: s.ModCache, Env: s.env, Work: s.work, Compiler: s.compiler}
	for _, dir := range folders {
		if !isBelow(s.Root, dir) {
			is.Folders = append(is.Folders, dir)
		}
	}
	return is
}

// Surroundings returns the package folders whose sources may change, and the files other
// than sources that a listing depends on. ok is false if they are unknown.
func (q *Query) Surroundings(folders []string) (changing, files []string, ok bool) {
	var external []string
	for _, dir := range folders {
		if isBelow(q.Settings.Root, dir) || isBelow(q.Settings.ModCache, dir) {
			external = append(external, dir)
		} else {
			changing = append(changing, dir)
		}
	}
	files, ok = q.inputs(external, nil)
	known := map[string]bool{}
	for _, name := range files {
		known[name] = true
	}
	for _, dir := range slices.Concat(changing, q.walked()) {
		for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
			module := filepath.Join(d, "go.mod") // a go.mod there would make the folder part of another module
			if known[module] {
				break
			}
			known[module] = true
			files = append(files, module)
		}
	}
	return changing, files, ok
}

// walked returns the folders of the patterns.
func (q *Query) walked() []string {
	var dirs []string
	for _, f := range q.Folders {
		dirs = append(dirs, f.Dir)
	}
	return dirs
}

func isBelow(dir, name string) bool {
	return dir != "" && strings.HasPrefix(name, dir+string(filepath.Separator))
}
