package project

import (
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
)

// header stands at the top of a PROJECT file that operon makes.
const header = `# This file tells operon, and kubebuilder, what this project is called, which
# plugins shape it and which kinds it has. operon changes single lines of it:
# comments and keys that you add stay, also across upgrades.
`

// Encode returns src with the lines changed in which it differs from c: keys
// that Config does not know, comments, blank lines, quotes and the order of keys
// survive, and a file that says what c says is returned as it is. Without src a
// new file is made, with sorted keys as kubebuilder writes it.
func (c *Config) Encode(src []byte) ([]byte, error) {
	old := &Config{}
	if len(src) == 0 {
		src = []byte(header)
	} else {
		var err error
		if old, err = Parse(src); err != nil {
			return nil, err
		}
	}
	return yamledit.Reconcile(src, old.tree(), c.tree(), sameEntry)
}

// sameEntry tells whether two list items speak of one thing: a resource, a
// controller, or a plugin's note about a resource.
func sameEntry(a, b any) bool {
	x, ok := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok || !ok2 {
		return false
	}
	named := false
	for _, key := range []string{"group", "domain", "version", "kind", "name"} {
		if x[key] != y[key] {
			return false
		}
		named = named || x[key] != nil
	}
	return named
}

// fields is a mapping that leaves out what is empty.
type fields map[string]any

func (f fields) text(key, v string) fields {
	if v != "" {
		f[key] = v
	}
	return f
}

func (f fields) flag(key string, v bool) fields {
	if v {
		f[key] = v
	}
	return f
}

func (f fields) texts(key string, v []string) fields {
	if len(v) > 0 {
		f[key] = slices.Clone(v)
	}
	return f
}

// tree is c as plain data, in PROJECT's schema.
func (c *Config) tree() fields {
	f := fields{}.
		text("version", c.Version).
		text("domain", c.Domain).
		text("repo", c.Repo).
		text("projectName", c.ProjectName).
		text("cliVersion", c.CLIVersion).
		texts("layout", c.Layout).
		flag("multigroup", c.MultiGroup).
		flag("namespaced", c.Namespaced)
	var resources []any
	for _, r := range c.Resources {
		resources = append(resources, r.tree())
	}
	if len(resources) > 0 {
		f["resources"] = resources
	}
	if len(c.Plugins) > 0 {
		f["plugins"] = c.Plugins
	}
	return f
}

func (r Resource) tree() fields {
	f := fields{}.
		text("group", r.Group).
		text("domain", r.Domain).
		text("version", r.Version).
		text("kind", r.Kind).
		text("plural", r.Plural).
		text("path", r.Path).
		flag("controller", r.Controller).
		flag("external", r.External).
		flag("core", r.Core).
		text("module", r.Module).
		flag("clusterScoped", r.ClusterScoped)
	if r.API != nil {
		f["api"] = fields{}.text("crdVersion", r.API.CRDVersion).flag("namespaced", r.API.Namespaced)
	}
	var controllers []any
	for _, c := range r.Controllers {
		controllers = append(controllers, fields{}.text("name", c.Name))
	}
	if len(controllers) > 0 {
		f["controllers"] = controllers
	}
	if w := r.Webhooks; w != nil {
		f["webhooks"] = fields{}.
			text("webhookVersion", w.WebhookVersion).
			flag("defaulting", w.Defaulting).
			text("defaultingPath", w.DefaultingPath).
			flag("validation", w.Validation).
			text("validationPath", w.ValidationPath).
			flag("conversion", w.Conversion).
			texts("spoke", w.Spoke)
	}
	return f
}
