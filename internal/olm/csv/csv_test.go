package csv

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// operator is a small operator with a webhook, whose certificate cert-manager makes.
const operator = `
apiVersion: v1
kind: Namespace
metadata: {name: fleet-system}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: fleet-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: fleet, namespace: fleet-system, labels: {app: fleet}}
spec:
  selector: {matchLabels: {app: fleet}}
  template:
    metadata: {labels: {app: fleet}}
    spec:
      serviceAccountName: manager
      containers:
      - name: manager
        image: registry.example.org/fleet:v1
        args: [--leader-elect, --webhook-cert-path=/certs, --metrics-cert-path=/metrics]
        env: [{name: OTHER, value: x}]
        volumeMounts: [{name: tmp, mountPath: /tmp}, {name: webhook, mountPath: /certs}, {name: metrics, mountPath: /metrics}]
      volumes: [{name: tmp, emptyDir: {}}, {name: webhook, secret: {secretName: webhook-cert}}, {name: metrics, secret: {secretName: metrics-cert}}]
---
apiVersion: v1
kind: Service
metadata: {name: webhook, namespace: fleet-system}
spec:
  selector: {app: fleet}
  ports: [{port: 443, targetPort: 9443}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating}
webhooks:
- name: vfrigate.example.org
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: webhook, namespace: fleet-system, path: /validate}}
  rules: [{apiGroups: [ship.example.org], apiVersions: [v1], operations: [CREATE], resources: [frigates]}]
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving, namespace: fleet-system}
spec: {secretName: webhook-cert}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: metrics, namespace: fleet-system}
spec: {secretName: metrics-cert}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
rules: [{apiGroups: [ship.example.org], resources: [frigates/status], verbs: [update]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: fleet-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leader, namespace: fleet-system}
rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: leader, namespace: fleet-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: leader}
subjects: [{kind: ServiceAccount, name: manager, namespace: fleet-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: viewer}
rules: [{apiGroups: [ship.example.org], resources: [frigates, frigates/status], verbs: [get]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: frigates.ship.example.org, annotations: {cert-manager.io/inject-ca-from: fleet-system/serving}}
spec:
  group: ship.example.org
  names: {kind: Frigate, plural: frigates}
  versions: [{name: v1, served: true, storage: true}, {name: v1alpha1, served: false}]
---
apiVersion: ship.example.org/v1
kind: Frigate
metadata: {name: sample}
spec: {text: "<a>"}
`

// objects decodes documents.
func objects(t *testing.T, texts ...string) []Object {
	t.Helper()
	var list []Object
	for _, text := range texts {
		for doc := range strings.SplitSeq(text, "\n---\n") {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
				t.Fatal(err)
			}
			list = append(list, Object{u, strings.ToLower(u.GetKind()) + ".yaml"})
		}
	}
	return list
}

func options() Options {
	return Options{Package: "fleet", Version: "1.2.3", CreatedAt: "2026-01-01T00:00:00Z"}
}

func generate(t *testing.T, o Options, texts ...string) *Result {
	t.Helper()
	result, err := Generate(objects(t, texts...), o)
	if err != nil {
		t.Fatalf("%v\nhint: %s", err, fault.HintOf(err))
	}
	return result
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	result := generate(t, options(), operator)
	var want map[string]any
	if err := yaml.Unmarshal([]byte(`
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: fleet.v1.2.3
  namespace: placeholder
  annotations:
    alm-examples: |-
      [
        {
          "apiVersion": "ship.example.org/v1",
          "kind": "Frigate",
          "metadata": {
            "name": "sample"
          },
          "spec": {
            "text": "<a>"
          }
        }
      ]
    capabilities: Basic Install
    createdAt: "2026-01-01T00:00:00Z"
spec:
  displayName: Fleet
  keywords: [fleet]
  maturity: alpha
  version: 1.2.3
  customresourcedefinitions:
    owned: [{kind: Frigate, displayName: Frigate, name: frigates.ship.example.org, version: v1}]
  install:
    strategy: deployment
    spec:
      clusterPermissions:
      - serviceAccountName: manager
        rules: [{apiGroups: [ship.example.org], resources: [frigates/status], verbs: [update]}]
      permissions:
      - serviceAccountName: manager
        rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}]
      deployments:
      - name: fleet
        label: {app: fleet}
        spec:
          selector: {matchLabels: {app: fleet}}
          template:
            metadata: {labels: {app: fleet}}
            spec:
              serviceAccountName: manager
              containers:
              - name: manager
                image: registry.example.org/fleet:v1
                args: [--leader-elect, --webhook-cert-path=/tmp/k8s-webhook-server/serving-certs]
                env: [{name: OTHER, value: x}]
                volumeMounts: [{name: tmp, mountPath: /tmp}]
              volumes: [{name: tmp, emptyDir: {}}]
  installModes:
  - {type: OwnNamespace, supported: false}
  - {type: SingleNamespace, supported: false}
  - {type: MultiNamespace, supported: false}
  - {type: AllNamespaces, supported: true}
  webhookdefinitions:
  - type: ValidatingAdmissionWebhook
    generateName: vfrigate.example.org
    deploymentName: fleet
    containerPort: 443
    targetPort: 9443
    webhookPath: /validate
    admissionReviewVersions: [v1]
    sideEffects: None
    rules: [{apiGroups: [ship.example.org], apiVersions: [v1], operations: [CREATE], resources: [frigates]}]
`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(want), normal(result.Manifests[result.CSV])); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	crd := result.Manifests["ship.example.org_frigates.yaml"]
	if jsonvalue.Map(crd, "metadata", "annotations") != nil {
		t.Errorf("the CRD has annotations of cert-manager: %v", crd["metadata"])
	}
	var places []string
	for _, p := range result.Objects {
		places = append(places, p.Kind+" "+p.Name+": "+string(p.Place)+" "+p.Reason)
	}
	wantPlaces := []string{
		"Namespace fleet-system: left out the user selects the namespace",
		"ServiceAccount manager: csv ", "Deployment fleet: csv ", "Service webhook: left out OLM makes the Service of webhooks",
		"ValidatingWebhookConfiguration validating: csv ",
		"Certificate serving: left out OLM makes the certificates of webhooks",
		"Certificate metrics: left out OLM makes the certificates of webhooks",
		"ClusterRole manager: csv ", "ClusterRoleBinding manager: csv ", "Role leader: csv ", "RoleBinding leader: csv ",
		"ClusterRole viewer: file ", "CustomResourceDefinition frigates.ship.example.org: file ", "Frigate sample: csv ",
	}
	if diff := cmp.Diff(wantPlaces, places); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// csvBase is the start of a base.
const csvBase = "kind: ClusterServiceVersion\napiVersion: operators.coreos.com/v1alpha1\nmetadata: {name: a}\n"

// TestRefused checks that each object that a bundle cannot have is an error that names it.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, from, to, add, text string }{
		{"no deployment", "kind: Deployment", "kind: StatefulSet", "", "the manifests have no Deployment"},
		{"unsupported kind", "", "", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, namespace: fleet-system}", "job.yaml: a bundle cannot have Job once: OLM does not install objects of batch/v1"},
		{"other namespace", "", "", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: elsewhere}", "configmap.yaml: ConfigMap c is in the namespace elsewhere"},
		{"no sample", "kind: Frigate\nmetadata: {name: sample}", "kind: ConfigMap\nmetadata: {name: sample}", "", "the kind Frigate has no sample"},
		{"sample of a version that is not served", "apiVersion: ship.example.org/v1\n", "apiVersion: ship.example.org/v1alpha1\n", "", "frigate.yaml: Frigate sample has the version v1alpha1, which its CRD does not serve"},
		{"unbound role", "kind: ClusterRoleBinding\nmetadata: {name: manager}", "kind: ConfigMap\nmetadata: {name: manager}", "", "no binding grants ClusterRole manager"},
		{"role is missing", "name: leader}\nsubjects", "name: follower}\nsubjects", "", "RoleBinding leader names the Role follower, which the manifests do not have"},
		{"binding in another namespace", "kind: RoleBinding\nmetadata: {name: leader, namespace: fleet-system}", "kind: RoleBinding\nmetadata: {name: leader, namespace: kube-system}", "", "RoleBinding leader names the Role leader, which the manifests do not have"},
		{"other account", "kind: ClusterRole, name: manager}\nsubjects: [{kind: ServiceAccount, name: manager", "kind: ClusterRole, name: manager}\nsubjects: [{kind: ServiceAccount, name: worker", "", "ClusterRoleBinding manager is for the ServiceAccount worker, which no Deployment uses"},
		{"webhook without service", "service: {name: webhook,", "service: {name: other,", "", "is called through the Service other, which the manifests do not have"},
		{"webhook without deployment", "selector: {app: fleet}\n  ports", "selector: {app: other}\n  ports", "", "no Deployment runs the webhook vfrigate.example.org: the Service webhook selects no pods of one"},
		{"webhook at a port that no service has", "port: 443,", "port: 8443,", "", "is called at port 443, which the Service webhook does not have"},
		{"webhook at a URL", "clientConfig: {service: {name: webhook, namespace: fleet-system, path: /validate}}", "clientConfig: {url: https://example.org}", "", "is called at a URL"},
		{"certificate of no webhook", "--metrics-cert-path=/metrics", "--verbose", "", "Deployment fleet mounts the Secret metrics-cert of cert-manager"},
		{"the same object twice", "", "", "apiVersion: v1\nkind: Service\nmetadata: {name: webhook, namespace: fleet-system}", "the manifests have Service webhook twice"},
		{"two ClusterServiceVersions", "", "", "kind: ClusterServiceVersion\napiVersion: operators.coreos.com/v1alpha1\nmetadata: {name: a}\n---\nkind: ClusterServiceVersion\napiVersion: operators.coreos.com/v1alpha1\nmetadata: {name: b}", "the manifests have two ClusterServiceVersions, a and b"},
		{"a version that replaces itself", "", "", csvBase + "spec: {replaces: fleet.v1.2.3}", "fleet.v1.2.3 replaces or skips itself"},
		{"a version that skips itself", "", "", csvBase + "spec: {skips: [fleet.v1.2.3]}", "fleet.v1.2.3 replaces or skips itself"},
		{"minKubeVersion", "", "", csvBase + "spec: {minKubeVersion: v1.30}", `minKubeVersion "v1.30" of clusterserviceversion.yaml is not a semantic version`},
		{"examples that are not JSON", "", "", strings.Replace(csvBase, "name: a", "name: a, annotations: {alm-examples: '{'}", 1), "the annotation alm-examples of clusterserviceversion.yaml is not a list in JSON"},
		{"related image by reference", "{name: OTHER, value: x}", "{name: RELATED_IMAGE_DB, valueFrom: {}}", "", "the variable RELATED_IMAGE_DB of Deployment fleet has no value"},
		{"conversion in some namespaces", "  names: {kind: Frigate", "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: webhook, namespace: fleet-system, path: /convert}}}}\n  names: {kind: Frigate", "WATCH", "OLM converts objects only for operators in all namespaces"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			text := operator
			if tc.from != "" && strings.Count(text, tc.from) != 1 {
				t.Fatalf("%q occurs %d times", tc.from, strings.Count(text, tc.from))
			}
			if tc.from != "" {
				text = strings.Replace(text, tc.from, tc.to, 1)
			}
			if tc.add == "WATCH" {
				text, tc.add = strings.Replace(text, "name: OTHER", "name: WATCH_NAMESPACE", 1), ""
			}
			texts := []string{text}
			if tc.add != "" {
				texts = append(texts, tc.add)
			}
			_, err := Generate(objects(t, texts...), options())
			if err == nil {
				t.Fatal("no error")
			}
			if all := err.Error() + "\n" + fault.HintOf(err); !strings.Contains(all, tc.text) {
				t.Errorf("got:\n%s\nwant: %s", all, tc.text)
			}
			if fault.HintOf(err) == "" || fault.Code(err) != fault.CodeUsage || strings.Contains(err.Error(), "\n") {
				t.Errorf("code %d, hint %q: %v", fault.Code(err), fault.HintOf(err), err)
			}
		})
	}
}

// TestNamespaced checks that OLM tells an operator which namespaces to watch.
func TestNamespaced(t *testing.T) {
	t.Parallel()
	result := generate(t, options(), strings.Replace(operator, "{name: OTHER, value: x}", "{name: WATCH_NAMESPACE, value: x}", 1))
	csv := result.Manifests[result.CSV]
	var supported []string
	for _, mode := range jsonvalue.Maps(csv, "spec", "installModes") {
		if mode["supported"] == true {
			supported = append(supported, jsonvalue.String(mode, "type"))
		}
	}
	if want := []string{"OwnNamespace", "SingleNamespace"}; !slices.Equal(supported, want) {
		t.Errorf("install modes %v, want %v", supported, want)
	}
	if !hasText(csv, func(s string) bool { return s == targetNamespaces }) {
		t.Error("WATCH_NAMESPACE does not come from the OperatorGroup")
	}
}

// TestWebhookService leaves out what OLM makes: the Service that only serves webhooks, and the conversion of CRDs.
func TestWebhookService(t *testing.T) {
	t.Parallel()
	text := strings.Replace(operator, "  names: {kind: Frigate", "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], "+
		"clientConfig: {service: {name: webhook, namespace: fleet-system, path: /convert}}}}\n  names: {kind: Frigate", 1)
	result := generate(t, options(), text)
	if hooks := jsonvalue.Maps(result.Manifests[result.CSV], "spec", "webhookdefinitions"); len(hooks) != 2 || hooks[0]["type"] != "ConversionWebhook" {
		t.Errorf("webhooks %v", hooks)
	}
	if spec := jsonvalue.Map(result.Manifests["ship.example.org_frigates.yaml"], "spec"); spec["group"] == nil || spec["conversion"] != nil {
		t.Errorf("the CRD has a conversion: %v", spec)
	}
	if service := result.Manifests["webhook_v1_service.yaml"]; service != nil {
		t.Errorf("the bundle has %v", service)
	}
	result = generate(t, options(), strings.Replace(text, "{port: 443, targetPort: 9443}", "{port: 443, targetPort: 9443}, {port: 8443}", 1))
	service := result.Manifests["webhook_v1_service.yaml"]
	if service == nil || jsonvalue.String(service, "metadata", "namespace") != "" {
		t.Errorf("a Service with another port: %v", service)
	}
}

// TestMixedBinding checks that a binding for the operator and for others is in both places.
func TestMixedBinding(t *testing.T) {
	t.Parallel()
	text := strings.Replace(operator, "name: manager}\nsubjects: [", "name: manager}\nsubjects: [{kind: Group, name: admins}, ", 1)
	result := generate(t, options(), text)
	binding := result.Manifests["manager_rbac.authorization.k8s.io_v1_clusterrolebinding.yaml"]
	if got := jsonvalue.List(binding, "subjects"); len(got) != 1 || jsonvalue.String(got[0], "name") != "admins" {
		t.Errorf("subjects %v", got)
	}
	if result.Manifests["manager_rbac.authorization.k8s.io_v1_clusterrole.yaml"] == nil {
		t.Error("the role of the binding is missing")
	}
	if len(jsonvalue.List(result.Manifests[result.CSV], "spec", "install", "spec", "clusterPermissions")) != 1 {
		t.Error("the operator has no permissions")
	}
}

// TestExtraAccount checks that the permissions of another ServiceAccount join the permissions of the
// operator, and that OLM also creates an account without permissions.
func TestExtraAccount(t *testing.T) {
	t.Parallel()
	o := options()
	o.ExtraServiceAccounts = []string{"worker"}
	text := strings.Replace(operator, "kind: ClusterRole, name: manager}\nsubjects: [{kind: ServiceAccount, name: manager", "kind: ClusterRole, name: manager}\nsubjects: [{kind: ServiceAccount, name: worker", 1)
	text = strings.Replace(text, "name: leader}\nsubjects: [{kind: ServiceAccount, name: manager", "name: leader}\nsubjects: [{kind: ServiceAccount, name: worker", 1)
	result := generate(t, o, text, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: worker, namespace: fleet-system}")
	var accounts []string
	for _, p := range jsonvalue.Maps(result.Manifests[result.CSV], "spec", "install", "spec", "permissions") {
		accounts = append(accounts, jsonvalue.String(p, "serviceAccountName"))
	}
	if want := []string{"manager", "worker"}; !slices.Equal(accounts, want) {
		t.Errorf("permissions of %v, want %v", accounts, want)
	}
	for name := range result.Manifests {
		if strings.Contains(name, "serviceaccount") {
			t.Errorf("OLM creates %s", name)
		}
	}
}

// TestSelfSigned checks that a manager that makes its own certificate uses OLM's.
func TestSelfSigned(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(operator, "/certs", certificateFolder)
	text = strings.Replace(text, "{name: OTHER, value: x}", "{name: WEBHOOK_SERVICE, value: webhook}, {name: WEBHOOK_NAMESPACE, value: fleet-system}", 1)
	text = strings.Replace(text, "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: serving, namespace: fleet-system}\nspec: {secretName: webhook-cert}", `apiVersion: v1
kind: Secret
metadata: {name: webhook-cert, namespace: fleet-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: certificates}
rules:
- {apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], verbs: [list, watch]}
- {apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], resourceNames: [validating], verbs: [update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: certificates}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: certificates}
subjects: [{kind: ServiceAccount, name: manager, namespace: fleet-system}]`, 1)
	result := generate(t, options(), text)
	csv := result.Manifests[result.CSV]
	for _, word := range []string{"WEBHOOK_SERVICE", "webhook-cert", "validatingwebhookconfigurations"} {
		if hasText(csv, func(s string) bool { return s == word }) {
			t.Errorf("the ClusterServiceVersion has %s", word)
		}
	}
	if result.Manifests["webhook-cert_v1_secret.yaml"] != nil {
		t.Error("the bundle has the Secret")
	}
}

// TestBase checks that no metadata of the base is lost.
func TestBase(t *testing.T) {
	t.Parallel()
	const base = `
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: fleet.v0.0.0
  annotations:
    alm-examples: '[{"apiVersion": "other.example.org/v1", "kind": "Other", "metadata": {"name": "kept"}}]'
    com.redhat.openshift.versions: v4.12
    olm.skipRange: '<1.2.3'
  labels: {operatorframework.io/arch.arm64: supported}
spec:
  displayName: The Fleet
  minKubeVersion: 1.30.0
  replaces: fleet.v1.2.2
  skips: [fleet.v1.2.1]
  unknownField: {kept: true}
  icon: [{base64data: "", mediatype: ""}]
  installModes: [{type: AllNamespaces, supported: true}]
  relatedImages: [{name: cache, image: registry.example.org/cache:v1}, {name: db, image: registry.example.org/db:v1}]
  customresourcedefinitions:
    owned: [{kind: Frigate, name: frigates.ship.example.org, version: v1, displayName: A frigate}, {kind: Gone, name: gones.ship.example.org, version: v1}]
    required: [{kind: Certificate, name: certificates.cert-manager.io, version: v1}]
`
	o := options()
	o.Icon, o.Description = &Icon{"image/svg+xml", []byte("<svg/>")}, "# Fleet"
	text := strings.Replace(operator, "{name: OTHER, value: x}", "{name: RELATED_IMAGE_DB, value: registry.example.org/db:v2}", 1)
	result := generate(t, o, text, base)
	csv := result.Manifests[result.CSV]
	got := map[string]any{"labels": jsonvalue.At(csv, "metadata", "labels"), "versions": jsonvalue.At(csv, "metadata", "annotations", "com.redhat.openshift.versions"), "range": jsonvalue.At(csv, "metadata", "annotations", "olm.skipRange")}
	for _, key := range []string{"displayName", "minKubeVersion", "replaces", "skips", "unknownField", "icon", "installModes", "relatedImages", "customresourcedefinitions", "description"} {
		got[key] = jsonvalue.At(csv, "spec", key)
	}
	want := map[string]any{
		"labels":   map[string]any{"operatorframework.io/arch.arm64": "supported"},
		"versions": "v4.12", "range": "<1.2.3", "displayName": "The Fleet", "minKubeVersion": "1.30.0", "replaces": "fleet.v1.2.2", "skips": []any{"fleet.v1.2.1"},
		"unknownField": map[string]any{"kept": true}, "description": "# Fleet",
		"icon":          []any{map[string]any{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}},
		"installModes":  []any{map[string]any{"type": "AllNamespaces", "supported": true}},
		"relatedImages": []any{map[string]any{"name": "cache", "image": "registry.example.org/cache:v1"}, map[string]any{"name": "db", "image": "registry.example.org/db:v2"}},
		"customresourcedefinitions": map[string]any{
			"owned":    []any{map[string]any{"kind": "Frigate", "name": "frigates.ship.example.org", "version": "v1", "displayName": "A frigate"}},
			"required": []any{map[string]any{"kind": "Certificate", "name": "certificates.cert-manager.io", "version": "v1"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if examples := jsonvalue.String(csv, "metadata", "annotations", "alm-examples"); !strings.Contains(examples, `"kept"`) || !strings.Contains(examples, `"sample"`) {
		t.Errorf("examples %s", examples)
	}
	if !slices.ContainsFunc(result.Warnings, func(w Warning) bool {
		return w.Rule == "unknown-crd" && strings.Contains(w.Message, "gones.ship.example.org")
	}) {
		t.Errorf("no warning about the CRD that is gone: %v", result.Warnings)
	}
}

// TestCreatedAt checks that the time of creation changes only with the rest.
func TestCreatedAt(t *testing.T) {
	t.Parallel()
	encode := func(r *Result) []byte {
		text, err := yaml.Marshal(r.Manifests[r.CSV])
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first := encode(generate(t, options(), operator))
	later := options()
	later.CreatedAt, later.Previous = "2030-01-01T00:00:00Z", first
	if diff := cmp.Diff(string(first), string(encode(generate(t, later, operator)))); diff != "" {
		t.Errorf("a repeat differs:\n%s", diff)
	}
	later.Version = "1.2.4"
	if next := string(encode(generate(t, later, operator))); !strings.Contains(next, "2030-01-01") {
		t.Errorf("the time did not change:\n%s", next)
	}
}
