package bundlecmd

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/charts"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/rbac"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/olm/descriptors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// readCharts describes the kinds of a Helm project by what their charts render. The result is nil
// in other projects.
func readCharts(ctx context.Context, a *command.App, s command.Project) (map[schema.GroupVersionKind]*descriptors.Owned, error) {
	if !a.HasCharts(s.Config) {
		return nil, nil
	}
	list, _, err := charts.ReadWatches(s.Root)
	if err != nil {
		return nil, err
	}
	described := map[schema.GroupVersionKind]*descriptors.Owned{}
	for _, w := range list {
		o := rbac.OfWatch(w, s.Config, kubeapi.Builtin())
		rendered, err := renderedKinds(ctx, filepath.Join(s.Root, filepath.FromSlash(w.Chart)), o)
		if located, isChart := chart.InFolder(w.Chart, err); isChart {
			return nil, fault.Usage(cmp.Or(fault.HintOf(err), "correct the chart, then repeat the command"), "%v", located)
		}
		if err != nil {
			return nil, err
		}
		owned := &descriptors.Owned{Order: descriptors.Unordered}
		for _, k := range rendered {
			owned.Derived = append(owned.Derived, descriptors.NewResource(k.Kind, k.Version, ""))
		}
		described[o.Resource.GroupVersionKind] = owned
	}
	return described, nil
}

// renderedKinds returns the kinds of the objects in releases of the chart in a folder.
func renderedKinds(ctx context.Context, dir string, o rbac.Options) ([]schema.GroupVersionKind, error) {
	c, err := chart.Load(dir)
	if err != nil {
		return nil, err
	}
	report, err := rbac.Derive(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return report.Kinds, nil
}
