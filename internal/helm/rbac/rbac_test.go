package rbac

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/roles"
	"golang.org/x/tools/txtar"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// chartOf returns a chart with files in the form of txtar.
func chartOf(t *testing.T, files string) *helmchart.Chart {
	t.Helper()
	all := []*loader.BufferedFile{{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")}}
	for _, f := range txtar.Parse([]byte(files)).Files {
		if f.Name == "Chart.yaml" {
			all[0].Data = append(all[0].Data, f.Data...)
			continue
		}
		all = append(all, &loader.BufferedFile{Name: f.Name, Data: f.Data})
	}
	c, err := loader.LoadFiles(all)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// summary lists the rules, except for the rules for releases, and the findings.
func summary(r *Report) string {
	var out strings.Builder
	for _, role := range Roles(false, r) {
		scope := "namespace " + role.Namespace
		if role.Cluster {
			scope = "cluster"
		}
		for _, rule := range role.Rules {
			origins := slices.DeleteFunc(slices.Clone(rule.Origins), func(o roles.Origin) bool { return o.File == "watches.yaml" && o.Why != "the operator reconciles Web" })
			if len(origins) == 0 {
				continue
			}
			subject := strings.Join(rule.Resources, ",") + strings.Join(rule.NonResourceURLs, ",")
			if len(rule.ResourceNames) > 0 {
				subject += " " + strings.Join(rule.ResourceNames, ",")
			}
			fmt.Fprintf(&out, "%s: %s: %s\n", strings.TrimSpace(scope), subject, strings.Join(rule.Verbs, " "))
			for _, o := range origins {
				fmt.Fprintf(&out, "  %s: %s\n", o.File, o.Why)
			}
		}
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&out, "%s:%d: %s: %s\n", f.File, f.Line, f.Rule, f.Message)
	}
	return out.String()
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

func TestDerive(t *testing.T) {
	t.Parallel()
	const all = "create delete get list patch update watch"
	for name, tc := range map[string]struct {
		files   string
		options Options
		want    string
	}{
		"an object": {"-- templates/a.yaml --\n" + configMap, Options{}, "cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap\n"},
		"an operator that does not watch objects": {"-- templates/a.yaml --\n" + configMap, Options{Unwatched: true},
			"cluster: configmaps: create delete get patch update\n  templates/a.yaml: ConfigMap\n"},
		"a random text": {"-- templates/a.yaml --\n" + configMap + "data:\n  a: {{ randAlphaNum 8 }}\n", Options{LooksUp: true},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap\ntemplates/a.yaml:5: chart-unstable: two renderings differ, so helm-operator upgrades " +
				"the release each time it compares it with the cluster: use a value, or keep the object that lookup finds, with dryRunOption: server in watches.yaml\n"},
		"a random text that is kept": {"-- templates/a.yaml --\n{{ $old := lookup \"v1\" \"ConfigMap\" \"n\" \"a\" }}\n" + configMap + "data:\n  a: {{ if $old }}{{ $old.metadata.name }}{{ else }}{{ randAlphaNum 8 }}{{ end }}\n",
			Options{LooksUp: true}, "cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap\n"},
		"a lookup that a dry run does not do": {"-- templates/a.yaml --\n{{ $old := lookup \"v1\" \"ConfigMap\" \"n\" \"a\" }}\n" + configMap + "data:\n  a: {{ if $old }}x{{ end }}y\n",
			Options{}, "cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap\n" +
				"templates/a.yaml:1: chart-unstable: lookup finds nothing in a dry run, so helm-operator upgrades the release each time it compares it with the cluster: set dryRunOption: server in watches.yaml\n"},
		"a time": {"-- templates/a.yaml --\n" + configMap + "data:\n  a: {{ now | date \"2006-01-02\" | quote }}\n-- templates/NOTES.txt --\n{{ now }}\n", Options{LooksUp: true},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap\ntemplates/a.yaml:5: chart-unstable: two renderings differ, so helm-operator upgrades " +
				"the release each time it compares it with the cluster: use a value, or keep the object that lookup finds, with dryRunOption: server in watches.yaml\n"},
		"a hook with a random name": {"-- templates/a.yaml --\n" + configMap + "---\n" +
			strings.Replace(configMap, "{name: a}", `{name: '{{ randAlpha 4 | lower }}', annotations: {"helm.sh/hook": post-install}}`, 1), Options{}, "cluster: configmaps: " + all +
			"\n  templates/a.yaml: ConfigMap\n"},
		"a template that needs what lookup finds": {"-- templates/a.yaml --\n{{ $old := lookup \"v1\" \"ConfigMap\" \"n\" \"a\" }}\n" + configMap + "data:\n  a: {{ if $old }}{{ index $old.data \"x\" | b64dec }}{{ end }}y\n",
			Options{}, "cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap\n" +
				"templates/a.yaml:1: chart-unstable: lookup finds nothing in a dry run, so helm-operator upgrades the release each time it compares it with the cluster: set dryRunOption: server in watches.yaml\n"},
		"a time that does not change":  {"-- templates/a.yaml --\n" + configMap + "data:\n  a: \"{{ now | date \"x\" }}\"\n", Options{}, "cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap\n"},
		"an operator of one namespace": {"-- templates/a.yaml --\n" + configMap, Options{Namespaced: true}, "namespace: configmaps: " + all + "\n  templates/a.yaml: ConfigMap\n"},
		"a boolean": {"-- values.yaml --\nshow: false\n-- templates/a.yaml --\n{{ if .Values.show }}\n" + configMap + "{{ end }}", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap with show=true\n"},
		"a boolean that another one enables": {"-- values.yaml --\na: {enabled: false, b: {show: false}}\n-- templates/a.yaml --\n{{ if and .Values.a.enabled .Values.a.b.show }}\n" + configMap + "{{ end }}", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap with a.b.show=true\n"},
		"booleans that refuse each other": {"-- values.yaml --\na: false\nb: false\nc: false\n-- templates/a.yaml --\n{{ if and .Values.a .Values.b }}{{ fail \"no\" }}{{ end }}{{ if and .Values.a .Values.c }}\n" + configMap + "{{ end }}", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap with all booleans true\n"},
		"a compared value": {"-- values.yaml --\nkind: Deployment\n-- templates/a.yaml --\n{{ if eq .Values.kind \"DaemonSet\" }}\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\n{{ end }}", Options{},
			"cluster: daemonsets: " + all + "\n  templates/a.yaml: DaemonSet with kind=DaemonSet\n"},
		"an empty value": {"-- values.yaml --\npdb: {}\n-- templates/a.yaml --\n{{ with .Values.pdb }}\n" + configMap + "data: {{ toJson . }}\n{{ end }}", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap with pdb={\"key\":\"value\"}\n"},
		"a boolean without a name in the templates": {"-- values.yaml --\nsettings: {debug: false}\nparts: {log: false}\n-- templates/a.yaml --\n{{ range $name, $on := .Values.parts }}{{ if $on }}\n" + configMap + "data: {{ toJson $.Values.settings }}\n{{ end }}{{ end }}", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap with parts.log=true\n"},
		"values in ci": {"-- values.yaml --\nlist: []\n-- ci/list-values.yaml --\nlist: [{kind: ConfigMap}]\n-- templates/a.yaml --\n{{ range .Values.list }}\napiVersion: v1\nkind: {{ .kind }}\nmetadata: {name: a}\n{{ end }}", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap with ci/list-values.yaml\ntemplates/a.yaml:3: chart-unseen: the template computes the kind; the sets of values show ConfigMap\n"},
		"an upgrade": {"-- templates/a.yaml --\n{{ if .Release.IsUpgrade }}\n" + configMap + "{{ end }}", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap in upgrades\n"},
		"an optional API": {"-- templates/a.yaml --\n{{ if .Capabilities.APIVersions.Has \"route.openshift.io/v1\" }}\napiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {name: a}\n{{ else }}\n" + configMap + "{{ end }}", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap without optional APIs\ncluster: routes: " + all + "\n  templates/a.yaml: Route\n"},
		"overrides": {"-- values.yaml --\nshow: false\n-- templates/a.yaml --\n{{ if .Values.show }}\n" + configMap + "{{ end }}", Options{Overrides: map[string]any{"show": false}},
			"templates/a.yaml:3: chart-unseen: no set of values renders the ConfigMap here\n"},
		"a hook": {"-- templates/a.yaml --\n" + strings.Replace(configMap, "{name: a}", `{name: a, annotations: {"helm.sh/hook": pre-install}}`, 1), Options{},
			"cluster: configmaps: create delete get\n  templates/a.yaml: ConfigMap, hook pre-install\n"},
		"a test": {"-- templates/tests/a.yaml --\n" + strings.Replace(strings.Replace(configMap, "{name: a}", `{name: a, annotations: {"helm.sh/hook": test}}`, 1), "ConfigMap", "Pod", 1), Options{},
			"cluster: pods: create delete get list watch\n  templates/tests/a.yaml: Pod, hook test\n"},
		"a job with logs": {"-- templates/a.yaml --\napiVersion: batch/v1\nkind: Job\nmetadata: {name: a, annotations: {helm.sh/hook: post-upgrade, helm.sh/hook-output-log-policy: hook-failed}}\n", Options{},
			"cluster: pods: list\n  templates/a.yaml: Job, hook post-upgrade\ncluster: pods/log: get\n  templates/a.yaml: Job, hook post-upgrade\ncluster: jobs: create delete get list watch\n  templates/a.yaml: Job, hook post-upgrade\n"},
		"an object that Helm keeps": {"-- templates/a.yaml --\n" + strings.Replace(configMap, "{name: a}", `{name: a, annotations: {"helm.sh/resource-policy": keep}}`, 1), Options{},
			"cluster: configmaps: create get list patch update watch\n  templates/a.yaml: ConfigMap\n"},
		"a list": {"-- templates/a.yaml --\napiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap\n"},
		"a CRD": {"-- crds/a.yaml --\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: oxen.x.io}\nspec: {group: x.io, scope: Cluster, names: {kind: Ox, plural: oxen}, versions: [{name: v1, served: true, storage: true}]}\n" +
			"-- templates/a.yaml --\napiVersion: x.io/v1\nkind: Ox\nmetadata: {name: a}\n", Options{},
			"cluster: customresourcedefinitions: create get\n  crds/a.yaml: CustomResourceDefinition\ncluster: oxen: " + all + "\n  templates/a.yaml: Ox\n"},
		"an unknown kind": {"-- templates/a.yaml --\napiVersion: x.io/v1\nkind: Widget\nmetadata: {name: a}\n", Options{},
			"cluster: widgets: " + all + "\n  templates/a.yaml: Widget\ntemplates/a.yaml:0: chart-unknown-kind: neither Kubernetes nor a known CRD defines x.io/v1 Widget: the rule for widgets is a guess; name the file of its CRD with --crd\n"},
		"lookup": {"-- templates/a.yaml --\n{{ $s := (lookup \"v1\" \"Secret\" .Release.Namespace \"s\").data }}{{ if (lookup \"v1\" \"Namespace\" \"\" \"\").items }}x: y\n{{ end }}", Options{},
			"cluster: namespaces: list\n  templates/a.yaml: lookup of Namespace\ncluster: secrets: create delete get list update watch\n  templates/a.yaml: lookup of Secret\n"},
		"a computed lookup": {"-- templates/a.yaml --\n{{ range list \"Node\" }}{{ $n := lookup \"v1\" . \"\" \"a\" }}{{ end }}", Options{},
			"cluster: nodes: get\n  templates/a.yaml: lookup of Node\n"},
		"a role": {"-- templates/a.yaml --\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{apiGroups: [\"\"], resources: [pods], resourceNames: [x], verbs: [get]}]\n", Options{},
			"cluster: pods x: get\n  templates/a.yaml: Role grants it\ncluster: roles: " + all + "\n  templates/a.yaml: Role\n"},
		"a cluster role": {"-- templates/a.yaml --\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules: [{nonResourceURLs: [/metrics], verbs: [get]}]\n", Options{Namespaced: true},
			"cluster: /metrics: get\n  templates/a.yaml: ClusterRole grants it\ncluster: clusterroles: " + all + "\n  templates/a.yaml: ClusterRole\ntemplates/a.yaml:0: chart-cluster-scope: the chart creates a ClusterRole, but the operator watches one namespace: the operator needs permissions outside of it\n"},
		"roles of many permissions": {"-- templates/a.yaml --\n{{ range list \"verbs: ['*'], apiGroups: [''], resources: [pods]\" \"verbs: [get], apiGroups: ['*'], resources: [pods]\" \"verbs: [get, list], apiGroups: [''], resources: ['*']\" \"verbs: [get], nonResourceURLs: ['*']\" }}\n---\n" +
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{ {{ . }} }]\n{{ end }}", Options{Unwatched: true},
			"cluster: *: get\n  templates/a.yaml: Role grants it\ncluster: *: get list\n  templates/a.yaml: Role grants it\ncluster: pods: *\n  templates/a.yaml: Role grants it\ncluster: pods: get\n  templates/a.yaml: Role grants it\ncluster: roles: create delete get patch update\n  templates/a.yaml: Role\n" +
				"templates/a.yaml:0: chart-escalation: Role a grants all verbs on pods, so the operator needs that, too\n" +
				"templates/a.yaml:0: chart-escalation: Role a grants get on pods of all API groups, so the operator needs that, too\n" +
				"templates/a.yaml:0: chart-escalation: Role a grants get, list on all resources of the API groups \"\", so the operator needs that, too\n" +
				"templates/a.yaml:0: chart-escalation: Role a grants get on all URLs, so the operator needs that, too\n"},
		"numbers": {"-- templates/a.yaml --\n{{ if gt (int .Values.replicas) 1 }}\n" + configMap + "{{ end }}\n-- templates/b.yaml --\n{{ if eq (.Values.mode | int) 3 }}\n" + strings.Replace(configMap, "ConfigMap", "Service", 1) + "{{ end }}\n-- values.yaml --\nreplicas: 1\nmode: 0\n", Options{},
			"cluster: configmaps,services: " + all + "\n  templates/a.yaml: ConfigMap with replicas=2\n  templates/b.yaml: Service with mode=3\n"},
		"lists": {"-- templates/a.yaml --\n{{ if has \"maps\" .Values.features }}\n" + configMap + "{{ end }}\n-- values.yaml --\nfeatures: [others]\n", Options{},
			"cluster: configmaps: " + all + "\n  templates/a.yaml: ConfigMap with features=[\"maps\"]\n"},
		"lookups of unknown kinds": {"-- templates/a.yaml --\n{{ if .Values.never.so }}{{ $n := lookup \"v1\" .Values.kind \"\" \"a\" }}\n{{ $n := lookup .Values.version \"Node\" \"\" \"a\" }}{{ end }}\n-- values.yaml --\nnever: {so: false}\n", Options{Overrides: map[string]any{"never": map[string]any{"so": false}}},
			"templates/a.yaml:1: chart-unseen: no set of values shows the kind that lookup reads here\ntemplates/a.yaml:2: chart-unseen: no set of values shows the kind that lookup reads here\n"},
		"bindings": {"-- templates/a.yaml --\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a}\nroleRef: {kind: Role, name: a}\n---\n" +
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b}\nroleRef: {kind: ClusterRole, name: view}\n", Options{},
			"cluster: clusterroles view: bind\n  templates/a.yaml: RoleBinding binds it\ncluster: rolebindings,roles: " + all + "\n  templates/a.yaml: Role\n  templates/a.yaml: RoleBinding\n"},
		"a role of all permissions": {"-- templates/a.yaml --\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\naggregationRule: {}\nrules: [{apiGroups: [\"*\"], resources: [\"*\"], verbs: [\"*\"]}]\n", Options{},
			"cluster: *: *\n  templates/a.yaml: ClusterRole\n  templates/a.yaml: ClusterRole grants it\n" +
				"templates/a.yaml:0: chart-escalation: only an account with all permissions may create a ClusterRole with an aggregationRule, which the chart has: list its rules instead, or create it outside of the chart\n" +
				"templates/a.yaml:0: chart-escalation: ClusterRole a grants all permissions, so the operator needs that, too\n"},
		"another namespace": {"-- templates/a.yaml --\n" + strings.Replace(configMap, "{name: a}", "{name: a, namespace: ops}", 1), Options{Namespaced: true, Unwatched: true},
			"namespace ops: configmaps: create delete get patch update\n  templates/a.yaml: ConfigMap\ntemplates/a.yaml:0: chart-cluster-scope: the chart creates a ConfigMap in namespace ops, but the operator watches one namespace: the operator needs permissions outside of it\n"},
		"a custom resource": {"", Options{Resource: Resource{GroupVersionKind: schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Web"}}},
			"cluster: webs: get list update watch\n  watches.yaml: the operator reconciles Web\ncluster: webs/finalizers,webs/status: update\n  watches.yaml: the operator reconciles Web\n"},
		"a dependency with an alias": {"-- Chart.yaml --\ndependencies: [{name: db, alias: store, version: 1.0.0, condition: store.enabled}]\n-- values.yaml --\nstore: {enabled: false}\n" +
			"-- charts/db/Chart.yaml --\napiVersion: v2\nname: db\nversion: 1.0.0\n-- charts/db/values.yaml --\nbackup: false\n-- charts/db/templates/a.yaml --\n{{ if .Values.backup }}\n" + configMap + "{{ end }}", Options{Folder: "helm-charts/web"},
			"cluster: configmaps: " + all + "\n  helm-charts/web/charts/db/templates/a.yaml: ConfigMap with store.backup=true\n"},
		"a dependency in a version that Chart.yaml does not list": {"-- Chart.yaml --\ndependencies: [{name: db, alias: store, version: 2.0.0, condition: store.enabled}]\n-- values.yaml --\nstore: {enabled: false}\n" +
			"-- charts/db/Chart.yaml --\napiVersion: v2\nname: db\nversion: 1.0.0\n-- charts/db/values.yaml --\nbackup: false\n-- charts/db/templates/a.yaml --\n{{ if .Values.backup }}\n" + configMap + "{{ end }}", Options{},
			"cluster: configmaps: " + all + "\n  charts/db/templates/a.yaml: ConfigMap with db.backup=true\n"},
		"unseen kinds": {"-- templates/a.yaml --\n{{ if .Values.a.b }}{{ end }}\n{{/* kind: No */}}\n{{ if eq 1 2 }}\nkind: ConfigMap\n{{ end }}\n{{ range .Values.extra }}\nkind: {{ . }}\n{{ end }}\n" +
			"-- templates/b.yaml --\n{{ range .Values.objects }}\n{{ toYaml . }}\n{{ end }}\n-- values.yaml --\na: {}\n" +
			"-- templates/c.yaml --\n{{ if eq 1 2 }}\nkind: {{ ternary \"Role\" \"ClusterRole\" true }}\nroleRef:\n  kind: Role\n{{ end }}\n", Options{},
			"templates/a.yaml:4: chart-unseen: no set of values renders the ConfigMap here\ntemplates/a.yaml:7: chart-unseen: the template computes the kind, and no set of values renders an object here\n" +
				"templates/b.yaml:1: chart-unseen: no set of values renders an object from this template\ntemplates/c.yaml:2: chart-unseen: no set of values renders the Role here\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Derive(context.Background(), chartOf(t, tc.files), tc.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, summary(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReleases checks the rules for releases, which each chart has.
func TestReleases(t *testing.T) {
	t.Parallel()
	r, err := Derive(context.Background(), chartOf(t, ""), Options{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := Roles(false, r).File(roles.Scaffolded)
	const want = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
rules:
# watches.yaml: the operator reports events (create, patch)
- apiGroups:
  - ""
  resources:
  - events
  verbs:
  - create
  - patch
# watches.yaml: releases are stored in Secrets (create, delete, get, list, update, watch)
- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - create
  - delete
  - get
  - list
  - update
  - watch
`
	if diff := cmp.Diff(want, string(content)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestNamespacedRoles checks that an operator of one namespace has a ClusterRole only if it needs one.
func TestNamespacedRoles(t *testing.T) {
	t.Parallel()
	for files, want := range map[string]string{
		"-- templates/a.yaml --\n" + configMap:                                                             "Role ",
		"-- templates/a.yaml --\n" + strings.Replace(configMap, "ConfigMap", "Namespace", 1):               "Role  ClusterRole ",
		"-- templates/a.yaml --\n" + strings.Replace(configMap, "{name: a}", "{name: a, namespace: b}", 1): "Role  Role b",
	} {
		r, err := Derive(context.Background(), chartOf(t, files), Options{Namespaced: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, role := range Roles(true, r) {
			kind := "Role "
			if role.Cluster {
				kind = "ClusterRole "
			}
			got = append(got, kind+role.Namespace)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %q, want %q", files, got, want)
		}
	}
	if list := Roles(true); len(list) != 1 || list[0].Cluster {
		t.Errorf("without charts: %+v", list)
	}
}

// TestFailures checks charts that do not render.
func TestFailures(t *testing.T) {
	t.Parallel()
	const required = "-- values.yaml --\nhost: \"\"\n-- templates/a.yaml --\n{{ $h := required \"set host\" .Values.host }}\n" + configMap
	r, err := Derive(context.Background(), chartOf(t, required), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const standIns = "cluster: configmaps: create delete get list patch update watch\n  templates/a.yaml: ConfigMap with stand-ins for required values\n" +
		"templates/a.yaml:1: chart-needs-values: the chart does not render with its defaults: set host; permissions are derived with placeholder values\n"
	if got := summary(r); got != standIns || len(r.Failed()) != 1 {
		t.Errorf("without values: %d failed sets\n%s", len(r.Failed()), got)
	}
	const never = "-- templates/a.yaml --\n{{ if not .Values.a }}{{ fail \"set a\" }}{{ end }}"
	if _, err := Derive(context.Background(), chartOf(t, never), Options{}); err == nil || err.Error() != "templates/a.yaml:1:25: set a" ||
		!strings.Contains(fault.HintOf(err), "ci/NAME-values.yaml") {
		t.Errorf("without objects: %v", err)
	}
	set, err := ReadValues("test/charts/web.yaml", []byte("host: a"))
	if err != nil {
		t.Fatal(err)
	}
	r, err = Derive(context.Background(), chartOf(t, required), Options{Values: []ValueSet{set, {Name: "empty.yaml"}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "cluster: configmaps: create delete get list patch update watch\n  templates/a.yaml: ConfigMap with test/charts/web.yaml\ntemplates/a.yaml:1: chart-render: set host (with empty.yaml)\n"
	if got := summary(r); got != want || len(r.Failed()) != 2 {
		t.Errorf("with values: %d failed sets\n%s", len(r.Failed()), got)
	}
	if _, err := ReadValues("a.yaml", []byte("# values\n[]")); err == nil || !strings.HasPrefix(err.Error(), "a.yaml:2: the values are a list, not a mapping") {
		t.Errorf("a list: %v", err)
	}
	for _, files := range []string{"-- templates/a.yaml --\n\n{{ if }}\n", "-- ci/a-values.yaml --\n- a\n"} {
		if _, err := Derive(context.Background(), chartOf(t, files), Options{}); err == nil {
			t.Errorf("no error for %q", files)
		}
	}
}

// TestHelm checks that what Helm renders from charts can be created. The results of Helm are those
// with which package chart compares its own.
func TestHelm(t *testing.T) {
	t.Parallel()
	all, err := txtar.ParseFile("../../chart/testdata/charts.txtar")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("../../chart/testdata/rendered.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []struct{ Files map[string]string }
	if err := json.Unmarshal(content, &recorded); err != nil {
		t.Fatal(err)
	}
	objects := 0
	for _, f := range all.Files {
		folder, base := filepath.Split(f.Name)
		if !strings.HasPrefix(base, "given") {
			continue
		}
		result := recorded[0]
		recorded = recorded[1:]
		var values map[string]any
		if err := json.Unmarshal(f.Data, &values); err != nil {
			t.Fatal(err)
		}
		if len(result.Files) == 0 {
			continue // Helm refuses the values
		}
		rendered, err := chart.Objects(result.Files)
		if err != nil {
			continue // charts of texts
		}
		var files []*loader.BufferedFile
		for _, f := range all.Files {
			if name, inside := strings.CutPrefix(f.Name, folder); inside {
				files = append(files, &loader.BufferedFile{Name: name, Data: f.Data})
			}
		}
		c, err := loader.LoadFiles(files)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Derive(context.Background(), c, Options{Values: []ValueSet{{f.Name, values}}})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		for _, o := range rendered {
			if o.GetKind() == "" {
				continue
			}
			objects++
			if !creates(r, o) {
				t.Errorf("%s: no rule allows creating %s %s", f.Name, o.GetAPIVersion(), o.GetKind())
			}
		}
	}
	if objects == 0 {
		t.Error("Helm renders no objects")
	}
}

// creates reports whether the permissions allow creating an object of Kubernetes.
func creates(r *Report, o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(r.Grants, func(g roles.Grant) bool {
		return g.Verb == "create" && g.Group == o.GroupVersionKind().Group && strings.HasPrefix(g.Resource, strings.ToLower(o.GetKind()))
	})
}
