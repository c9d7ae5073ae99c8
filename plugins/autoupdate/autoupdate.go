// Package autoupdate scaffolds a GitHub Actions workflow that applies newer templates of operon to the project
// and opens a pull request.
package autoupdate

import (
	"context"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name in PROJECT. kubebuilder records the same key.
const Key = "autoupdate.kubebuilder.io/v1-alpha"

// Plugin is the autoupdate plugin. It accompanies a layout.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "a GitHub Actions workflow that updates the scaffold" }

// Options implements plugin.Plugin.
func (Plugin) Options() []plugin.Option { return nil }

// record is the configuration of the plugin in PROJECT. kubebuilder before v4.16 recorded useGHModels.
type record struct {
	UseGHModels bool `json:"useGHModels,omitempty"`
}

// Plan implements plugin.Plugin.
func (Plugin) Plan(_ context.Context, e plugin.Event, p *scaffold.Plan) error {
	if e.Type != plugin.Init && (e.Type != plugin.Edit || e.Before.Plugins[Key] != nil) {
		return nil
	}
	var r record
	if err := e.Project.DecodePluginConfig(Key, &r); err != nil {
		return err
	}
	if r.UseGHModels {
		p.Warn(scaffold.Warning{File: project.File, Rule: "gh-models", Message: "useGHModels has no effect, because GitHub ended GitHub Models: remove the key"})
	}
	e.Project.EncodePluginConfig(Key, r)
	return plan(p)
}

// plan plans the workflow. A workflow of another tool stays.
func plan(p *scaffold.Plan) error {
	data := struct{ Go bool }{p.Exists("go.mod")}
	return render.Tree(p.Templates(templates.FS), "autoupdate", nil, data, plugin.SeedOwn(p))
}
