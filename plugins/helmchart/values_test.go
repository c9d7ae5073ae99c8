package helmchart

import (
	"fmt"
	"strings"
	"testing"

	helm "github.com/operon-dev/operon/internal/chart"
	"github.com/spf13/afero"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// parse reads values.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	v := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// find returns the value at a path of keys and indices, or nil.
func find(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// manager returns the path of a field of the manager's container.
func manager(path ...any) []any {
	return append([]any{"spec", "template", "spec", "containers", 0}, path...)
}

// TestValues renders the chart of fleet with other values, which its schema accepts, and looks at one field or at what
// is missing.
func TestValues(t *testing.T) {
	files := write(t, disk(t, "fleet"))
	const deployment = "Deployment fleet-controller-manager"
	for _, tc := range []struct {
		values, object string
		path           []any
		want           string // of the field; "<nil>" if it is missing
	}{
		{"manager: {replicas: 0}", deployment, []any{"spec", "replicas"}, "0"},
		{"manager: {image: {repository: r.example.org:5000/fleet, tag: v2}}", deployment, manager("image"), "r.example.org:5000/fleet:v2"},
		{"manager: {image: {tag: 'sha256:0123'}}", deployment, manager("image"), "controller@sha256:0123"},
		{"manager: {image: {tag: ''}}", deployment, manager("image"), "controller:v0.1.0"},
		{"manager: {image: {pullPolicy: Always}}", deployment, manager("imagePullPolicy"), "Always"},
		{"manager: {args: [--zap-log-level=2, 'a: b # c']}", deployment, manager("args"), "[--metrics-bind-address=:8443 --zap-log-level=2 a: b # c --health-probe-bind-address=:8081 --webhook-cert-path=/tmp/k8s-webhook-server/serving-certs]"},
		{"manager: {env: [{name: LEVEL, value: '1'}]}", deployment, manager("env", 3), "map[name:LEVEL value:1]"},
		{"manager: {envOverrides: {GOMEMLIMIT: 400000000}}", deployment, manager("env", 0), "map[name:GOMEMLIMIT value:400000000]"},
		{"manager: {env: [{name: LEVEL, value: '1'}], envOverrides: {LEVEL: debug}}", deployment, manager("env"), "[map[name:LEVEL value:debug] map[name:WATCH_NAMESPACE valueFrom:map[fieldRef:map[fieldPath:metadata.namespace]]] map[name:MEMORY_LIMIT valueFrom:map[resourceFieldRef:map[divisor:1Mi resource:limits.memory]]] map[name:GOMEMLIMIT value:$(MEMORY_LIMIT)000000]]"},
		{"webhook: {enabled: false}\nmanager: {envOverrides: {ENABLE_WEBHOOKS: true}}", deployment, manager("env", 0), "map[name:ENABLE_WEBHOOKS value:true]"},
		{"manager: {enabled: false}", deployment, nil, "<nil>"},
		{"manager: {labels: {team: sea}}", deployment, []any{"metadata", "labels", "team"}, "sea"},
		{"manager: {annotations: {team: sea}}", deployment, []any{"metadata", "annotations"}, "map[team:sea]"},
		{"manager: {pod: {labels: {team: sea}}}", deployment, []any{"spec", "template", "metadata", "labels", "team"}, "sea"},
		{"manager: {pod: {annotations: {team: sea}}}", deployment, []any{"spec", "template", "metadata", "annotations", "team"}, "sea"},
		{"manager: {extraVolumes: [{name: tmp, emptyDir: {}}]}", deployment, []any{"spec", "template", "spec", "volumes", 1, "name"}, "tmp"},
		{"manager: {extraVolumes: [{name: tmp, emptyDir: {}}]}\nwebhook: {enabled: false}", deployment, []any{"spec", "template", "spec", "volumes"}, "[map[emptyDir:map[] name:tmp]]"},
		{"manager: {extraVolumeMounts: [{name: tmp, mountPath: /tmp}]}", deployment, manager("volumeMounts", 1, "mountPath"), "/tmp"},
		{"manager: {resources: null}", deployment, manager("resources"), "<nil>"},
		{"manager: {resources: {limits: {cpu: 2}}}", deployment, manager("resources", "limits"), "map[cpu:2 memory:512Mi]"},
		{"manager: {securityContext: {runAsUser: 1000}}", deployment, manager("securityContext", "runAsUser"), "1000"},
		{"manager: {podSecurityContext: {fsGroup: 2}}", deployment, []any{"spec", "template", "spec", "securityContext", "fsGroup"}, "2"},
		{"manager: {imagePullSecrets: [{name: r}]}", deployment, []any{"spec", "template", "spec", "imagePullSecrets"}, "[map[name:r]]"},
		{"manager: {nodeSelector: {arch: amd64}}", deployment, []any{"spec", "template", "spec", "nodeSelector", "arch"}, "amd64"},
		{"manager: {tolerations: [{operator: Exists}]}", deployment, []any{"spec", "template", "spec", "tolerations", 0, "operator"}, "Exists"},
		{"manager: {affinity: {nodeAffinity: {}}}", deployment, []any{"spec", "template", "spec", "affinity"}, "map[nodeAffinity:map[]]"},
		{"manager: {priorityClassName: high}", deployment, []any{"spec", "template", "spec", "priorityClassName"}, "high"},
		{"manager: {terminationGracePeriodSeconds: 0}", deployment, []any{"spec", "template", "spec", "terminationGracePeriodSeconds"}, "0"},
		{"manager: {strategy: {type: Recreate}}", deployment, []any{"spec", "strategy", "type"}, "Recreate"},
		{"fullnameOverride: sea", "Deployment sea-controller-manager", []any{"spec", "template", "spec", "serviceAccountName"}, "sea-controller-manager"},
		{"fullnameOverride: sea", "Certificate sea-serving-cert", []any{"spec", "dnsNames"}, "[sea-webhook-service.other.svc sea-webhook-service.other.svc.cluster.local]"},
		{"fullnameOverride: sea", "CustomResourceDefinition frigates.ship.example.org", []any{"spec", "conversion", "webhook", "clientConfig", "service"}, "map[name:sea-webhook-service namespace:other path:/convert]"},
		{"rbac: {helpers: {enabled: false}}", "ClusterRole fleet-sea-nfs-admin-role", nil, "<nil>"},
		{"serviceAccount: {enabled: false, name: mine}", "ClusterRoleBinding fleet-manager-cluster-rolebinding", []any{"subjects", 0, "name"}, "mine"},
		{"serviceAccount: {enabled: false, name: mine}", "ServiceAccount mine", nil, "<nil>"},
		{"serviceAccount: {labels: {team: sea}}", "ServiceAccount fleet-controller-manager", []any{"metadata", "labels", "team"}, "sea"},
		{"serviceAccount: {annotations: {role: arn}}", "ServiceAccount fleet-controller-manager", []any{"metadata", "annotations"}, "map[role:arn]"},
		{"crd: {enabled: false}", "CustomResourceDefinition nfs.sea.example.org", nil, "<nil>"},
		{"crd: {keep: false}", "CustomResourceDefinition nfs.sea.example.org", []any{"metadata", "annotations", "helm.sh/resource-policy"}, "<nil>"},
		{"metrics: {enabled: false}", deployment, manager("args", 0), "--leader-elect"},
		{"metrics: {enabled: false}", "Service fleet-controller-manager-metrics-service", nil, "<nil>"},
		{"metrics: {port: 9000}", "Service fleet-controller-manager-metrics-service", []any{"spec", "ports", 0, "targetPort"}, "9000"},
		{"metrics: {port: 9000}", deployment, manager("args", 0), "--metrics-bind-address=:9000"},
		{"metrics: {secure: false}", "ClusterRole fleet-metrics-auth-role", nil, "<nil>"},
		{"metrics: {secure: false}", deployment, manager("args", 4), "--metrics-secure=false"},
		{"webhook: {enabled: false}", deployment, manager("env", 3), "map[name:ENABLE_WEBHOOKS value:false]"},
		{"webhook: {enabled: false}", deployment, []any{"spec", "template", "spec", "volumes"}, "<nil>"},
		{"webhook: {enabled: false}", "ValidatingWebhookConfiguration fleet-validating-webhook-configuration", nil, "<nil>"},
		{"webhook: {enabled: false}", "CustomResourceDefinition frigates.ship.example.org", []any{"spec", "conversion"}, "<nil>"},
		{"webhook: {port: 9444}", deployment, manager("args", 4), "--webhook-port=9444"},
		{"webhook: {port: 9444}", "Service fleet-webhook-service", []any{"spec", "ports", 0, "targetPort"}, "9444"},
		{"certManager: {enabled: false}\nwebhook: {caBundle: Q0E=}", "MutatingWebhookConfiguration fleet-mutating-webhook-configuration", []any{"webhooks", 1, "clientConfig", "caBundle"}, "Q0E="},
		{"certManager: {enabled: false}", "MutatingWebhookConfiguration fleet-mutating-webhook-configuration", []any{"metadata", "annotations"}, "<nil>"},
		{"certManager: {enabled: false}", "Certificate fleet-serving-cert", nil, "<nil>"},
		{"prometheus: {enabled: true}", "ServiceMonitor fleet-controller-manager-metrics-monitor", []any{"metadata", "namespace"}, "other"},
		{"manager: {healthProbe: {port: 8088}}", deployment, manager("args", 2), "--health-probe-bind-address=:8088"},
		{"manager: {healthProbe: {port: 8088}}", deployment, manager("ports", 0, "containerPort"), "8088"},
		{"manager: {healthProbe: {port: 8088}}", deployment, manager("readinessProbe", "httpGet", "port"), "health"},
		{"manager: {healthProbe: null}", deployment, manager("ports", 0, "containerPort"), "8081"},
		{"manager: {args: ['--name={{ .Release.Name }}', '--port={{ .Values.metrics.port }}']}", deployment, manager("args", 1), "--name=ocean"},
		{"manager: {args: ['--name={{ .Release.Name }}', '--port={{ .Values.metrics.port }}']}", deployment, manager("args", 2), "--port=8443"},
		{"prometheus: {enabled: true, labels: {release: prom, control-plane: x}}", "ServiceMonitor fleet-controller-manager-metrics-monitor", []any{"metadata", "labels", "release"}, "prom"},
		{"prometheus: {enabled: true, labels: {release: prom, control-plane: x}}", "ServiceMonitor fleet-controller-manager-metrics-monitor", []any{"metadata", "labels", "control-plane"}, "controller-manager"},
		{"prometheus: {enabled: true, annotations: {team: sea}}", "ServiceMonitor fleet-controller-manager-metrics-monitor", []any{"metadata", "annotations"}, "map[team:sea]"},
		{"prometheus: {enabled: true}\nmetrics: {secure: false}", "ServiceMonitor fleet-controller-manager-metrics-monitor", []any{"spec", "endpoints", 0, "scheme"}, "http"},
		{"networkPolicy: {enabled: true}\nmetrics: {port: 9000}", "NetworkPolicy fleet-allow-metrics-traffic", []any{"spec", "ingress", 0, "ports", 0, "port"}, "9000"},
		{"networkPolicy: {enabled: true}\nwebhook: {enabled: false}", "NetworkPolicy fleet-allow-webhook-traffic", nil, "<nil>"},
	} {
		if err := chartutil.ValidateAgainstSingleSchema(merged(t, files, tc.values), files["values.schema.json"]); err != nil {
			t.Errorf("%s: %v", tc.values, err)
		}
		objects, err := rendered(t, files, parse(t, tc.values), "ocean", "other")
		if err != nil {
			t.Errorf("%s: %v", tc.values, err)
			continue
		}
		o := objects[tc.object]
		if o == nil {
			o = &unstructured.Unstructured{}
			if tc.path != nil {
				t.Errorf("%s: no %s", tc.values, tc.object)
			}
		}
		var got any
		if o.Object != nil {
			got = find(o.Object, tc.path...)
		}
		if fmt.Sprint(got) != tc.want {
			t.Errorf("%s: %s has %v at %v, want %s", tc.values, tc.object, got, tc.path, tc.want)
		}
	}
}

// merged returns values with the defaults of the chart, as Helm validates them.
func merged(t *testing.T, files map[string][]byte, values string) chartutil.Values {
	t.Helper()
	return chartutil.CoalesceTables(parse(t, values), parse(t, string(files["values.yaml"])))
}

// TestSchema checks that values.schema.json refuses mistakes.
func TestSchema(t *testing.T) {
	files := write(t, disk(t, "fleet"))
	for values, want := range map[string]string{
		"manager: {replicas: -1}":               "manager/replicas",
		"manager: {replicas: two}":              "manager/replicas",
		"manager: {replica: 2}":                 "replica",
		"manager: {image: {pullPolicy: Often}}": "pullPolicy",
		"manager: {args: [1]}":                  "args",
		"manager: {healthProbe: {port: 0}}":     "healthProbe/port",
		"prometheus: {labels: {a: 1}}":          "prometheus/labels",
		"manager: {env: [LEVEL]}":               "env",
		"rbac: {namespaced: false}":             "namespaced",
		"metrics: {port: 0}":                    "port",
		"metrics: {enable: true}":               "enable",
		"manager: {envOverrides: {A: [1]}}":     "envOverrides",
		"crd: {keep: 'yes'}":                    "keep",
		"fullnameOverride: Sea":                 "fullnameOverride",
	} {
		err := chartutil.ValidateAgainstSingleSchema(merged(t, files, values), files["values.schema.json"])
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), ".", "/"), want) {
			t.Errorf("%s: %v, want an error about %s", values, err, want)
		}
	}
	if err := chartutil.ValidateAgainstSingleSchema(merged(t, files, "mine: {any: value}"), files["values.schema.json"]); err != nil {
		t.Error(err)
	}
}

// TestTexts checks that texts of manifests are no templates, and that names are replaced in texts, but not in parts of
// other names.
func TestTexts(t *testing.T) {
	fsys := disk(t, "s3-operator")
	const text = "{{ .Values.none }} }} {{\"{{\"}}"
	change(t, fsys, "config/manager/kustomization.yaml", "- manager.yaml", "- manager.yaml\n- texts.yaml")
	if err := afero.WriteFile(fsys, "config/manager/texts.yaml", []byte(`apiVersion: v1
kind: ConfigMap
metadata:
  name: texts
  namespace: system
data:
  braces: '`+text+`'
  names: s3-operator-texts,s3-operator-texts s3-operator-textsbook s3-operator-texts.s3-operator-system.svc
  digits: "0644"
  literal: |
    {{ a }}
     s3-operator-texts
`), 0o644); err != nil {
		t.Fatal(err)
	}
	objects, err := rendered(t, write(t, fsys), parse(t, "fullnameOverride: x"), "r", "1234")
	if err != nil {
		t.Fatal(err)
	}
	texts := objects["ConfigMap x-texts"]
	if texts == nil {
		t.Fatalf("no ConfigMap in %v", objects)
	}
	for key, want := range map[string]string{"braces": text, "names": "x-texts,x-texts s3-operator-textsbook x-texts.1234.svc", "digits": "0644", "literal": "{{ a }}\n x-texts\n"} {
		if got := find(texts.Object, "data", key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := texts.GetNamespace(); got != "1234" {
		t.Errorf("the namespace is %q", got)
	}
}

// change replaces a text in a file.
func change(t *testing.T, fsys afero.Fs, name, before, after string) {
	t.Helper()
	content, err := afero.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), before) {
		t.Fatalf("%s lacks %q:\n%s", name, before, content)
	}
	if err := afero.WriteFile(fsys, name, []byte(strings.Replace(string(content), before, after, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNotes looks for what a release without webhooks, and so without conversion of its kinds, tells the user.
func TestNotes(t *testing.T) {
	for _, tc := range []struct {
		project, values string
		want            bool
	}{{"fleet", "webhook: {enabled: false}", true}, {"fleet", "{}", false}, {"s3-operator", "{}", false}} {
		c, err := helm.LoadFiles(write(t, disk(t, tc.project)))
		if err != nil {
			t.Fatal(err)
		}
		texts, err := helm.Render(c, parse(t, tc.values), helm.Release{Name: "r", Namespace: "n"}, helm.Cluster{Version: "v1.36.0"})
		if err != nil {
			t.Fatal(err)
		}
		notes := ""
		for name, text := range texts {
			if strings.HasSuffix(name, "NOTES.txt") {
				notes = strings.Join(strings.Fields(text), " ")
			}
		}
		const off = "Webhooks are off: invalid objects are not refused, and objects are not converted. Of kinds with several versions, use only the stored one."
		if !strings.Contains(notes, "is installed in the namespace n.") || strings.Contains(notes, off) != tc.want {
			t.Errorf("%s with %s: %q", tc.project, tc.values, notes)
		}
	}
}
