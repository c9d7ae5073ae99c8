package kustomize

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestInit(t *testing.T) {
	t.Parallel()
	for _, namespaced := range []bool{false, true} {
		c := config()
		c.Namespaced = namespaced
		all := files(t, scaffolded(t, c))
		checkTree(t, all)
		want := roleKind(namespaced)
		if got := at(object(t, all, managerRole), "kind"); got != want {
			t.Errorf("namespaced %t: the manager's role is a %v", namespaced, got)
		}
		if got := at(object(t, all, "config/rbac/role_binding.yaml"), "roleRef", "kind"); got != want {
			t.Errorf("namespaced %t: the manager is bound to a %v", namespaced, got)
		}
		if got := at(object(t, all, "config/rbac/metrics_auth_role.yaml"), "kind"); got != "ClusterRole" {
			t.Errorf("the metrics auth role is a %v, but reviews are cluster-scoped", got)
		}
		if got := strings.Contains(all["config/manager/manager.yaml"], "WATCH_NAMESPACE"); got != namespaced {
			t.Errorf("namespaced %t: WATCH_NAMESPACE is set: %t", namespaced, got)
		}
	}
}

func TestManagerIsRestricted(t *testing.T) {
	t.Parallel()
	all := files(t, scaffolded(t, config()))
	docs := documents(t, "manager", all["config/manager/manager.yaml"])
	pod := at(docs[1], "spec", "template", "spec")
	container := at(pod, "containers").([]any)[0]
	want := map[string]any{
		"allowPrivilegeEscalation": false,
		"readOnlyRootFilesystem":   true,
		"capabilities":             map[string]any{"drop": []any{"ALL"}},
	}
	if diff := cmp.Diff(want, at(container, "securityContext")); diff != "" {
		t.Error(diff)
	}
	wantPod := map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}}
	if diff := cmp.Diff(wantPod, at(pod, "securityContext")); diff != "" {
		t.Error(diff)
	}
	if args := at(container, "args").([]any); !slices.Contains(args, any("--leader-elect")) {
		t.Errorf("no --leader-elect in %v", args)
	}
	if at(container, "resources", "limits") == nil || at(container, "resources", "requests") == nil {
		t.Error("no resources")
	}
}

// TestGoMemoryLimit checks that GOMEMLIMIT, as a kubelet computes it, leaves some room below the
// limit of the container.
func TestGoMemoryLimit(t *testing.T) {
	t.Parallel()
	docs := documents(t, "manager", files(t, scaffolded(t, config()))[managerFile])
	container := at(docs[1], "spec", "template", "spec", "containers").([]any)[0]
	limit := resource.MustParse(at(container, "resources", "limits", "memory").(string))
	env := at(container, "env").([]any)
	source := at(env[0], "valueFrom", "resourceFieldRef")
	divisor := resource.MustParse(at(source, "divisor").(string))
	if at(source, "resource") != "limits.memory" || at(env[1], "name") != "GOMEMLIMIT" {
		t.Fatalf("the environment is %v", env)
	}
	value := strings.ReplaceAll(at(env[1], "value").(string), "$("+at(env[0], "name").(string)+")", fmt.Sprint(limit.Value()/divisor.Value()))
	bytes, err := strconv.ParseFloat(value, 64)
	if share := bytes / float64(limit.Value()); err != nil || share < 0.9 || share > 0.96 {
		t.Errorf("GOMEMLIMIT is %s: %v", value, err)
	}
}

// TestMetricsPortsAgree checks that the network policy has the port that the patch of the
// arguments sets.
func TestMetricsPortsAgree(t *testing.T) {
	t.Parallel()
	all := files(t, scaffolded(t, config()))
	if !strings.Contains(all["config/default/manager_metrics_patch.yaml"], "--metrics-bind-address=:8443") {
		t.Fatal("the manager does not listen on 8443")
	}
	ingress := at(object(t, all, "config/network-policy/allow-metrics-traffic.yaml"), "spec", "ingress").([]any)
	if got := at(at(ingress[0], "ports").([]any)[0], "port"); got != 8443 {
		t.Errorf("the policy opens port %v", got)
	}
	ports := at(object(t, all, "config/default/metrics_service.yaml"), "spec", "ports").([]any)
	if got := at(ports[0], "targetPort"); got != 8443 {
		t.Errorf("the service has the target port %v", got)
	}
}
