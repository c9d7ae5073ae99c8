// Package kustomize scaffolds the kustomize manifests in config/. It is independent of
// the programming language, so that every kind of operator can combine it with its own
// plugin.
package kustomize

import (
	"context"
	"io/fs"
	"path"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name in PROJECT.
const Key = "kustomize.common.kubebuilder.io/v2"

// Plugin is the kustomize plugin.
type Plugin struct {
	// KindsOnly limits the plugin to CRDs, samples and the users' roles. Another plugin
	// writes the rest of config/.
	KindsOnly bool
	// SamplesOnly limits the plugin to samples, for repositories without kustomizations.
	SamplesOnly bool
	// Charts is set if Helm charts define the kinds, whose plugin writes CRDs and samples.
	Charts bool
}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "kustomize manifests for installing an operator" }

// Options implements plugin.Plugin. There are none.
func (Plugin) Options() []plugin.Option { return nil }

// Plan implements plugin.Plugin.
func (k Plugin) Plan(_ context.Context, e plugin.Event, p *scaffold.Plan) error {
	if k.SamplesOnly {
		return k.sampleOnly(e, p)
	}
	if k.KindsOnly && e.Type != plugin.CreateAPI && e.Type != plugin.Generate {
		return nil
	}
	switch e.Type {
	case plugin.Init:
		if err := initProject(e.Project, p); err != nil {
			return err
		}
		return tree("kustomize/cainjection", nil, initData(e.Project), p, p.Seed)
	case plugin.CreateAPI:
		return k.createAPI(e, p)
	case plugin.CreateWebhook:
		return createWebhook(e.Project, *e.Resource, p)
	case plugin.Generate:
		if e.Explain != nil {
			return nil
		}
		checkLists(e, p)
		if k.KindsOnly && !k.Charts {
			return k.followCRDs(e.Project, p)
		}
	case plugin.Edit:
		return editProject(e, p)
	}
	return nil
}

// tree renders a template tree into p. Kustomizations and their configuration are shared,
// because several tools and the user edit them. The manager's role is a placeholder until it
// is generated. The user owns all other files, which go to seed.
func tree(dir string, vars map[string]string, data any, p *scaffold.Plan, seed render.Sink) error {
	return treeWithout("", dir, vars, data, p, seed)
}

// treeWithout is tree without the files of one folder. Without a folder, it is tree.
func treeWithout(folder, dir string, vars map[string]string, data any, p *scaffold.Plan, seed render.Sink) error {
	return render.Tree(p.Templates(templates.FS), dir, vars, data, func(name string, mode fs.FileMode, content []byte) error {
		switch {
		case path.Dir(name) == folder, name == crdConfig && isUnlisted(crdConfig, crdEntries, p):
			return nil
		case name == managerRole && p.Exists(name):
			return nil
		case name == managerRole, path.Base(name) == kustomization, name == crdConfig:
			return p.Share(name, mode, content)
		}
		return seed(name, mode, content)
	})
}
