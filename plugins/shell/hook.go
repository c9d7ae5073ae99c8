package shell

import (
	"reflect"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	"github.com/operon-dev/operon/templates"
)

// createHook plans and records the hook that the options describe.
func createHook(e plugin.Event, p *scaffold.Plan) error {
	r, err := recorded(e.Project)
	if err != nil {
		return err
	}
	table, err := hookscaffold.Kinds(p, hookscaffold.IsYAML, crdBases)
	if err != nil {
		return err
	}
	h, err := hookscaffold.ParseOptions(e, hookscaffold.OptionContext{Owner: config.Shell, Lang: r.Lang, Kinds: table, CRDs: crdBases})
	if err != nil {
		return err
	}
	old, known := r.find(h.Name)
	if known && reflect.DeepEqual(old, h) {
		return planHook(e.Project, r, h, p)
	}
	if known {
		if err := hookscaffold.CheckReplace(h.Name, old.Path(place(old)), h.Path(place(h)), p); err != nil {
			return err
		}
		r.Hooks = slices.DeleteFunc(r.Hooks, func(o hookscaffold.Hook) bool { return o.Name == h.Name })
	}
	if err := r.checkConversions(h); err != nil {
		return err
	}
	r.Hooks = append(r.Hooks, h)
	e.Project.EncodePluginConfig(Key, r)
	h.Add(place(h), p)
	return planHook(e.Project, r, h, p)
}

// checkConversions rejects a conversion that another hook already has.
func (r record) checkConversions(h hookscaffold.Hook) error {
	for _, o := range r.Hooks {
		for _, a := range o.Convert {
			for _, b := range h.Convert {
				for _, s := range b.Steps {
					if a.CRD == b.CRD && slices.Contains(a.Steps, s) {
						return fault.Usage("omit it", "--convert %s:%s: the hook %s converts %s already", s.From, s.To, o.Name, a.CRD)
					}
				}
			}
		}
	}
	return nil
}

// planE2E plans an end-to-end test of the hook, if the project has such tests and a new object
// triggers the hook.
func planE2E(h hookscaffold.Hook, p *scaffold.Plan) error {
	sample, ok := h.Sample(place(h))
	if !ok || !p.Exists(e2eScript) {
		return nil
	}
	data := struct {
		Hook string
		hookscaffold.Sample
	}{h.Name, sample}
	return render.Tree(p.Templates(templates.FS), "shell/e2e", map[string]string{"hook": h.Name}, data, p.Seed)
}

// e2eScript runs the end-to-end tests of all hooks.
const e2eScript = "test/e2e/run.sh"

// planHook plans a recorded hook with its tests and its dependencies.
func planHook(c *project.Config, r record, h hookscaffold.Hook, p *scaffold.Plan) error {
	if err := h.Plan(place(h), p); err != nil {
		return err
	}
	if err := planE2E(h, p); err != nil {
		return err
	}
	if h.Lang != r.Lang { // the image needs another interpreter
		if err := render.Tree(p.Templates(templates.FS), "shell/init", nil, initData(c, r), render.Only(p.Seed, "Dockerfile")); err != nil {
			return err
		}
	}
	if len(h.Validate)+len(h.Mutate)+len(h.Convert) == 0 {
		return nil
	}
	return wireWebhooks(c, r, p)
}
