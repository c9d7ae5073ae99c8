// Package incremental generates for the packages that changed since the last run. It
// stores a record of each run: the checksums of the sources, and the outputs of each package.
//
// The result is always the same as after a run over all packages. If that cannot be decided
// exactly, [Generate] returns a [golist.Inexact] that says why, and the caller uses another way.
package incremental

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/record"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/goenv"
	"github.com/operon-dev/operon/internal/input"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// recordKind is the kind of the entries in the store.
const recordKind = "project"

// history is the record of the last run of the same job.
type history struct {
	store *store.Store
	none  golist.Inexact // why runs of the job are not recorded; "" if they are
	key   store.Key
	last  *record.Record // empty if there is none
	bytes []byte         // the encoded form of last
}

// open reads the record of the last run of the job. Runs of some jobs cannot be recorded: those
// with an output that is not a file, or with a path that is not a folder of the project.
func open(q *load.Query, j *request.Job) *history {
	h := &history{store: j.Store, last: &record.Record{}}
	if h.key, h.none = keyOf(q, j); h.none != "" {
		return h
	}
	if content, ok := h.store.Get(recordKind, h.key); ok {
		h.last, h.bytes = record.Decode(content), content
	}
	return h
}

// keyOf identifies a job and everything that its result depends on, other than packages. none says why its runs are not
// recorded.
func keyOf(q *load.Query, j *request.Job) (key store.Key, none golist.Inexact) {
	if j.Store == nil {
		return key, "the cache is off"
	}
	dir := q.Project.Dir
	question := []string{"3", dir, q.Arch}
	for _, g := range j.Generators {
		is, why := describe(g, q.Project)
		if why != "" {
			return key, why
		}
		question = append(question, is...)
	}
	for _, p := range j.Paths {
		f := load.NewFolder(dir, p)
		if _, inside := f.Query(dir); !load.IsFilePath(p) || !inside {
			return key, golist.Inexact(p + " is not a folder of the project")
		}
		question = append(question, fmt.Sprintf("%s %v", f.Dir, f.Recursive))
	}
	surroundings, ok := surroundings(j.Environ)
	if !ok {
		return key, "the files of this program cannot be identified"
	}
	return store.KeyOf(append(question, surroundings...)...), ""
}

// describe identifies a generator, its options, its folders, and all files other than packages that it reads.
// why says why its runs cannot be recorded.
func describe(g request.Generator, src *overlay.Project) (is []string, why golist.Inexact) {
	var folders string
	switch rule := g.Rule.(type) {
	case genall.OutputArtifacts, genall.OutputToDirectory:
		folders = fmt.Sprintf("%T %v", rule, rule)
	default:
		return nil, golist.Inexact("the output of " + g.Name + " is no file")
	}
	if g.Name == "schemapatch" {
		return nil, "schemapatch reads files that no record has"
	}
	options, err := json.Marshal(g.Gen)
	if err != nil {
		return nil, golist.Inexact(err.Error())
	}
	is = []string{g.Name, folders, string(options)}
	if file := request.HeaderOf(g.Gen); file != "" {
		header, err := src.Open(file)
		if err != nil {
			return nil, golist.Inexact(err.Error())
		}
		is = append(is, string(header))
	}
	return is, ""
}

// surroundings returns texts that identify what outputs depend on, apart from packages
// and arguments: this program, the environment, and the files of the library that forms
// plurals.
func surroundings(env []string) (text []string, ok bool) {
	program, ok := store.Program()
	if !ok {
		return nil, false
	}
	text = []string{program}
	for _, e := range environ.All(env) {
		if name, _, _ := strings.Cut(e, "="); goenv.Variable(name) {
			text = append(text, e)
		}
	}
	slices.Sort(text[1:])
	for _, file := range load.Words() {
		content, err := input.ReadFile(file, input.Data)
		text = append(text, fmt.Sprint(err == nil), string(content))
	}
	return text, true
}

// keep stores the record, unless it is unchanged.
func (h *history) keep(next *record.Record) {
	if content, err := next.Encode(); err == nil && !bytes.Equal(content, h.bytes) {
		h.store.Put(recordKind, h.key, content)
	}
}
