package load

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/overlay"
)

// RecordedQuery is the query that an earlier run asked the go command, with the
// answers that it got.
func RecordedQuery(src *overlay.Project, is record.Go) *Query {
	return &Query{
		Project:  src,
		Command:  golist.Command{Dir: src.Dir, Env: goEnv(os.Environ()), Arch: is.Arch, Fixed: []string{is.Root, is.ModCache}},
		goFlags:  is.Flags,
		Settings: Settings{Root: is.Root, ModCache: is.ModCache, env: is.Env, work: is.Work, compiler: is.Compiler},
	}
}

// Answer is what the go command told, with the folders of the packages that it
// listed. For Go's own sources, its version stands.
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

// Surroundings are the folders among those of packages whose sources may change, and
// what a listing depends on beside sources. ok is false where that is not known.
func (q *Query) Surroundings(folders []string) (changing, files []string, ok bool) {
	var fixed []string
	for _, dir := range folders {
		if isBelow(q.Settings.Root, dir) || isBelow(q.Settings.ModCache, dir) {
			fixed = append(fixed, dir)
		} else {
			changing = append(changing, dir)
		}
	}
	files, ok = q.Inputs(fixed, nil)
	known := map[string]bool{}
	for _, name := range files {
		known[name] = true
	}
	for _, dir := range slices.Concat(changing, q.walked()) {
		for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
			module := filepath.Join(d, "go.mod") // which would make it one of another module
			if known[module] {
				break
			}
			known[module] = true
			files = append(files, module)
		}
	}
	return changing, files, ok
}

// walked are the folders that the patterns start from.
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
