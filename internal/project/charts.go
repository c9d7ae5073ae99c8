package project

import (
	"cmp"
	"maps"

	"github.com/operon-dev/operon/internal/fault"
)

// chartsPlugin is the plugin of charts. Its configuration in PROJECT records where they come from.
const chartsPlugin = "helm.sdk.operatorframework.io/v1"

// ChartOrigin says where a Helm chart comes from.
type ChartOrigin struct {
	// Chart is a folder or an archive relative to the project, the URL of an archive,
	// oci://HOST/PATH/NAME, REPO/NAME or, with Repository, NAME. A relative path starts with a dot.
	Chart      string `json:"chart"`
	Repository string `json:"repository,omitempty"` // the URL of the repository, without credentials
	Version    string `json:"version,omitempty"`    // of the chart, as Chart.yaml has it
}

// ChartOrigins returns the origins of the charts in a project by their folders, such as
// helm-charts/galley. Starter charts have none.
func (c *Config) ChartOrigins() (map[string]ChartOrigin, error) {
	var recorded struct {
		Charts map[string]ChartOrigin `json:"charts"`
	}
	if err := c.DecodePluginConfig(chartsPlugin, &recorded); err != nil {
		return nil, err
	}
	for folder, o := range recorded.Charts {
		if o.Chart == "" {
			return nil, InPluginConfig(chartsPlugin, fault.Usage("write chart: SOURCE below it, or remove the entry", "charts: %s has no chart", folder))
		}
	}
	return recorded.Charts, nil
}

// What runs the charts of a project.
const (
	ImageRuntime  = "image"  // the image helm-operator of operator-sdk
	ModuleRuntime = "module" // a main of the project, in a Go module of its own
)

// ChartRuntime returns what runs the charts of the project: ImageRuntime, unless PROJECT has another text.
func (c *Config) ChartRuntime() (string, error) {
	var recorded struct {
		Runtime string `json:"runtime"`
	}
	err := c.DecodePluginConfig(chartsPlugin, &recorded)
	return cmp.Or(recorded.Runtime, ImageRuntime), err
}

// RecordChart records where the chart in a folder comes from.
func (c *Config) RecordChart(folder string, o ChartOrigin) error {
	charts, err := c.ChartOrigins()
	if err != nil {
		return err
	}
	charts = maps.Clone(charts)
	if charts == nil {
		charts = map[string]ChartOrigin{}
	}
	charts[folder] = o
	c.SetPluginKey(chartsPlugin, "charts", charts)
	return nil
}
