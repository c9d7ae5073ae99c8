package rbac

import (
	"slices"

	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/project"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// OfWatch returns the options for the chart of an entry in watches.yaml. PROJECT says whether the
// operator is limited to its namespace and what runs the charts, and has the plurals of kinds.
func OfWatch(w watches.Watch, c *project.Config, known *kubeapi.Kinds) Options {
	plural := (project.Resource{Kind: w.Kind}).PluralName()
	if i := slices.IndexFunc(c.Resources, func(r project.Resource) bool {
		return r.QualifiedGroup() == w.Group && r.Version == w.Version && r.Kind == w.Kind
	}); i >= 0 {
		plural = c.Resources[i].PluralName()
	}
	runtime, _ := c.ChartRuntime() // the plugin of charts reports the error
	return Options{
		Folder:     w.Chart,
		Resource:   Resource{schema.GroupVersionKind{Group: w.Group, Version: w.Version, Kind: w.Kind}, plural},
		Kinds:      known,
		Overrides:  w.Overrides(runtime == project.ImageRuntime),
		Namespaced: c.Namespaced,
		Unwatched:  w.WatchDependentResources != nil && !*w.WatchDependentResources,
		LooksUp:    w.DryRunOption == "server",
	}
}
