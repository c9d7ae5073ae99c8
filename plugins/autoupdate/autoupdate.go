// Package autoupdate scaffolds a GitHub Actions workflow that applies newer templates of operon to the project
// and opens a pull request.
package autoupdate

import (
	"context"
	"fmt"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name in PROJECT. kubebuilder records the same key.
const Key = "autoupdate.kubebuilder.io/v1-alpha"

const useModels = "use-gh-models"

// Plugin is the autoupdate plugin. It accompanies a layout.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "a GitHub Actions workflow that updates the scaffold" }

// Options implements plugin.Plugin.
func (Plugin) Options() []plugin.Option {
	return []plugin.Option{{Name: useModels, Default: false, Events: []plugin.EventType{plugin.Init, plugin.Edit},
		Usage: "let a GitHub model summarize the changes in the pull requests of the plugin autoupdate"}}
}

// record is the configuration of the plugin in PROJECT.
type record struct {
	UseGHModels bool `json:"useGHModels,omitempty"`
}

// Plan implements plugin.Plugin.
func (Plugin) Plan(_ context.Context, e plugin.Event, p *scaffold.Plan) error {
	_, given := e.Options[useModels]
	if e.Type != plugin.Init && (e.Type != plugin.Edit || e.Before.Plugins[Key] != nil && !given) {
		return nil
	}
	var r record
	if err := e.Project.DecodePluginConfig(Key, &r); err != nil {
		return err
	}
	if given && e.Type == plugin.Init && e.Replay && e.Bool(useModels) != r.UseGHModels {
		hint := fmt.Sprintf("use operon edit --%s=%t", useModels, e.Bool(useModels))
		return fault.Usage(hint, "already initialized with --%s=%t", useModels, r.UseGHModels)
	}
	if given {
		r.UseGHModels = e.Bool(useModels)
	}
	e.Project.EncodePluginConfig(Key, r)
	return plan(e.Project, r, p)
}

// plan plans the workflow. A workflow of another tool stays.
func plan(c *project.Config, r record, p *scaffold.Plan) error {
	data := struct {
		UseGHModels, Go bool
	}{r.UseGHModels, c.Repo != ""}
	return render.Tree(p.Templates(templates.FS), "autoupdate", nil, data, plugin.SeedOwn(p))
}
