package helmchart

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	helm "github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"sigs.k8s.io/yaml"
)

// edits change files below config as users do. They return what they did, or "" for nothing.
var edits = []func(*rand.Rand, map[string][]byte) string{changeField, changeField, changeField, addMetadata, dropLine, rename, enable}

func oneOf[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// changeObject changes an object in a file of manifests or of merge patches.
func changeObject(r *rand.Rand, files map[string][]byte, change func(map[string]any) string) string {
	name := oneOf(r, slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
		return strings.HasPrefix(name, "config/samples/") || strings.Contains(path.Base(name), "kustomiz")
	}))
	objects := strings.Split(string(files[name]), "\n---\n")
	i := r.IntN(len(objects))
	var o map[string]any
	if err := yaml.Unmarshal([]byte(objects[i]), &o); err != nil || o["kind"] == nil {
		return "" // a JSON patch
	}
	done := change(o)
	changed, err := yaml.Marshal(o)
	if err != nil || done == "" {
		return ""
	}
	objects[i] = string(changed)
	files[name] = []byte(strings.Join(objects, "\n---\n"))
	return name + ": " + o["kind"].(string) + ": " + done
}

// field is a key of a mapping in an object.
type field struct {
	in        map[string]any
	key, path string
}

// fields returns the fields of an object that users change, in their order.
func fields(v any, at string) (all []field) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			p := at + "/" + key
			if !slices.Contains([]string{"/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"}, p) {
				all = append(all, field{v, key, p})
			}
			all = append(all, fields(v[key], p)...)
		}
	case []any:
		for i := range v {
			all = append(all, fields(v[i], fmt.Sprint(at, "/", i))...)
		}
	}
	return all
}

var oddTexts = []any{"on", "2026", "0x1f", "a: b # c", "{{ .Values.none }}", "two\nlines\n", "'x' \"y\"", "webhook-service", "8443"}

// changeField deletes a field of an object, empties it, or changes its value.
func changeField(r *rand.Rand, files map[string][]byte) string {
	return changeObject(r, files, func(o map[string]any) string {
		f := oneOf(r, fields(o, ""))
		if r.IntN(3) == 0 {
			delete(f.in, f.key)
			return "no " + f.path
		}
		switch v := f.in[f.key].(type) {
		case string:
			f.in[f.key] = oneOf(r, oddTexts)
		case bool:
			f.in[f.key] = !v
		case float64:
			f.in[f.key] = v + 1
		case []any:
			f.in[f.key] = oneOf(r, [][]any{{}, append(slices.Clone(v), v...), v[:len(v)/2]})
		case map[string]any:
			f.in[f.key] = map[string]any{}
		}
		return fmt.Sprintf("%s is %#v", f.path, f.in[f.key])
	})
}

// addMetadata adds a label and an annotation to an object.
func addMetadata(r *rand.Rand, files map[string][]byte) string {
	return changeObject(r, files, func(o map[string]any) string {
		metadata, _ := o["metadata"].(map[string]any)
		for key, value := range map[string]any{"labels": oneOf(r, []any{"on", "1", "1e3", "a"}), "annotations": oneOf(r, oddTexts)} {
			m, _ := metadata[key].(map[string]any)
			if m == nil {
				m = map[string]any{}
				metadata[key] = m
			}
			m["example.org/added"] = value
		}
		return "metadata"
	})
}

var listLine = regexp.MustCompile(`(?m)^- .*\n`)

// dropLine removes a line of a list in a kustomization.
func dropLine(r *rand.Rand, files map[string][]byte) string {
	name := oneOf(r, slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return path.Base(name) != "kustomization.yaml" }))
	lines := listLine.FindAllString(string(files[name]), -1)
	if len(lines) == 0 {
		return ""
	}
	line := oneOf(r, lines)
	files[name] = []byte(strings.Replace(string(files[name]), line, "", 1))
	return name + " without " + line
}

// rename renames objects everywhere, or changes the prefix or the namespace.
func rename(r *rand.Rand, files map[string][]byte) string {
	setting := regexp.MustCompile(`(?m)^name(Prefix|space): .*$`).FindString(string(files[defaultFile]))
	before := oneOf(r, []string{"controller-manager-metrics-service", "controller-manager-metrics-monitor", "webhook-service", "serving-cert",
		"selfsigned-issuer", "allow-metrics-traffic", "metrics-auth-role", "controller-manager", "leader-election-role", "manager-role", setting})
	after := oneOf(r, []string{"boat", "metrics", "a.b", "webhook-x"})
	if key, _, found := strings.Cut(before, ":"); found {
		after = oneOf(r, []string{key + ": x", key + ": metrics-webhook", "# none"})
	}
	for name, content := range files {
		if before != "" { // the setting may be gone
			files[name] = []byte(strings.ReplaceAll(string(content), before, after))
		}
	}
	return before + " is " + after
}

// enable enables commented parts of config: a folder, or the certificates for metrics.
func enable(r *rand.Rand, files map[string][]byte) string {
	lines := oneOf(r, [][]string{{"- ../prometheus"}, {"- ../network-policy"}, {
		"- certificate-metrics.yaml", "- path: cert_metrics_manager_patch.yaml\n  target:\n    kind: Deployment\n    name: controller-manager",
		"patches:\n- path: monitor_tls_patch.yaml\n  target:\n    kind: ServiceMonitor\n    name: controller-manager-metrics-monitor",
	}})
	for name, content := range files {
		text := string(content)
		for _, line := range lines {
			text = strings.Replace(text, "#"+strings.ReplaceAll(line, "\n", "\n#"), line, 1)
		}
		if len(lines) > 1 {
			text = strings.Replace(text, "[{path: webhook_", "[{path: metrics_replacements.yaml}, {path: webhook_", 1)
		}
		files[name] = []byte(text)
	}
	return lines[0]
}

// builds returns the objects of config/default if kustomize builds it, and an API server may accept them.
func builds(files map[string][]byte) ([]kustomize.Object, bool) {
	built, err := kustomize.BuildFiles(files, path.Join(configDir, "default"), kustomize.Options{Quiet: true})
	if err != nil || slices.ContainsFunc(built.Objects, func(o kustomize.Object) bool {
		return validate(o.Unstructured) != nil || len(helm.Lint(o.Unstructured)) > 0
	}) {
		return nil, false
	}
	return built.Objects, true
}

// TestEditedConfig makes the chart of projects whose users edited any files below config: the chart installs what config/default
// installs, and with the values for optional folders, what it installs if it lists them.
func TestEditedConfig(t *testing.T) {
	charts := 0
	for seed := range uint64(len(manifestChanges)) {
		name := []string{"fleet", "memcached"}[seed%2]
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same changes each time
		fsys := disk(t, name)
		done := changeManifests(t, fsys, []int{int(seed)})
		files := configFiles(t, fsys)
		for range r.IntN(4) {
			done = append(done, oneOf(r, edits)(r, files))
		}
		want, valid := builds(files)
		if !valid {
			continue
		}
		for file, content := range files {
			if err := afero.WriteFile(fsys, file, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p, err := newPlan(t, fsys, scaffold.Options{Command: "test"})
		if err != nil {
			if fault.HintOf(err) == "" {
				t.Errorf("%s %d: %v\n%s", name, seed, err, strings.Join(done, "\n"))
			}
			continue
		}
		chart, err := p.ReadBelow("dist/chart")
		if err != nil {
			t.Fatal(err)
		}
		charts++
		wantObjects(t, want, chart, map[string]any{}, name, namespaceIn(t, files))
		wantOptional(t, files, chart, name)
		if t.Failed() {
			t.Fatalf("%s %d:\n%s", name, seed, strings.Join(done, "\n"))
		}
	}
	if charts < 20 {
		t.Errorf("%d charts: this compares little", charts)
	}
}

// wantOptional compares the chart with its optional folders with config/default that lists them.
func wantOptional(t *testing.T, files, chart map[string][]byte, name string) {
	t.Helper()
	values, all := map[string]any{}, maps.Clone(files)
	for section, dir := range map[string]string{"prometheus": "prometheus", "networkPolicy": "network-policy"} {
		if on := find(parse(t, string(chart["values.yaml"])), section, "enabled"); on == false {
			values[section] = map[string]any{"enabled": true}
			all[defaultFile] = []byte(strings.Replace(string(all[defaultFile]), "#- ../"+dir, "- ../"+dir, 1))
		}
	}
	if want, valid := builds(all); valid && len(values) > 0 {
		wantObjects(t, want, chart, values, name, namespaceIn(t, files))
	}
}

// TestValuesOfEditedConfig renders charts of edited projects with values that switch parts off, and looks at one field.
func TestValuesOfEditedConfig(t *testing.T) {
	const (
		crd      = "CustomResourceDefinition frigates.ship.example.org"
		webhooks = "MutatingWebhookConfiguration fleet-mutating-webhook-configuration"
		monitor  = "ServiceMonitor fleet-controller-manager-metrics-monitor"
		account  = "config/rbac/service_account.yaml"
		second   = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: second, namespace: system, annotations: {a: b}}\n"
		policy   = "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: limits}\n"
	)
	for name, tc := range map[string]struct {
		file, before, after, values, object string
		path                                []any
		want                                string
	}{
		"a CRD that has no other annotation is kept": {"config/crd/bases/ship.example.org_frigates.yaml", "    controller-gen.kubebuilder.io/version: v0.23.0\n", "    {}\n",
			"certManager: {enabled: false}", crd, []any{"metadata", "annotations"}, "map[helm.sh/resource-policy:keep]"},
		"another account":             {account, "", second, "serviceAccount: {annotations: {c: d}, labels: {e: f}}", "ServiceAccount fleet-second", []any{"metadata", "annotations"}, "map[a:b]"},
		"another account stays":       {account, "", second, "serviceAccount: {enabled: false, name: x}", "ServiceAccount fleet-second", []any{"metadata", "labels"}, "<nil>"},
		"an account outside of it":    {"config/manager/manager.yaml", "serviceAccountName: controller-manager", "serviceAccountName: mine", "{}", "Deployment fleet-controller-manager", []any{"spec", "template", "spec", "serviceAccountName"}, "mine"},
		"a placeholder for the CA":    {"config/crd/patches/webhook_in_ship_frigates.yaml", "      clientConfig:\n", "      clientConfig:\n        caBundle: Cg==\n", "{}", crd, []any{"spec", "conversion", "webhook", "clientConfig", "caBundle"}, "Cg=="},
		"the CA of the user":          {"config/crd/patches/webhook_in_ship_frigates.yaml", "      clientConfig:\n", "      clientConfig:\n        caBundle: Cg==\n", "webhook: {caBundle: Q0E=}", crd, []any{"spec", "conversion", "webhook", "clientConfig", "caBundle"}, "Q0E="},
		"a policy is no webhook":      {"config/webhook/service.yaml", "", policy, "webhook: {enabled: false}", "ValidatingAdmissionPolicy fleet-limits", []any{"kind"}, "ValidatingAdmissionPolicy"},
		"the namespace of webhooks":   {account, "", "", "{}", webhooks, []any{"webhooks", 0, "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"}, "other"},
		"prefix with words, roles":    {defaultFile, "namePrefix: fleet-", "namePrefix: metrics-webhook-", "metrics: {enabled: false}", "ClusterRole metrics-webhook-manager-role", []any{"kind"}, "ClusterRole"},
		"prefix with words, Services": {defaultFile, "namePrefix: fleet-", "namePrefix: metrics-", "metrics: {enabled: false}", "Service metrics-webhook-service", []any{"kind"}, "Service"},
		"metrics over HTTP":           {"config/manager/manager.yaml", "          - --leader-elect\n", "          - --leader-elect\n          - --metrics-secure=false\n", "prometheus: {enabled: true}", monitor, []any{"spec", "endpoints", 0, "scheme"}, "https"},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := disk(t, "fleet")
			if tc.before != "" {
				change(t, fsys, tc.file, tc.before, tc.after)
			} else if content, err := afero.ReadFile(fsys, tc.file); err != nil || afero.WriteFile(fsys, tc.file, append(content, tc.after...), 0o644) != nil {
				t.Fatal(err)
			}
			objects, err := rendered(t, write(t, fsys), parse(t, tc.values), "ocean", "other")
			if err != nil || objects[tc.object] == nil {
				t.Fatalf("%v, no %s in %v", err, tc.object, slices.Sorted(maps.Keys(objects)))
			}
			if got := fmt.Sprint(find(objects[tc.object].Object, tc.path...)); got != tc.want {
				t.Errorf("%v is %s, want %s", tc.path, got, tc.want)
			}
		})
	}
}
