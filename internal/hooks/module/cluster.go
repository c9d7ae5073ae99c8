package module

import (
	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clusterOf describes a cluster that serves the kinds of a table, for charts.
func clusterOf(table *kubeapi.Kinds) chart.Cluster {
	return chart.Cluster{Version: "v" + kubeapi.Release + ".0", APIVersions: table.APIVersions()}
}

// unserved returns the reason why a cluster does not serve the kind of an object, or "". A
// kind of an unknown group counts as served, because its CRD may be installed separately.
func unserved(table *kubeapi.Kinds, o *unstructured.Unstructured) string {
	gvk := o.GroupVersionKind()
	if gvk.Kind == "" || gvk.Version == "" {
		return ""
	}
	_, err := table.FindObject(gvk)
	if err == nil || !table.HasGroup(gvk.Group) && gvk.Group != "extensions" {
		return ""
	}
	return err.Error()
}
