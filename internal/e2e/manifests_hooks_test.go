//go:build testall

package e2e

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shellLayout is the layout of hook projects.
const shellLayout = "shell.operon.dev/v1"

// namespacesOfRoles are the namespaces of objects besides the objects of the hooks. They exist
// before the hooks are installed.
func namespacesOfRoles(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	var namespaces []*unstructured.Unstructured
	for _, role := range ofKind(all, "Role") {
		namespaces = append(namespaces, object("v1", "Namespace", "", role.GetNamespace()))
	}
	return namespaces
}

// hookPermissions are the permissions that the engine needs for the hooks of a golden
// project, in all namespaces and in single ones: to list and watch the kinds of bindings,
// and to register webhooks.
var hookPermissions = map[string]struct {
	anywhere permissions
	inside   map[string]permissions
}{
	"copier": {
		anywhere: watching("/secrets", "/nodes", "/namespaces", "stable.example.org/crontabs").
			and(registering("copier-hooks", "crontabs.stable.example.org")),
		inside: map[string]permissions{"team-a": watching("/pods"), "team-b": watching("/pods")},
	},
	"watcher": {
		anywhere: watching("/configmaps", "/nodes", "/namespaces", "stable.example.org/regions").
			and(registering("watcher-hooks", "regions.stable.example.org")),
	},
}

// watching returns the permissions for bindings.
func watching(resources ...string) permissions {
	may := permissions{}
	for _, resource := range resources {
		may["list "+resource], may["watch "+resource] = true, true
	}
	return may
}

// registering returns the permissions for webhooks, given the name of their configurations
// and the converted CRD.
func registering(configuration, crd string) permissions {
	may := permissions{}
	for _, kind := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
		may.add([]string{"admissionregistration.k8s.io"}, []string{kind}, []string{"create"})
		may.add([]string{"admissionregistration.k8s.io"}, []string{kind + "/" + configuration}, []string{"list", "update"})
	}
	may.add([]string{"apiextensions.k8s.io"}, []string{"customresourcedefinitions/" + crd}, []string{"get", "update"})
	return may
}

// testHookPermissions checks that the ServiceAccount of the hooks has exactly the permissions
// that the bindings need.
func testHookPermissions(t *testing.T, c *controlPlane, dir, namespace, account string) {
	want, known := hookPermissions[filepath.Base(dir)]
	if !known {
		t.Fatalf("hookPermissions has no entry for %s", dir)
	}
	engine, nobody := serviceAccount(t, c, namespace, account), serviceAccount(t, c, "system", "nobody")
	for _, elsewhere := range []string{namespace, "default"} {
		wantRules(t, engine, nobody, elsewhere, want.anywhere)
	}
	for inside, more := range want.inside {
		wantRules(t, engine, nobody, inside, want.anywhere.and(more))
	}
}

// testModuleManifests applies what a module project installs: an engine with all
// permissions, because charts may contain any object, in a pod with few permissions on its node.
func testModuleManifests(t *testing.T, c *controlPlane, dir string) {
	project := inMemory(t, dir)
	all := kustomized(t, project, "config/default")
	namespace, account := ofKind(all, "Namespace")[0].GetName(), ofKind(all, "ServiceAccount")[0].GetName()
	c.apply(t, ofKind(all, "Namespace")...)
	for _, target := range targets(t, project) {
		t.Run(target, func(t *testing.T) { c.applyAndDelete(t, kustomized(t, project, target)) })
	}
	c.apply(t, all...)
	defer c.remove(t, all)
	t.Run("permissions", func(t *testing.T) {
		engine, nobody := serviceAccount(t, c, namespace, account), serviceAccount(t, c, "system", "nobody")
		for _, anywhere := range []string{namespace, "default"} {
			wantRules(t, engine, nobody, anywhere, permissions{"* */*": true, "* *": true})
		}
	})
	t.Run("pod", func(t *testing.T) { testBaselinePod(t, c, all) })
}

// testBaselinePod creates the pod in a namespace that enforces the baseline pod security
// standard. A privileged variant must be rejected.
func testBaselinePod(t *testing.T, c *controlPlane, all []*unstructured.Unstructured) {
	const baseline = "baseline"
	namespace := object("v1", "Namespace", "", baseline)
	namespace.SetLabels(map[string]string{"pod-security.kubernetes.io/enforce": baseline})
	pod := podOf(t, all)
	c.apply(t, namespace, object("v1", "ServiceAccount", baseline, pod.Spec.ServiceAccountName))
	try := func() error {
		_, err := c.client.CoreV1().Pods(baseline).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	eventually(t, "create the pod", try)
	pod.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	if err := try(); !violatesPodSecurity(err, baseline) {
		t.Errorf("a privileged pod: %v", err)
	}
}
