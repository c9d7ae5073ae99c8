package extension

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

const operator = `
kind: ClusterServiceVersion
metadata: {name: fleet.v1.0.0}
spec:
  version: 1.0.0
  installModes: [MODES]
  webhookdefinitions:
  - {type: ValidatingAdmissionWebhook, generateName: vfrigate.kb.io-, deploymentName: fleet.manager}
  install:
    spec:
      deployments: [{name: fleet.manager}]
      clusterPermissions:
      - serviceAccountName: fleet
        rules: [{apiGroups: [ship.example.org], resources: [frigates], verbs: [get]}]
      permissions:
      - serviceAccountName: fleet
        rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}]
      - serviceAccountName: default
        rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: frigates.ship.example.org}
---
apiVersion: v1
kind: Service
metadata: {name: metrics}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: viewer}
rules: [{nonResourceURLs: [/metrics], verbs: [get]}]
`

// operatorWith returns a bundle with these install modes.
func operatorWith(t *testing.T, modes ...string) *bundle.Bundle {
	t.Helper()
	var list []string
	for _, mode := range modes {
		list = append(list, "{supported: true, type: "+mode+"}")
	}
	b, err := bundle.Parse(map[string][]byte{
		bundle.AnnotationsFile: []byte("annotations: {" + bundle.PackageKey + ": fleet}"),
		"manifests/all.yaml":   []byte(strings.Replace(operator, "MODES", strings.Join(list, ", "), 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// summary returns the objects in short: one line for each, and for each of its rules.
func summary(all []Object) []string {
	var lines []string
	for _, o := range all {
		metadata := o["metadata"].(Object)
		lines = append(lines, strings.TrimSpace(fmt.Sprint(o["kind"], " ", metadata["name"], " ", jsonvalue.String(metadata, "namespace"))))
		rules, _ := o["rules"].([]any)
		for _, r := range rules {
			rule := r.(Object)
			line := fmt.Sprintf("  %v%v%v %v", rule["apiGroups"], rule["resources"], rule["nonResourceURLs"], rule["verbs"])
			if rule["resourceNames"] != nil {
				line += fmt.Sprintf(" %v", rule["resourceNames"])
			}
			lines = append(lines, strings.ReplaceAll(line, "<nil>", ""))
		}
	}
	return lines
}

// TestAllNamespaces checks the permissions of the installer: names where they are known, and all
// that it grants, everywhere.
func TestAllNamespaces(t *testing.T) {
	t.Parallel()
	all, err := Objects(operatorWith(t, "AllNamespaces", "OwnNamespace"), Options{
		Name: "ext", Namespace: "fleet-system", ServiceAccount: "sa", Catalog: "cat", CatalogImage: "example.org/catalog:v1",
		Channels: []string{"stable"}, Version: "<2.0.0",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `Namespace fleet-system
ClusterCatalog cat
ServiceAccount sa fleet-system
ClusterRole sa
  [admissionregistration.k8s.io][validatingwebhookconfigurations] [create list watch]
  [admissionregistration.k8s.io][validatingwebhookconfigurations] [delete get patch update] [vfrigate.kb.io]
  [apiextensions.k8s.io][customresourcedefinitions] [create list watch]
  [apiextensions.k8s.io][customresourcedefinitions] [delete get patch update] [frigates.ship.example.org]
  [rbac.authorization.k8s.io][clusterrolebindings] [create delete get patch update list watch]
  [rbac.authorization.k8s.io][clusterroles] [create delete get patch update list watch]
  [/metrics] [get]
  [ship.example.org][frigates] [get]
  [coordination.k8s.io][leases] [create]
  [][namespaces] [get list watch]
  [][serviceaccounts] [list watch]
  [][services] [list watch]
  [apps][deployments] [list watch]
  [cert-manager.io][certificates] [list watch]
  [cert-manager.io][issuers] [list watch]
  [olm.operatorframework.io][clusterextensions/finalizers] [update] [ext]
ClusterRoleBinding sa
Role sa fleet-system
  [][serviceaccounts] [create]
  [][serviceaccounts] [delete get patch update] [fleet]
  [][services] [create]
  [][services] [delete get patch update] [fleet-manager-service metrics]
  [apps][deployments] [create]
  [apps][deployments] [delete get patch update] [fleet.manager]
  [cert-manager.io][certificates] [create]
  [cert-manager.io][certificates] [delete get patch update] [fleet-manager-service-cert]
  [cert-manager.io][issuers] [create]
  [cert-manager.io][issuers] [delete get patch update] [fleet-manager-service-cert-selfsigned-issuer]
RoleBinding sa fleet-system
ClusterExtension ext`
	if got := strings.Join(summary(all), "\n"); got != want {
		t.Errorf("got:\n%s", got)
	}
	extension := fmt.Sprint(all[len(all)-1]["spec"])
	if extension != "map[namespace:fleet-system serviceAccount:map[name:sa] source:map[catalog:map[channels:[stable] packageName:fleet selector:map[matchLabels:map[olm.operatorframework.io/metadata.name:cat]] version:<2.0.0] sourceType:Catalog]]" {
		t.Errorf("spec %s", extension)
	}
}

// TestOneNamespace checks that permissions of the operator stay in the namespace that it watches.
func TestOneNamespace(t *testing.T) {
	t.Parallel()
	b := operatorWith(t, "OwnNamespace", "SingleNamespace")
	for watch, where := range map[string]string{"": "fleet-system", "fleet-system": "fleet-system", "ships": "ships"} {
		all, err := Objects(b, Options{Name: "ext", Namespace: "fleet-system", ServiceAccount: "sa", Watch: watch})
		if err != nil {
			t.Fatal(err)
		}
		lines, at := summary(all), ""
		for _, line := range lines {
			if !strings.HasPrefix(line, " ") {
				at = line
			}
			if strings.Contains(line, "leases") && at != "Role sa "+where {
				t.Errorf("watch %q: %s has the permissions of the operator", watch, at)
			}
		}
		for _, line := range []string{"  [coordination.k8s.io][leases] [create]", "Role sa " + where, "  [rbac.authorization.k8s.io][roles] [create delete get patch update]"} {
			if !slices.Contains(lines, line) {
				t.Errorf("watch %q lacks %q:\n%s", watch, line, strings.Join(lines, "\n"))
			}
		}
		if spec := fmt.Sprint(all[len(all)-1]["spec"]); !strings.Contains(spec, "config:map[configType:Inline inline:map[watchNamespace:"+where+"]]") {
			t.Errorf("watch %q: %s", watch, spec)
		}
	}
}

// TestWatched checks that the namespaces follow from the install modes.
func TestWatched(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ mode, watch, message string }{
		{"SingleNamespace", "", "fleet.v1.0.0 watches some namespaces only"},
		{"MultiNamespace", "", "fleet.v1.0.0 watches some namespaces only"},
		{"SingleNamespace", "own", "fleet.v1.0.0 cannot watch the namespace own from own"},
		{"OwnNamespace", "other", "fleet.v1.0.0 cannot watch the namespace other from own"},
		{"AllNamespaces", "own", "fleet.v1.0.0 cannot watch the namespace own from own"},
	} {
		_, err := Objects(operatorWith(t, tc.mode), Options{Name: "ext", Namespace: "own", Watch: tc.watch, WatchHint: "name it"})
		if err == nil || err.Error() != tc.message || fault.HintOf(err) == "" || tc.watch == "" && fault.HintOf(err) != "name it" {
			t.Errorf("%s, watch %q: %v", tc.mode, tc.watch, err)
		}
	}
}
