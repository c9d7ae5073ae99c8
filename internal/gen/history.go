package gen

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/goenv"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// history is what the last run of the same job found, to be built on and to be
// replaced. A nil history has none and keeps none.
type history struct {
	store *store.Store
	key   store.Key
	last  *record.Record // nil: there was none
	bytes string         // of last
	walks []record.Walk
}

// recordKind names the entries in the store.
const recordKind = "project"

// openHistory finds the record of the last run. There is none for a job whose
// output goes elsewhere than to files, or that looks at other things than
// packages below the root.
func openHistory(s *store.Store, src *sources, j *job) *history {
	h := &history{store: s}
	if s == nil {
		return nil
	}
	question := []string{"1", src.dir}
	for _, g := range j.generators {
		text, ok := describe(g, src)
		if !ok {
			return nil
		}
		question = append(question, text...)
	}
	for _, p := range j.paths {
		f := newFolder(src.dir, p)
		if _, inside := f.query(src.dir); !isFilePath(p) || !inside {
			return nil
		}
		h.walks = append(h.walks, record.Walk{Dir: f.dir, Below: f.recursive})
		question = append(question, fmt.Sprintf("%s %v", f.dir, f.recursive))
	}
	surroundings, ok := surroundings()
	if !ok {
		return nil
	}
	h.key = store.KeyOf(append(question, surroundings...)...)
	if content, ok := s.Get(recordKind, h.key); ok {
		h.last, h.bytes = record.Decode(content), string(content)
	}
	return h
}

// describe tells a generator from others, with its options and all that it reads
// beside packages.
func describe(g generator, src *sources) (text []string, ok bool) {
	switch g.rule.(type) {
	case genall.OutputArtifacts, genall.OutputToDirectory:
	default:
		return nil, false
	}
	if g.name == "schemapatch" {
		return nil, false
	}
	options, err := json.Marshal(g.gen)
	if err != nil {
		return nil, false
	}
	text = []string{g.name, string(options), fmt.Sprintf("%T%+v", g.rule, g.rule)}
	if file := headerOf(g.gen); file != "" {
		header, err := src.open(file)
		if err != nil {
			return nil, false
		}
		text = append(text, string(header))
	}
	return text, true
}

// surroundings are what outputs depend on beside packages and arguments: this
// program, the environment, and the words that the library behind plural names
// reads as the program starts.
func surroundings() (text []string, ok bool) {
	self, err := os.Executable()
	if err != nil {
		return nil, false
	}
	is, err := filestat.Of(self)
	if err != nil {
		return nil, false
	}
	text = []string{self, string(is.Append(nil))}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); goenv.Variable(name) {
			text = append(text, e)
		}
	}
	slices.Sort(text[2:])
	words, err := vocabularyFiles()
	if err != nil {
		return nil, false
	}
	for _, file := range words {
		content, err := os.ReadFile(file)
		text = append(text, fmt.Sprint(err == nil), string(content))
	}
	return text, true
}

// identity tells the identities of packages that the last run asked for.
func (h *history) identity() func(path string) (depcache.Identity, bool) {
	known := make(map[string]depcache.Identity, len(h.last.Identities))
	for _, is := range h.last.Identities {
		known[is.Path] = depcache.Identity(is.Sum)
	}
	return func(path string) (depcache.Identity, bool) {
		is, ok := known[path]
		return is, ok
	}
}

// keep replaces the record.
func (h *history) keep(next *record.Record) {
	if content := next.Encode(); string(content) != h.bytes {
		h.store.Put(recordKind, h.key, content)
	}
}

// query is the question that the last run asked the go command, with the
// answers that it got.
func (h *history) query(src *sources) *query {
	is := h.last.Go
	return &query{
		src:      src,
		Command:  golist.Command{Dir: src.dir, Env: goEnv(os.Environ()), Arch: is.Arch, Fixed: []string{is.Root, is.ModCache}},
		goFlags:  is.Flags,
		settings: settings{root: is.Root, modCache: is.ModCache, env: is.Env, work: is.Work, compiler: is.Compiler},
	}
}

// answer is what the go command told, with the folders of the packages that it
// listed. For Go's own sources, its version stands.
func (q *query) answer(folders []string) record.Go {
	s := q.settings
	is := record.Go{Flags: q.goFlags, Arch: q.Arch, Root: s.root, ModCache: s.modCache, Env: s.env, Work: s.work, Compiler: s.compiler}
	for _, dir := range folders {
		if !isBelow(s.root, dir) {
			is.Folders = append(is.Folders, dir)
		}
	}
	return is
}

// outside are the folders among those of packages whose sources may change, and
// what a listing depends on beside sources. ok is false where that is not known.
func (q *query) outside(folders []string) (changing, files []string, ok bool) {
	var fixed []string
	for _, dir := range folders {
		if isBelow(q.settings.root, dir) || isBelow(q.settings.modCache, dir) {
			fixed = append(fixed, dir)
		} else {
			changing = append(changing, dir)
		}
	}
	files, ok = q.inputs(fixed, nil)
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
func (q *query) walked() []string {
	var dirs []string
	for _, f := range q.together {
		dirs = append(dirs, f.dir)
	}
	return dirs
}

func isBelow(dir, name string) bool {
	return dir != "" && strings.HasPrefix(name, dir+string(filepath.Separator))
}
