package command

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// The flags for the chart of a kind, which the plugin for charts declares.
const (
	helmChart        = "helm-chart"
	helmChartRepo    = "helm-chart-repo"
	helmChartVersion = "helm-chart-version"
)

// ChartFlags are the names of the flags for the chart of a kind.
var ChartFlags = []string{helmChart, helmChartRepo, helmChartVersion}

// FetchChart fetches the chart that the flags of cmd name. Without one, it returns the starter chart
// of the plugin.
func (a *App) FetchChart(ctx context.Context, cmd *cobra.Command) (*plugin.Chart, error) {
	text := func(flag string) string { return cmd.Flags().Lookup(flag).Value.String() }
	s := chart.Source{Chart: text(helmChart), Repository: text(helmChartRepo), Version: text(helmChartVersion)}
	_, missing := os.Stat(s.Chart)
	fixed := s.Repository == "" && !strings.HasPrefix(s.Chart, "oci://") && (missing == nil || strings.Contains(s.Chart, "://"))
	switch {
	case s.Chart == "" && s.Repository != "":
		return nil, fault.Usage("add --"+helmChart, "--%s needs the name of a chart", helmChartRepo)
	case s.Chart == "" && s.Version != "":
		return nil, fault.Usage("add --"+helmChart, "--%s needs the name of a chart", helmChartVersion)
	case s.Chart == "":
		return &plugin.Chart{}, nil
	case s.Version != "" && fixed:
		return nil, fault.Usage("remove the flag", "--%s applies to charts of repositories and registries, and %s is a single chart", helmChartVersion, s.Chart)
	}
	fetched, err := chart.Fetcher{Getenv: a.Getenv}.Fetch(ctx, s)
	if err != nil {
		return nil, err
	}
	return &plugin.Chart{Name: fetched.Chart.Name(), Files: fetched.Files}, nil
}

// CompleteFromChart sets the group, version and kind that the user did not name, if the kind has a
// chart. The names are those that operator-sdk takes.
func CompleteFromChart(r *project.Resource, c *plugin.Chart) {
	if c.Name == "" {
		return
	}
	r.Group, r.Version, r.Kind = cmp.Or(r.Group, "charts"), cmp.Or(r.Version, "v1alpha1"), cmp.Or(r.Kind, project.KindName(c.Name))
}
