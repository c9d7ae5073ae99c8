package kinds

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// crontabs has an unusual singular, a version that is not served, and versions
// whose order is not that of their letters.
const crontabs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  names: {kind: CronTab, plural: crontabs, singular: tab, shortNames: [ct], categories: [all]}
  scope: Namespaced
  versions:
  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {replicas: {type: integer}}}, status: {type: object, properties: {replicas: {type: integer}}}}}}
`

// widgets is of a group whose name comes before that of any of Kubernetes.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Cluster
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

func withCRDs(t *testing.T) *Table {
	t.Helper()
	crds, err := FromYAML([]byte(crontabs + "---\n# nothing\n---\n{apiVersion: v1, kind: ConfigMap}\n---" + widgets))
	if err != nil || len(crds) != 2 {
		t.Fatal(crds, err)
	}
	return Builtin().With(crds...)
}

// TestFind looks kinds up as the engine does.
func TestFind(t *testing.T) {
	t.Parallel()
	table := withCRDs(t)
	for _, tc := range []struct{ apiVersion, name, want string }{
		{"", "Secret", "v1 secrets"},
		{"v1", "secrets", "v1 secrets"},
		{"", "SECRET", "v1 secrets"},
		{"", "cm", "v1 configmaps"},
		{"apps/v1", "deploy", "apps/v1 deployments"},
		{"", "STS", "apps/v1 statefulsets"},
		{"", "HorizontalPodAutoscaler", "autoscaling/v2 horizontalpodautoscalers"}, // the preferred version
		{"autoscaling/v1", "hpa", "autoscaling/v1 horizontalpodautoscalers"},
		{"", "Event", "v1 events"}, // of two groups, the one that is listed first
		{"events.k8s.io/v1", "ev", "events.k8s.io/v1 events"},
		{"", "Endpoints", "v1 endpoints"},
		{"", "ct", "stable.example.com/v1beta1 crontabs"},
		{"stable.example.com/v1alpha1", "CronTab", "stable.example.com/v1alpha1 crontabs"},
		{"", "tab", `no kind "tab" is known`}, // the engine knows no singular
		{"", "Secert", `no kind "Secert" is known; did you mean Secret?`},
		{"", "crontap", `no kind "crontap" is known; did you mean CronTab?`},
		{"", "no such kind!!", `no kind "no such kind!!" is known`},
		{"v2", "Secret", "Secret is not served in v2, but in v1"},
		{"stable.example.com/v2", "ct", "ct is not served in stable.example.com/v2, but in stable.example.com/v1beta1, stable.example.com/v1alpha1"},
		{"extensions/v1beta1", "Ingress", "Ingress is not served in extensions/v1beta1, but in networking.k8s.io/v1"},
		{"v1", "Nothing", `no kind "Nothing" is known in v1`},
	} {
		k, err := table.Find(tc.apiVersion, tc.name)
		if got := outcome(k, err); got != tc.want {
			t.Errorf("Find(%q, %q) is %q, want %q", tc.apiVersion, tc.name, got, tc.want)
		}
	}
}

func outcome(k Kind, err error) string {
	if unknown := (*UnknownError)(nil); err != nil && errors.As(err, &unknown) {
		return err.Error()
	}
	return k.APIVersion() + " " + k.Resource
}

// TestArgument looks kinds up as kubectl does.
func TestArgument(t *testing.T) {
	t.Parallel()
	table := withCRDs(t)
	for arg, want := range map[string]string{
		"po": "v1 pods", "Pod": "v1 pods", "deployments.apps": "apps/v1 deployments", "deploy.v1.apps": "apps/v1 deployments",
		"pods.v1.": "v1 pods", "hpa.v1.autoscaling": "autoscaling/v1 horizontalpodautoscalers", "events.events": "events.k8s.io/v1 events",
		"tab": "stable.example.com/v1beta1 crontabs", "ct.stable.example.com": "stable.example.com/v1beta1 crontabs",
		"crontab.v1alpha1.stable.example.com": "stable.example.com/v1alpha1 crontabs", "crontabs.stable": "stable.example.com/v1beta1 crontabs",
		"pods.v1": `no kind "pods.v1" is known`, "deployments.v2.apps": `no kind "deployments.v2.apps" is known`,
		"deploymnt": `no kind "deploymnt" is known; did you mean Deployment?`,
	} {
		k, err := table.Argument(arg)
		if got := outcome(k, err); got != want {
			t.Errorf("Argument(%q) is %q, want %q", arg, got, want)
		}
	}
}

// TestFacts looks at what is known of kinds.
func TestFacts(t *testing.T) {
	t.Parallel()
	table := withCRDs(t)
	ct, err := table.Find("", "ct")
	want := Kind{Group: "stable.example.com", Version: "v1beta1", Kind: "CronTab", Resource: "crontabs", Singular: "tab", Short: []string{"ct"},
		Categories: []string{"all"}, Subresources: []string{"status", "scale"}, Verbs: stored, Versions: []string{"v1beta1", "v1alpha1"}, Namespaced: true}
	if diff := cmp.Diff(want, ct); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if w, known := table.Resource("example.com", "widgets"); !known || w.Namespaced || w.Singular != "widget" || w.Has("status") {
		t.Errorf("%+v", w)
	}
	if _, known := table.Resource("", "widgets"); known {
		t.Error("widgets is no resource of the core group")
	}
	review, err := table.Find("", "TokenReview")
	if err != nil || review.Can("watch") || !review.Can("create") {
		t.Errorf("%+v, %v", review, err)
	}
	d, err := table.FindObject(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil || !d.Has("scale") || !d.Can("watch") || d.String() != "deployments.apps" || d.GVR().Resource != "deployments" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := table.FindObject(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "deployment"}); err == nil || !strings.Contains(err.Error(), "did you mean Deployment") {
		t.Errorf("an object of a kind in the wrong case: %v", err)
	}
	var all []string
	for _, k := range table.Category("all") {
		all = append(all, k.String())
	}
	if got := strings.Join(all, " "); !strings.HasPrefix(got, "pods replicationcontrollers services ") || !strings.HasSuffix(got, " crontabs.stable.example.com") {
		t.Errorf("the category all is %s", got)
	}
	for _, k := range table.Preferred() {
		if k.Kind == "HorizontalPodAutoscaler" && k.Version != "v2" {
			t.Errorf("%s is preferred", k.APIVersion())
		}
	}
}

// TestWith replaces a CRD by a newer one, and leaves the first table alone.
func TestWith(t *testing.T) {
	t.Parallel()
	old := withCRDs(t)
	crds, err := FromYAML([]byte(strings.ReplaceAll(widgets, "scope: Cluster", "scope: Namespaced")))
	if err != nil {
		t.Fatal(err)
	}
	next := old.With(crds...)
	if w, _ := next.Resource("example.com", "widgets"); !w.Namespaced || len(next.All()) != len(old.All()) {
		t.Errorf("%+v, %d kinds, want %d", w, len(next.All()), len(old.All()))
	}
	if w, _ := old.Resource("example.com", "widgets"); w.Namespaced {
		t.Error("the first table changed")
	}
}

// TestCRDErrors reads what is no CRD of today.
func TestCRDErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: {name: a.b}}":                "CustomResourceDefinition a.b is of version v1beta1, which Kubernetes 1.37 does not serve",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.b}}":                     "CustomResourceDefinition a.b needs spec.group",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.b}, spec: {names: [a]}}": "CustomResourceDefinition a.b: ",
		"kind: [": "yaml",
	} {
		if crds, err := FromYAML([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", text, crds, err)
		}
	}
}

// BenchmarkBuiltin reads the table, which no command does before it needs it.
func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		parse(recorded)
	}
}

// TestCannotWatch tells of kinds that are surely not there, and of no others.
func TestCannotWatch(t *testing.T) {
	t.Parallel()
	table := withCRDs(t)
	for _, tc := range []struct{ apiVersion, kind, want string }{
		{"", "deploy", ""}, {"apps/v1", "Deployment", ""}, {"stable.example.com/v1beta1", "ct", ""},
		{"", "Secert", `no kind "Secert" is known; did you mean Secret?; when its CRD is somebody else's, say its apiVersion`},
		{"v1", "Secert", `no kind "Secert" is known in v1; did you mean Secret?`},
		{"v1", "Deployment", "Deployment is not served in v1, but in apps/v1"},
		{"events.k8s.io/v1beta1", "Event", "Event is not served in events.k8s.io/v1beta1, but in v1, events.k8s.io/v1"},
		{"cert-manager.io/v1", "Certificate", ""},
		{"batch.volcano.sh/v1alpha1", "Job", ""},
		{"", "TokenReview", "TokenReview is a kind that nobody can watch"},
	} {
		if got := table.CannotWatch(tc.apiVersion, tc.kind); got != tc.want {
			t.Errorf("%s %s: got %q, want %q", tc.apiVersion, tc.kind, got, tc.want)
		}
	}
}

// TestCannotSelect tells of fields that an API server refuses to select by.
func TestCannotSelect(t *testing.T) {
	t.Parallel()
	crd, err := FromYAML([]byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Database, plural: databases}
  versions: [{name: v1, served: true, storage: true, selectableFields: [{jsonPath: .spec.engine}]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	table := Builtin().With(crd...)
	for _, tc := range []struct{ apiVersion, kind, field, want string }{
		{"", "pod", "spec.nodeName", ""}, {"", "cm", "metadata.name", ""}, {"example.com/v1", "Database", "spec.engine", ""},
		{"", "Nothing", "spec.x", ""},
		{"v1", "Secret", "spec.foo", "the API server selects no secrets by spec.foo, but by metadata.name, metadata.namespace, type"},
		{"v1", "Pod", "spec.nodename", "the API server selects no pods by spec.nodename, but by metadata.name, metadata.namespace, spec.nodeName, spec.restartPolicy, " +
			"spec.schedulerName, spec.serviceAccountName, spec.hostNetwork, status.phase, status.podIP, status.nominatedNodeName; did you mean spec.nodeName?"},
		{"", "databases", "spec.size", "the API server selects no databases by spec.size, but by metadata.name, metadata.namespace, spec.engine"},
	} {
		if got := table.CannotSelect(tc.apiVersion, tc.kind, tc.field); got != tc.want {
			t.Errorf("%s %s: got %q, want %q", tc.kind, tc.field, got, tc.want)
		}
	}
}
