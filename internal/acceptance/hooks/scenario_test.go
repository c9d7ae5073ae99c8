//go:build testall

package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/manifesttest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/scenariotest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"go.yaml.in/yaml/v3"
)

// hookScenarios are the scenarios whose last command runs hook tests. The values,
// by dotted path, are those that the user has changed in the Deployment of the manager.
var hookScenarios = map[string]map[string]string{
	"secret-copier":        {},
	"secret-copier-python": {},
	"configmap-reloader":   {},
	"mysql-database": {
		managerPod + "containers.0.env.3.name":                          "MYSQL_HOST",
		managerPod + "containers.0.env.4.valueFrom.secretKeyRef.name":   "mysql-credentials", // without prefix: it does not belong to the project
		managerPod + "containers.0.env.4.valueFrom.secretKeyRef.key":    "user",
		managerPod + "containers.0.env.5.name":                          "MYSQL_PWD",
		managerPod + "containers.0.env.5.valueFrom.secretKeyRef.key":    "password",
		managerPod + "containers.0.securityContext.capabilities.drop.0": "ALL",
	},
	"node-ping": {
		managerPod + "securityContext.sysctls.0.name":                        "net.ipv4.ping_group_range",
		managerPod + "securityContext.sysctls.0.value":                       "0 2147483647",
		managerPod + "securityContext.runAsNonRoot":                          "true",
		managerPod + "containers.0.securityContext.readOnlyRootFilesystem":   "true",
		managerPod + "containers.0.securityContext.capabilities.drop.0":      "ALL",
		managerPod + "containers.0.securityContext.allowPrivilegeEscalation": "false",
	},
}

const managerPod = "spec.template.spec."

// TestHookScenarios follows the scenarios with hooks. The hooks have the configuration that
// the commands request, and exactly the permissions in role.yaml of the scenario. They share an
// API server.
func TestHookScenarios(t *testing.T) {
	t.Parallel()
	operontest.ControlPlane(t)
	kubeconfig := servertest.Start(t).Kubeconfig("") // not the one of the hook tests, which would see the namespace
	for name, manager := range hookScenarios {
		t.Run(name, func(t *testing.T) { // not in parallel: they would see objects of each other
			dir := filepath.Join(t.TempDir(), name)
			start := time.Now()
			out := scenariotest.Follow(t, dir, name)
			t.Logf("%s: %v", name, time.Since(start))
			if !strings.Contains(out, "ok    test/hooks/") {
				t.Errorf("no test was run:\n%s", out)
			}
			for _, check := range []string{"hooks rbac --check", "manifests --check"} {
				operontest.Run(t, dir, strings.Fields(check)...)
			}
			role, want := treetest.ReadFile(t, filepath.Join(dir, "config/rbac/role.yaml")), scenariotest.Path(name, "role.yaml")
			if *operontest.Update {
				if err := os.WriteFile(want, []byte(role), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(treetest.ReadFile(t, want), role); diff != "" {
				t.Errorf("config/rbac/role.yaml differs from the file of the scenario (-want +got):\n%s", diff)
			}
			pod := checkManager(t, dir, manager)
			if name != "secret-copier-python" { // it has the tests of secret-copier
				checkUpdate(t, dir)
			}
			checkAdmitted(t, kubeconfig, pod)
		})
	}
}

// checkManager builds what make deploy installs, checks values in the Deployment of the
// manager, and returns its pod template.
func checkManager(t *testing.T, dir string, values map[string]string) map[string]any {
	t.Helper()
	for _, object := range manifesttest.Kustomize(t, filepath.Join(dir, "config/default")).Resources() {
		if object.GetKind() != "Deployment" {
			continue
		}
		deployment, err := object.Map()
		if err != nil {
			t.Fatal(err)
		}
		for path, value := range values {
			if got, _ := manifesttest.Lookup(deployment, path); got != value {
				t.Errorf("the manager's %s is %q, want %q", path, got, value)
			}
		}
		return deployment["spec"].(map[string]any)["template"].(map[string]any)
	}
	t.Fatal("kustomize builds no Deployment")
	return nil
}

// checkAdmitted checks that an API server admits the pod of a manager in a namespace with
// the restricted pod security standard. The pod is not created.
func checkAdmitted(t *testing.T, kubeconfig string, pod map[string]any) {
	t.Helper()
	metadata := pod["metadata"].(map[string]any)
	metadata["name"], metadata["namespace"] = "manager", "restricted"
	pod["apiVersion"], pod["kind"] = "v1", "Pod"
	account := pod["spec"].(map[string]any)["serviceAccountName"]
	var text strings.Builder
	for _, object := range []any{
		map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "restricted", "labels": map[string]any{"pod-security.kubernetes.io/enforce": "restricted"}}},
		map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": account, "namespace": "restricted"}},
	} {
		content, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(content))
	}
	content, err := yaml.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	prerequisites, manager := filepath.Join(t.TempDir(), "prerequisites.yaml"), filepath.Join(t.TempDir(), "pod.yaml")
	treetest.WriteFile(t, prerequisites, text.String())
	treetest.WriteFile(t, manager, string(content))
	for _, args := range [][]string{{"apply", "-f", prerequisites}, {"create", "--dry-run=server", "-f", manager}} {
		operontest.Exec(t, "", filepath.Join(operontest.Assets(), "kubectl"), append(args, "--kubeconfig="+kubeconfig)...)
	}
}
