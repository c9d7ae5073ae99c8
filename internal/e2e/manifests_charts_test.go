//go:build testall

package e2e

import (
	"path/filepath"
	"testing"
)

const helmLayout = "helm.sdk.operatorframework.io/v1"

// chartPermissions are the permissions that the engine needs in all namespaces for the charts of a
// golden project: to install, compare, upgrade and remove their objects.
var chartPermissions = map[string]permissions{
	"shops": installing(
		"/configmaps", "/serviceaccounts", "/services", "apps/deployments", "apps/statefulsets", "autoscaling/horizontalpodautoscalers", "batch/cronjobs",
		"monitoring.coreos.com/servicemonitors", "networking.k8s.io/ingresses", "networking.k8s.io/networkpolicies", "policy/poddisruptionbudgets",
		"rbac.authorization.k8s.io/rolebindings", "rbac.authorization.k8s.io/roles",
		"/secrets", // also the releases
	).
		and(watching("/persistentvolumeclaims", "/pods", "batch/jobs", "shop.example.com/coupons", "stores.example.org/kiosks", "stores.example.org/shops")).
		and(permissions{
			"create /persistentvolumeclaims": true, "get /persistentvolumeclaims": true, "update /persistentvolumeclaims": true, "patch /persistentvolumeclaims": true, // kept
			"create /pods": true, "get /pods": true, "delete /pods": true, "create batch/jobs": true, "get batch/jobs": true, "delete batch/jobs": true, // hooks
			"create apiextensions.k8s.io/customresourcedefinitions": true, "get apiextensions.k8s.io/customresourcedefinitions": true,
			"get shop.example.com/coupons": true, // a role of the chart grants it
		}).
		and(reconciling("stores.example.org/kiosks")).and(reconciling("stores.example.org/shops")),
}

// installing returns the permissions for objects that a release has.
func installing(resources ...string) permissions {
	may := watching(resources...)
	for _, resource := range resources {
		for _, verb := range []string{"create", "get", "update", "patch", "delete"} {
			may[verb+" "+resource] = true
		}
	}
	return may
}

// reconciling returns the permissions for a kind of custom resources, other than to watch it.
func reconciling(resource string) permissions {
	return permissions{"get " + resource: true, "update " + resource: true, "update " + resource + "/status": true, "update " + resource + "/finalizers": true}
}

// testChartPermissions checks that the ServiceAccount of the engine has exactly the permissions that the
// charts need, and those in config/rbac for leader election and metrics.
func testChartPermissions(t *testing.T, c *controlPlane, dir, namespace, account string) {
	anywhere, known := chartPermissions[filepath.Base(dir)]
	if !known {
		t.Fatalf("chartPermissions has no entry for %s", dir)
	}
	anywhere = anywhere.and(permissions{
		"create authentication.k8s.io/tokenreviews": true, "create authorization.k8s.io/subjectaccessreviews": true,
		"create /events": true, "patch /events": true,
	})
	here := permissions{}
	here.add([]string{"coordination.k8s.io"}, []string{"leases"}, []string{"create", "get", "update"})
	here.add([]string{"", "events.k8s.io"}, []string{"events"}, []string{"create", "patch"})
	engine, nobody := serviceAccount(t, c, namespace, account), serviceAccount(t, c, "system", "nobody")
	wantRules(t, engine, nobody, namespace, here.and(anywhere))
	wantRules(t, engine, nobody, "default", anywhere)
}
