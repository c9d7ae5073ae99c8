package shell

import (
	"io/fs"
	"path"
	"reflect"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/render"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/templates"
)

// extensions are those of hooks, by language.
var extensions = map[string]string{Bash: ".sh", Python: ".py"}

// File is the path of the hook in the project.
func (h Hook) File() string { return "hooks/" + h.Name + extensions[h.Lang] }

// TestFile is the path of its tests.
func (h Hook) TestFile() string { return "test/hooks/" + h.Name + ".yaml" }

// createHook plans the hook that the options describe, and records it.
func createHook(e plugin.Event, p *scaffold.Plan) error {
	r, err := recorded(e.Project)
	if err != nil {
		return err
	}
	table, err := knownKinds(p)
	if err != nil {
		return err
	}
	h, err := asked(e, r.Lang, table)
	if err != nil {
		return err
	}
	switch old, known := r.find(h.Name); {
	case known && !reflect.DeepEqual(old, h):
		return fault.Usage("edit "+old.File()+", or choose another name", "the hook %s exists with other bindings", h.Name)
	case !known:
		if err := r.clashes(h); err != nil {
			return err
		}
		r.Hooks = append(r.Hooks, h)
		r.save(e.Project)
	}
	return planHook(e.Project, r, h, p)
}

// clashes refuses what only one hook can have.
func (r record) clashes(h Hook) error {
	for _, o := range r.Hooks {
		for _, a := range o.Convert {
			for _, b := range h.Convert {
				for _, s := range b.Steps {
					if a.CRD == b.CRD && slices.Contains(a.Steps, s) {
						return fault.Usage("leave it out", "--convert %s:%s: the hook %s converts %s already", s.From, s.To, o.Name, a.CRD)
					}
				}
			}
		}
	}
	return nil
}

// hookValues is what the templates of hooks print.
type hookValues struct {
	Config   string
	Handlers []handler
}

// planHook plans a hook that r records, with its tests and all that it needs.
func planHook(c *project.Config, r record, h Hook, p *scaffold.Plan) error {
	config, err := h.config()
	if err != nil {
		return err
	}
	if err := library(h.Lang, p); err != nil {
		return err
	}
	if err := h.plan(config, p); err != nil {
		return err
	}
	if h.Lang != r.Lang { // the image needs another interpreter
		dockerfile := func(name string) bool { return name == "Dockerfile" }
		if err := render.Tree(templates.FS, "shell/init", nil, data(c, r), only(p, dockerfile)); err != nil {
			return err
		}
	}
	if len(h.Validate)+len(h.Mutate)+len(h.Convert) == 0 {
		return nil
	}
	return wireWebhooks(c, r, p)
}

// plan plans the files of the hook itself: the script and its tests.
func (h Hook) plan(config string, p *scaffold.Plan) error {
	known, seed := schemas{}, render.Sink(p.Seed)
	if len(h.Convert) > 0 {
		var err error
		if known, err = knownSchemas(p); err != nil {
			return err
		}
		if !p.HasBase(h.File()) {
			h.warnOfLoss(known, p)
		}
		seed = seedOnce(p)
	}
	vars := map[string]string{"hook": h.Name}
	if err := render.Tree(templates.FS, "shell/hook/"+h.Lang, vars, hookValues{config, h.handlers(known)}, seed); err != nil {
		return err
	}
	tests, err := h.tests(path.Base(h.File()), known)
	if err != nil {
		return err
	}
	return seed(h.TestFile(), 0o644, tests)
}

// only is a sink for some files of a tree.
func only(p *scaffold.Plan, wanted func(string) bool) render.Sink {
	seed := p.Seed
	return func(name string, mode fs.FileMode, content []byte) error {
		if !wanted(name) {
			return nil
		}
		return seed(name, mode, content)
	}
}
