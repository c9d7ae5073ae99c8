package helmchart

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

const deploymentFile = "config/manager/manager.yaml"

// deployment is the Deployment of the manager in a test: the object, its pod and its container.
type deployment struct{ spec, pod, container map[string]any }

// manifestChanges are lines that users add to files of config. The files are in the format txtar.
var manifestChanges = txtar.Parse([]byte(`
-- config/default/kustomization.yaml --
labels: [{pairs: {team: 'on', since: '2026'}, includeTemplates: true}]
-- config/default/kustomization.yaml --
commonAnnotations: {example.org/team: 'on', example.org/text: "{{ a }}\nb"}
-- config/default/kustomization.yaml --
replicas: [{name: controller-manager, count: 3}]
-- config/default/kustomization.yaml --
images: [{name: controller, newName: registry.example.org/manager, newTag: v1.2.3}]
-- config/default/kustomization.yaml --
configMapGenerator:
- {name: settings, literals: [level=1, 'text={{ .Values }}'], options: {disableNameSuffixHash: true}}
-- config/default/kustomization.yaml --
secretGenerator: [{name: key, literals: [token=abc]}]
-- config/default/kustomization.yaml --
transformers:
- |-
  apiVersion: builtin
  kind: LabelTransformer
  metadata: {name: tier}
  labels: {tier: back}
  fieldSpecs: [{path: metadata/labels, create: true}]
-- config/default/kustomization.yaml --
nameSuffix: -x
-- config/default/kustomization.yaml --
patchesStrategicMerge:
- |-
  apiVersion: v1
  kind: ServiceAccount
  metadata: {name: controller-manager, namespace: system}
  automountServiceAccountToken: false
-- config/default/metrics_service.yaml --
---
apiVersion: v1
kind: ConfigMap
metadata: {name: page, namespace: system, labels: {app: "1"}}
data:
  page.html: |
    {{ if true }}
    <b>"$1"</b>

  empty: ''
binaryData: {a: AAEC}
-- config/default/metrics_service.yaml --
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: manager, namespace: system}
spec: {minAvailable: 50%, selector: {matchLabels: {control-plane: controller-manager}}}
-- config/default/metrics_service.yaml --
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000000
-- config/rbac/service_account.yaml --
  annotations: {eks.amazonaws.com/role-arn: 'arn:aws:iam::1:role/a'}
imagePullSecrets: [{name: registry}]
-- config/rbac/role.yaml --
- {apiGroups: [""], resources: [nodes, nodes/proxy], resourceNames: ['*', 'y'], verbs: [get]}
- {nonResourceURLs: [/healthz/*], verbs: [get]}
-- config/rbac/metrics_reader_role.yaml --
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: metrics-reader}
subjects:
- {kind: ServiceAccount, name: prometheus, namespace: monitoring}
- {kind: ServiceAccount, name: controller-manager, namespace: system}
-- config/rbac/leader_election_role.yaml --
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leases, namespace: kube-system}
rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get]}]
-- config/rbac/service_account.yaml --
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: second, namespace: system, labels: {a: b}, annotations: {role: other}}
-- config/network-policy/allow-metrics-traffic.yaml --
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: deny, namespace: system}
spec:
  podSelector: {}
  policyTypes: [Egress, Ingress]
  egress: [{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}}], ports: [{port: 8443, endPort: 9000}]}]
-- config/network-policy/kustomization.yaml --
namePrefix: own-
-- config/prometheus/monitor.yaml --
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: rules, namespace: system}
spec:
  groups:
  - name: manager
    rules: [{alert: Down, expr: 'up == 0', annotations: {summary: '{{ $labels.pod }} is "down"'}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: prometheus, namespace: system}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}]
-- config/prometheus/kustomization.yaml --
labels: [{pairs: {release: '1'}}]
commonAnnotations: {note: "a: b"}
-- config/default/metrics_service.yaml --
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: pods, namespace: system}
spec: {podMetricsEndpoints: [{port: health, scheme: https}], selector: {}}
-- config/certmanager/issuer.yaml --
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: acme}
spec: {acme: {email: a@example.org, server: 'https://example.org/dir', privateKeySecretRef: {name: key}}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: clients, namespace: system}
spec: {commonName: '*.example.org', duration: 2160h0m0s, issuerRef: {kind: ClusterIssuer, name: acme}, secretName: '007', usages: [client auth]}
-- config/certmanager/kustomization.yaml --
patches: [{target: {kind: Certificate}, patch: '- {op: add, path: /spec/duration, value: 1h}'}]
-- config/webhook/service.yaml --
---
apiVersion: v1
kind: Service
metadata: {name: my-webhook, namespace: system}
spec: {type: ExternalName, externalName: example.org}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limits}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: 'object.spec.replicas < 5 || "{{" == ""'}]
-- config/webhook/kustomization.yaml --
patches:
- target: {kind: .*WebhookConfiguration}
  patch: |-
    - {op: add, path: /webhooks/0/clientConfig/caBundle, value: Cg==}
    - {op: add, path: /webhooks/0/timeoutSeconds, value: 5}
    - {op: add, path: /webhooks/0/namespaceSelector, value: {matchExpressions: [{key: a, operator: NotIn, values: ['on']}]}}
    - {op: add, path: /webhooks/0/matchConditions, value: [{name: x, expression: 'request.name != "{{ x }}"'}]}
-- config/crd/kustomization.yaml --
labels: [{pairs: {app: 'no'}}]
commonAnnotations: {text: '{{ a }}'}
-- config/crd/kustomization.yaml --
transformers:
- |-
  apiVersion: builtin
  kind: PatchTransformer
  metadata: {name: bare}
  target: {kind: CustomResourceDefinition}
  patch: '- {op: replace, path: /metadata/annotations, value: {}}'
`)).Files

// changeManifests adds the lines of some changes to files of config, and returns them.
func changeManifests(t *testing.T, fsys afero.Fs, indices []int) (added []string) {
	t.Helper()
	slices.Sort(indices)
	for _, i := range slices.Compact(indices) {
		c := manifestChanges[i]
		content, err := afero.ReadFile(fsys, c.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the project has no cert-manager
		}
		if err == nil {
			err = afero.WriteFile(fsys, c.Name, append(bytes.TrimRight(content, "\n"), "\n"+string(c.Data)...), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		added = append(added, c.Name+":\n"+string(c.Data))
	}
	return added
}

// TestChangedConfig makes the chart of projects whose users changed the Deployment of the manager and other manifests: the
// chart installs what config/default installs.
func TestChangedConfig(t *testing.T) {
	removals := func(of func(deployment) map[string]any, required ...string) func(*rand.Rand, deployment) {
		return func(r *rand.Rand, d deployment) {
			m := of(d)
			keys := slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(key string) bool { return slices.Contains(required, key) })
			if len(keys) > 0 {
				delete(m, keys[r.IntN(len(keys))])
			}
		}
	}
	changes := []func(*rand.Rand, deployment){
		removals(func(d deployment) map[string]any { return d.spec }, "selector", "template"),
		removals(func(d deployment) map[string]any { return d.pod }, "containers", "volumes"),
		removals(func(d deployment) map[string]any { return d.container }, "name", "image", "args", "ports", "volumeMounts"),
		func(r *rand.Rand, d deployment) {
			for _, flag := range [][]string{{"--metrics-secure=", "false", "true", "0"}, {"--webhook-port=", "9443", "9444", "$(PORT)"}} {
				args, _ := d.container["args"].([]any)
				if !slices.ContainsFunc(args, func(arg any) bool { return strings.HasPrefix(arg.(string), flag[0]) }) {
					addTo(d.container, "args", flag[0]+flag[1+r.IntN(3)])
				}
			}
		},
		func(_ *rand.Rand, d deployment) { addTo(d.container, "args", "--metrics-bind-address=:$(PORT)") },
		func(_ *rand.Rand, d deployment) { d.container["resources"] = map[string]any{} },
		func(_ *rand.Rand, d deployment) { addTo(d.container, "args", "--zap-devel={{ yes }}") },
		func(_ *rand.Rand, d deployment) { d.pod["terminationGracePeriodSeconds"] = 0 },
		func(_ *rand.Rand, d deployment) { d.pod["hostNetwork"] = true },
		func(_ *rand.Rand, d deployment) {
			d.pod["nodeSelector"] = map[string]any{"kubernetes.io/arch": "arm64"}
		},
		func(_ *rand.Rand, d deployment) { d.pod["tolerations"] = []any{map[string]any{"operator": "Exists"}} },
		func(_ *rand.Rand, d deployment) { d.pod["priorityClassName"] = "007" },
		func(_ *rand.Rand, d deployment) {
			addTo(d.container, "env", map[string]any{"name": "LEVEL", "value": "1"})
			addTo(d.container, "env", map[string]any{"name": "NAME", "value": "$(LEVEL)"})
		},
		func(_ *rand.Rand, d deployment) {
			addTo(d.pod, "containers", map[string]any{"name": "sidecar", "image": "sidecar:v1"})
		},
		func(_ *rand.Rand, d deployment) {
			d.container["image"] = "controller@sha256:" + strings.Repeat("0", 64)
		},
	}
	for i, name := range []string{"memcached", "databaseuser"} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same changes each time
				fsys := disk(t, name)
				changeManager(t, fsys, func(d deployment) {
					for range 1 + r.IntN(4) {
						changes[r.IntN(len(changes))](r, d)
					}
				})
				added := changeManifests(t, fsys, append(r.Perm(len(manifestChanges))[:r.IntN(4)], (int(seed)+i*len(manifestChanges)/2)%len(manifestChanges)))
				wantSame(t, fsys, write(t, fsys), name)
				if t.Failed() {
					content, _ := afero.ReadFile(fsys, deploymentFile)
					t.Fatalf("seed %d:\n%s\n%s", seed, content, strings.Join(added, "\n"))
				}
			}
		})
	}
}

// TestSecondManager checks that another Deployment with a container named manager stays as it is.
func TestSecondManager(t *testing.T) {
	fsys := disk(t, "memcached")
	content, err := afero.ReadFile(fsys, deploymentFile)
	if err != nil {
		t.Fatal(err)
	}
	const second = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a-gateway, namespace: system}
spec:
  selector: {matchLabels: {app: gateway}}
  template:
    metadata: {labels: {app: gateway}}
    spec:
      containers: [{name: manager, image: "gateway:v1", args: [--metrics-bind-address=:1], volumeMounts: [], ports: []}]
      volumes: []
`
	if err := afero.WriteFile(fsys, deploymentFile, append(content, second...), 0o644); err != nil {
		t.Fatal(err)
	}
	files := write(t, fsys)
	wantSame(t, fsys, files, "memcached")
	if n := strings.Count(string(files["values.yaml"]), "replicas:"); n != 1 {
		t.Errorf("values.yaml has the manager %d times", n)
	}
}

// TestOldValues renders a chart with values that lack a section, and with labels that the chart has.
func TestOldValues(t *testing.T) {
	files := write(t, disk(t, "memcached"))
	for _, values := range []string{
		"manager: {pod: null}",
		"manager: {labels: {control-plane: mine, team: a}, annotations: null, pod: {labels: {control-plane: mine, team: a}}}",
	} {
		all, err := rendered(t, files, parse(t, values), "memcached", "memcached-system")
		if err != nil {
			t.Fatal(err)
		}
		o := all["Deployment memcached-controller-manager"].Object
		for _, of := range [][]any{{"metadata"}, {"spec", "template", "metadata"}} {
			if got := find(find(o, of...), "labels", "control-plane"); got != "controller-manager" {
				t.Errorf("%s: the label control-plane of %v is %v", values, of, got)
			}
		}
		if want := find(parse(t, values), "manager", "labels", "team"); find(o, "metadata", "labels", "team") != want {
			t.Errorf("%s: the Deployment lacks the label team", values)
		}
	}
}

// addTo adds an item to a list.
func addTo(mapping map[string]any, key string, item any) {
	list, _ := mapping[key].([]any)
	mapping[key] = append(list, item)
}

// changeManager changes the Deployment in deploymentFile.
func changeManager(t *testing.T, fsys afero.Fs, change func(deployment)) {
	t.Helper()
	content, err := afero.ReadFile(fsys, deploymentFile)
	if err != nil {
		t.Fatal(err)
	}
	parts := bytes.SplitAfter(content, []byte("\n---\n"))
	for i, part := range parts {
		var o map[string]any
		if err := yaml.Unmarshal(bytes.TrimSuffix(part, []byte("---\n")), &o); err != nil {
			t.Fatal(err)
		}
		if o["kind"] != "Deployment" {
			continue
		}
		spec := o["spec"].(map[string]any)
		pod := find(spec, "template", "spec").(map[string]any)
		change(deployment{spec, pod, pod["containers"].([]any)[0].(map[string]any)})
		if parts[i], err = yaml.Marshal(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := afero.WriteFile(fsys, deploymentFile, bytes.Join(parts, nil), 0o644); err != nil {
		t.Fatal(err)
	}
}
