// Package incremental generates for the packages that changed since the last run. It
// stores a record of each run: the checksums of the sources, the list of packages, and
// the outputs of each package. [History.Resume] needs only the record, if the list of
// packages cannot have changed. Otherwise, [History.List] runs the go command once.
//
// The result is always that of a run over all packages. If one of the two cannot decide
// exactly, it returns a [golist.Inexact] that says why, and the caller uses another way.
package incremental

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/goenv"
)

// History is the record of the last run of the same job.
type History struct {
	store *store.Store
	none  golist.Inexact // why runs of the job are not recorded; "" if they are
	key   store.Key
	last  *record.Record // nil if there is none
	bytes []byte         // the encoded form of the record with the key
	walks []record.Walk

	place      store.Key // what all jobs with the same paths have in common
	generators []generator
}

// recordKind is the kind of the entries in the store.
const recordKind = "project"

// Open reads the record of the last run of the job. Runs of some jobs cannot be recorded: those
// with an output that is not a file, or with a path that is not a folder of the project.
func Open(s *store.Store, src *overlay.Project, j *request.Job) *History {
	h := &History{store: s}
	if s == nil {
		return &History{none: "the cache is off"}
	}
	question := []string{"2", src.Dir}
	for _, g := range j.Generators {
		is, why := describe(g, src)
		if why != "" {
			return &History{none: why}
		}
		h.generators = append(h.generators, is)
	}
	for _, p := range j.Paths {
		f := load.NewFolder(src.Dir, p)
		if _, inside := f.Query(src.Dir); !load.IsFilePath(p) || !inside {
			return &History{none: golist.Inexact(p + " is not a folder of the project")}
		}
		h.walks = append(h.walks, record.Walk{Dir: f.Dir, Below: f.Recursive})
		question = append(question, fmt.Sprintf("%s %v", f.Dir, f.Recursive))
	}
	surroundings, ok := surroundings(j.Environ)
	if !ok {
		return &History{none: "the files of this program cannot be identified"}
	}
	question = append(question, surroundings...)
	h.place = store.KeyOf(question...)
	for _, g := range h.generators {
		question = append(question, g.Name, g.Options, g.Config, g.Code)
	}
	h.key = store.KeyOf(question...)
	if content, ok := s.Get(recordKind, h.key); ok {
		h.last, h.bytes = record.Decode(content), content
	}
	return h
}

// describe identifies a generator, its options, and all files other than packages that it reads.
// why says why its runs cannot be recorded.
func describe(g request.Generator, src *overlay.Project) (is generator, why golist.Inexact) {
	config, code, ok := folders(g)
	if !ok {
		return is, golist.Inexact("the output of " + g.Name + " is no file")
	}
	if g.Name == "schemapatch" {
		return is, "schemapatch reads files that no record has"
	}
	options, err := json.Marshal(g.Gen)
	if err != nil {
		return is, golist.Inexact(err.Error())
	}
	is = generator{Name: g.Name, Options: string(options), Config: config, Code: code}
	if file := request.HeaderOf(g.Gen); file != "" {
		header, err := src.Open(file)
		if err != nil {
			return is, golist.Inexact(err.Error())
		}
		is.Options += string(header)
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
		content, err := filestat.ReadFile(file)
		text = append(text, fmt.Sprint(err == nil), string(content))
	}
	return text, true
}

// identity returns the function that looks up identities of packages in a record.
func identity(last *record.Record) func(path string) (depcache.Identity, bool) {
	known := make(map[string]depcache.Identity, len(last.Identities))
	for _, is := range last.Identities {
		known[is.Path] = depcache.Identity(is.Sum)
	}
	return func(path string) (depcache.Identity, bool) {
		is, ok := known[path]
		return is, ok
	}
}

// keep stores the record, unless it is unchanged. The record must not change until [store.Store.Wait] returns.
func (h *History) keep(next *record.Record) {
	if len(h.bytes) == 0 { // two jobs of a plan must not change the list of arguments at once
		h.store.Put(recordKind, h.key, next.Encode())
		h.register()
		return
	}
	h.store.Later(func() {
		if content := next.Encode(); !bytes.Equal(content, h.bytes) {
			h.store.Put(recordKind, h.key, content)
		}
	})
}
