package adopt

import (
	"slices"

	"github.com/operon-dev/operon/internal/project"
)

// webhook is what the repository serves for a version of a kind.
type webhook struct {
	target
	hooks project.Webhooks
	dir   string // of the code that sets them up, or ""
	at    place
}

// webhooks returns the webhooks of the repository in the order of the files.
func (r *repository) webhooks() (all []webhook, missed []unknown) {
	find := func(t target) int { return slices.IndexFunc(all, func(w webhook) bool { return w.same(t) }) }
	for _, f := range r.src.files {
		for _, b := range f.builders {
			t, ok := r.target(f, b.object)
			switch {
			case !b.webhook:
			case !ok && b.object != ref{}:
				missed = append(missed, unknown{"webhooks for " + b.object.name + ", whose API group is not known", f.at(b.line)})
			case ok:
				w := webhook{target: t, hooks: project.Webhooks{Defaulting: b.defaulter, Validation: b.validator}, dir: f.dir(), at: f.at(b.line)}
				if t.own != nil && !b.defaulter && !b.validator { // before controller-runtime v0.20, the kinds had the methods
					w.hooks.Defaulting = slices.Contains(t.own.methods, "Default")
					w.hooks.Validation = slices.Contains(t.own.methods, "ValidateCreate")
				}
				if i := find(t); i >= 0 {
					all[i].hooks.Defaulting = all[i].hooks.Defaulting || w.hooks.Defaulting
					all[i].hooks.Validation = all[i].hooks.Validation || w.hooks.Validation
					continue
				}
				all = append(all, w)
			}
		}
	}
	for _, f := range r.src.files {
		for _, m := range f.webhookMarks {
			for _, k := range r.kinds {
				if !slices.Contains(m.Groups, k.group) || !slices.Contains(m.Versions, k.version) ||
					!slices.Contains(m.Resources, k.resource().PluralName()) {
					continue
				}
				i := find(target{own: k})
				if i < 0 {
					i = len(all)
					all = append(all, webhook{target: target{own: k}, at: f.at(m.line)})
				}
				all[i].declare(m, k)
			}
		}
	}
	all = slices.DeleteFunc(all, func(w webhook) bool { return !w.hooks.Defaulting && !w.hooks.Validation })
	return append(all, r.conversions()...), missed
}

// declare adds what a marker says.
func (w *webhook) declare(m webhookMarker, k *kind) {
	r := k.resource()
	if m.Mutating {
		w.hooks.Defaulting = true
		if m.Path != r.DefaultingPath() && project.CheckWebhookPath("path", m.Path) == nil {
			w.hooks.DefaultingPath = m.Path
		}
		return
	}
	w.hooks.Validation = true
	if m.Path != r.ValidationPath() && project.CheckWebhookPath("path", m.Path) == nil {
		w.hooks.ValidationPath = m.Path
	}
}

// conversions returns the hubs with their spokes.
func (r *repository) conversions() []webhook {
	var all []webhook
	for _, hub := range r.kinds {
		if !hub.hub || !hub.served {
			continue
		}
		w := webhook{target: target{own: hub}, hooks: project.Webhooks{Conversion: true}, at: hub.at}
		for _, k := range r.kinds {
			sameKind := k.group == hub.group && k.name == hub.name
			if sameKind && k.spoke && k.served && k.version != hub.version && !slices.Contains(w.hooks.Spoke, k.version) {
				w.hooks.Spoke = append(w.hooks.Spoke, k.version)
			}
		}
		if w.hooks.Spoke != nil {
			all = append(all, w)
		}
	}
	return all
}

// recordWebhooks adds the webhooks of the repository to those in PROJECT.
func (r *recorder) recordWebhooks(all []webhook) {
	for _, w := range all {
		res := r.resource(w.target)
		if res == nil {
			continue
		}
		hooks := project.Webhooks{WebhookVersion: "v1"}
		if res.Webhooks != nil {
			hooks = *res.Webhooks
		}
		hooks.Defaulting = hooks.Defaulting || w.hooks.Defaulting
		hooks.Validation = hooks.Validation || w.hooks.Validation
		hooks.Conversion = hooks.Conversion || w.hooks.Conversion
		if w.hooks.DefaultingPath != "" {
			hooks.DefaultingPath = w.hooks.DefaultingPath
		}
		if w.hooks.ValidationPath != "" {
			hooks.ValidationPath = w.hooks.ValidationPath
		}
		for _, v := range w.hooks.Spoke {
			if !slices.Contains(hooks.Spoke, v) {
				hooks.Spoke = append(slices.Clone(hooks.Spoke), v)
			}
		}
		res.Webhooks = &hooks
		types := project.Resource{Webhooks: &w.hooks}.WebhookTypes()
		value := w.String() + ": " + join(types)
		if w.hooks.Conversion {
			value += " from " + join(w.hooks.Spoke)
		}
		r.found("webhooks", value, w.at, Certain, "")
	}
}
