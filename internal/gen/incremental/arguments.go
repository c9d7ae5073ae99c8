package incremental

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// generator is a generator of a recorded run.
type generator struct {
	Name    string
	Options string // with everything that it reads besides packages
	Config  string // the folder of its configuration
	Code    string // the folder of its code; "" is that of the package, or it writes none
}

// arguments are the generators of a recorded run. A project has a record for each set of
// arguments that was used.
type arguments struct {
	Generators []generator
	Record     store.Key
}

// argumentsKind is the kind of the entries in the store, and maxArguments the number of sets that
// an entry lists.
const (
	argumentsKind = "arguments"
	maxArguments  = 8
)

// folders returns the folders in which a generator writes configuration and code. ok is false if it
// does not write files.
func folders(g request.Generator) (config, code string, ok bool) {
	switch rule := g.Rule.(type) {
	case genall.OutputArtifacts:
		config, code = string(rule.Config), string(rule.Code)
	case genall.OutputToDirectory:
		config, code = string(rule), cmp.Or(string(rule), ".") // "" is the root
	default:
		return "", "", false
	}
	if _, writes := g.Gen.(deepcopy.Generator); !writes {
		code = ""
	}
	return config, code, true
}

// recorded returns the sets of arguments with a record, the last new one first.
func (h *History) recorded() []arguments {
	var all []arguments
	if text, ok := h.store.Get(argumentsKind, h.place); !ok || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// register adds the arguments of the job to those with a record.
func (h *History) register() {
	all := slices.DeleteFunc(h.recorded(), func(a arguments) bool { return a.Record == h.key })
	all = slices.Insert(all, 0, arguments{h.generators, h.key})
	if text, err := json.Marshal(all[:min(len(all), maxArguments)]); err == nil {
		h.store.Put(argumentsKind, h.place, text)
	}
}

// parts returns the records of runs with other arguments that made everything that the job makes,
// reduced to that. Their outputs may be in other folders.
func (h *History) parts(src *overlay.Project) []*record.Record {
	h.store.Wait() // for the record of an earlier job of the same plan
	var parts []*record.Record
	for _, a := range h.recorded() {
		if a.Record == h.key || !covers(a.Generators, h.generators) {
			continue
		}
		content, ok := h.store.Get(recordKind, a.Record)
		if !ok {
			continue
		}
		if r := record.Decode(content); r != nil {
			parts = append(parts, r.Part(func(o record.Output) (record.Output, bool) { return h.made(o, a.Generators, src) }))
		}
	}
	return parts
}

// covers reports whether a run of some generators makes everything that others make. Code must be
// in the same folder.
func covers(recorded, needed []generator) bool {
	return !slices.ContainsFunc(needed, func(g generator) bool {
		return !slices.ContainsFunc(recorded, func(r generator) bool { return r.Name == g.Name && r.Options == g.Options && r.Code == g.Code })
	})
}

// made returns an output of another run as the job makes it. ok is false if it does not.
func (h *History) made(o record.Output, recorded []generator, src *overlay.Project) (as record.Output, ok bool) {
	named := func(g generator) bool { return g.Name == o.Generator }
	now, was := slices.IndexFunc(h.generators, named), slices.IndexFunc(recorded, named)
	if now < 0 || was < 0 {
		return o, false
	}
	if from, to := recorded[was].Config, h.generators[now].Config; from != to && !isCode(o) {
		name, err := filepath.Rel(overlay.Join(src.Dir, from), overlay.Join(src.Dir, o.Path))
		if err != nil {
			return o, false
		}
		path, inside := overlay.Rel(src.Dir, filepath.Join(overlay.Join(src.Dir, to), name))
		if !inside {
			return o, false
		}
		o.From, o.Path = o.Path, path
	}
	return o, true
}

// isCode reports whether an output is part of a package.
func isCode(o record.Output) bool { return filepath.Ext(o.Path) == ".go" }
