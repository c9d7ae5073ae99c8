// Package grafana scaffolds dashboards for Grafana: of the metrics that controller-runtime and the manager's
// process export, and of the custom metrics that a file lists.
package grafana

import (
	"context"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name in PROJECT. kubebuilder records the same key.
const Key = "grafana.kubebuilder.io/v1-alpha"

// Plugin is the grafana plugin. It accompanies a layout.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "dashboards for Grafana" }

// Options implements plugin.Plugin. There are none.
func (Plugin) Options() []plugin.Option { return nil }

// Plan implements plugin.Plugin. The dashboard of custom metrics follows its list with every command that
// generates.
func (Plugin) Plan(_ context.Context, e plugin.Event, p *scaffold.Plan) error {
	switch e.Type {
	case plugin.Init:
	case plugin.Edit:
		if e.Before.Plugins[Key] != nil {
			if err := offerCustom(p); err != nil {
				return err
			}
			return planCustom(e.Project.ProjectName, p)
		}
	case plugin.Generate:
		if e.Explain != nil {
			return nil
		}
		return planCustom(e.Project.ProjectName, p)
	default:
		return nil
	}
	if err := checkLayout(e.Project.Layout); err != nil {
		return err
	}
	if err := planDashboards(e.Project.ProjectName, p); err != nil {
		return err
	}
	return planCustom(e.Project.ProjectName, p)
}

// checkLayout returns an error for a layout whose operator is not a manager of controller-runtime.
func checkLayout(layout []string) error {
	for _, key := range layout {
		if strings.HasPrefix(key, "shell.") || strings.HasPrefix(key, "addon.") {
			return fault.Usage("the metrics of the engine are in its documentation", "the plugin grafana is for operators in Go and of charts, and the layout is %s", key)
		}
	}
	return nil
}

// planDashboards plans the dashboards that only depend on the name of the project, and the list of custom
// metrics. Files of another tool stay.
func planDashboards(project string, p *scaffold.Plan) error {
	own := plugin.SeedOwn(p)
	for name, d := range map[string]dashboard{"controller-runtime": controllerRuntime(project), "controller-resources": process(project)} {
		content, err := d.encode()
		if err != nil {
			return err
		}
		if err := own("grafana/"+name+"-metrics.json", 0o644, content); err != nil {
			return err
		}
	}
	if p.Exists(customConfig) {
		return nil // it has the metrics of the code at the time when it was created
	}
	metrics, err := registered(p)
	if err != nil {
		return err
	}
	return render.Tree(p.Templates(templates.FS), "grafana", nil, struct {
		Types   string
		Metrics []metric
	}{strings.Join(metricTypes, ", "), metrics}, own)
}
