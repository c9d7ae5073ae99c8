// Package kustomize scaffolds the manifests below config/: what is installed
// into a cluster, as kustomize trees. It knows no programming language, so that
// every kind of operator can use it beside its own plugin.
package kustomize

import (
	"context"
	"io/fs"
	"path"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/render"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name, as PROJECT's layout holds it.
const Key = "kustomize.common.kubebuilder.io/v2"

// Plugin is the kustomize plugin.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "kustomize manifests for installing an operator" }

// Options implements plugin.Plugin. There are none.
func (Plugin) Options() []plugin.Option { return nil }

// Plan implements plugin.Plugin.
func (Plugin) Plan(_ context.Context, e plugin.Event, p *scaffold.Plan) error {
	switch e.Kind {
	case plugin.Init:
		return tree("kustomize/init", nil, initData(e.Project), p)
	case plugin.CreateAPI:
		return createAPI(e.Project, *e.Resource, p)
	}
	return nil
}

// tree renders a template tree into p. A kustomization and its configuration
// are shared, because several tools and the user add to them. The manager's
// role is only a stand-in until it is generated. All else is the user's once it
// is written.
func tree(dir string, vars map[string]string, data any, p *scaffold.Plan) error {
	return render.Tree(templates.FS, dir, vars, data, func(name string, mode fs.FileMode, content []byte) error {
		switch {
		case name == managerRole && p.Exists(name):
			return nil
		case name == managerRole, path.Base(name) == kustomization, name == crdConfig:
			return p.Share(name, mode, content)
		}
		return p.Seed(name, mode, content)
	})
}
