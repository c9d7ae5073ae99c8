package module

import (
	"slices"

	"github.com/operon-dev/operon/internal/hooks/chart"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clusterOf returns the description for charts of a cluster that serves these kinds.
func clusterOf(table *kinds.Table) chart.Cluster {
	c := chart.Cluster{Version: "v" + kinds.Release + ".0"}
	for _, k := range table.All() {
		for _, v := range []string{k.APIVersion(), k.APIVersion() + "/" + k.Kind} {
			if !slices.Contains(c.APIVersions, v) {
				c.APIVersions = append(c.APIVersions, v)
			}
		}
	}
	slices.Sort(c.APIVersions)
	return c
}

// unserved returns why a cluster does not serve the kind of an object, or "". Kinds of
// groups that the table lacks may come from externalRef and count as served.
func unserved(table *kinds.Table, o *unstructured.Unstructured) string {
	gvk := o.GroupVersionKind()
	if gvk.Kind == "" || gvk.Version == "" {
		return ""
	}
	_, err := table.FindObject(gvk)
	known := table.HasGroup(gvk.Group)
	if err == nil || !known && gvk.Group != "extensions" {
		return ""
	}
	return err.Error()
}
