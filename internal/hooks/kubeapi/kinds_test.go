package kubeapi

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/project"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// crontabs has an unusual singular, a version that is not served, and versions whose order is
// not alphabetical.
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

// widgets has a group that sorts before all groups of Kubernetes.
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

func withCRDs(t *testing.T) *Kinds {
	t.Helper()
	crds, err := ReadCRDs([]byte(crontabs + "---\n# nothing\n---\n{apiVersion: v1, kind: ConfigMap}\n---" + widgets))
	if err != nil || len(crds) != 2 {
		t.Fatal(crds, err)
	}
	return Builtin().With(crds...)
}

// TestFind checks the names that the engine accepts.
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
		{"", "Event", "v1 events"}, // the first of two groups with this kind
		{"events.k8s.io/v1", "ev", "events.k8s.io/v1 events"},
		{"", "Endpoints", "v1 endpoints"},
		{"", "ct", "stable.example.com/v1beta1 crontabs"},
		{"stable.example.com/v1alpha1", "CronTab", "stable.example.com/v1alpha1 crontabs"},
		{"", "tab", `unknown kind "tab"`}, // the engine ignores singular names
		{"", "Secert", `unknown kind "Secert"; did you mean Secret?`},
		{"", "Pdo", `unknown kind "Pdo"; did you mean Pod?`},
		{"", "crontap", `unknown kind "crontap"; did you mean CronTab?`},
		{"", "no such kind!!", `unknown kind "no such kind!!"`},
		{"v2", "Secret", "Secret is not served in v2, but in v1"},
		{"stable.example.com/v2", "ct", "ct is not served in stable.example.com/v2, but in stable.example.com/v1beta1, stable.example.com/v1alpha1"},
		{"extensions/v1beta1", "Ingress", "Ingress is not served in extensions/v1beta1, but in networking.k8s.io/v1"},
		{"v1", "Nothing", `unknown kind "Nothing" in v1`},
	} {
		k, err := table.Find(tc.apiVersion, tc.name)
		if got := outcome(k, err); got != tc.want {
			t.Errorf("Find(%q, %q) is %q, want %q", tc.apiVersion, tc.name, got, tc.want)
		}
	}
}

func outcome(k Kind, err error) string {
	if unknown := (*UnknownKindError)(nil); err != nil && errors.As(err, &unknown) {
		return err.Error()
	}
	return k.APIVersion() + " " + k.Resource
}

// TestFindArgument checks the names that kubectl accepts.
func TestFindArgument(t *testing.T) {
	t.Parallel()
	table := withCRDs(t)
	for arg, want := range map[string]string{
		"po": "v1 pods", "Pod": "v1 pods", "deployments.apps": "apps/v1 deployments", "deploy.v1.apps": "apps/v1 deployments",
		"pods.v1.": "v1 pods", "hpa.v1.autoscaling": "autoscaling/v1 horizontalpodautoscalers", "events.events": "events.k8s.io/v1 events",
		"tab": "stable.example.com/v1beta1 crontabs", "ct.stable.example.com": "stable.example.com/v1beta1 crontabs",
		"crontab.v1alpha1.stable.example.com": "stable.example.com/v1alpha1 crontabs", "crontabs.stable": "stable.example.com/v1beta1 crontabs",
		"pods.v1": `unknown kind "pods.v1"`, "deployments.v2.apps": `unknown kind "deployments.v2.apps"`,
		"deploymnt": `unknown kind "deploymnt"; did you mean Deployment?`,
	} {
		k, err := table.FindArgument(arg)
		if got := outcome(k, err); got != want {
			t.Errorf("FindArgument(%q) is %q, want %q", arg, got, want)
		}
	}
}

// TestKind checks the fields and methods of kinds.
func TestKind(t *testing.T) {
	t.Parallel()
	table := withCRDs(t)
	ct, err := table.Find("", "ct")
	want := Kind{Group: "stable.example.com", Version: "v1beta1", Kind: "CronTab", Resource: "crontabs", Singular: "tab", ShortNames: []string{"ct"},
		Categories: []string{"all"}, Subresources: []string{"status", "scale"}, Verbs: project.StoredVerbs, Versions: []string{"v1beta1", "v1alpha1"}, Namespaced: true}
	if diff := cmp.Diff(want, ct); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if w, known := table.FindResource("example.com", "widgets"); !known || w.Namespaced || w.Singular != "widget" || w.HasSubresource("status") {
		t.Errorf("%+v", w)
	}
	if _, known := table.FindResource("", "widgets"); known {
		t.Error("the core group has no resource widgets")
	}
	review, err := table.Find("", "TokenReview")
	if err != nil || review.Supports("watch") || !review.Supports("create") {
		t.Errorf("%+v, %v", review, err)
	}
	d, err := table.FindObject(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil || !d.HasSubresource("scale") || !d.Supports("watch") || d.String() != "deployments.apps" || d.GVR().Resource != "deployments" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := table.FindObject(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "deployment"}); err == nil || !strings.Contains(err.Error(), "did you mean Deployment") {
		t.Errorf("a kind in lower case: %v", err)
	}
	for _, k := range table.Preferred() {
		if k.Kind == "HorizontalPodAutoscaler" && k.Version != "v2" {
			t.Errorf("%s is preferred", k.APIVersion())
		}
	}
}

// TestWith checks that a CRD replaces an older one, and that the first table does not change.
func TestWith(t *testing.T) {
	t.Parallel()
	first := withCRDs(t)
	crds, err := ReadCRDs([]byte(strings.ReplaceAll(widgets, "scope: Cluster", "scope: Namespaced")))
	if err != nil {
		t.Fatal(err)
	}
	next := first.With(crds...)
	if w, _ := next.FindResource("example.com", "widgets"); !w.Namespaced || len(next.All()) != len(first.All()) {
		t.Errorf("%+v, %d kinds, want %d", w, len(next.All()), len(first.All()))
	}
	if w, _ := first.FindResource("example.com", "widgets"); w.Namespaced {
		t.Error("the first table changed")
	}
}

// TestCRDErrors checks the errors of invalid CRDs.
func TestCRDErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: {name: a.b}}":                "CustomResourceDefinition a.b has the version v1beta1, which Kubernetes 1.37 does not serve",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.b}}":                     "CustomResourceDefinition a.b must have spec.group",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.b}, spec: {names: [a]}}": "CustomResourceDefinition a.b: ",
		"kind: [": "yaml",
	} {
		if crds, err := ReadCRDs([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", text, crds, err)
		}
	}
}

// TestCannotWatch checks that only kinds that cannot exist or cannot be watched have a reason.
func TestCannotWatch(t *testing.T) {
	t.Parallel()
	table := withCRDs(t)
	for _, tc := range []struct{ apiVersion, kind, want string }{
		{"", "deploy", ""}, {"apps/v1", "Deployment", ""}, {"stable.example.com/v1beta1", "ct", ""},
		{"", "Secert", `unknown kind "Secert"; did you mean Secret?; if its CRD is not part of the project, set apiVersion`},
		{"v1", "Secert", `unknown kind "Secert" in v1; did you mean Secret?`},
		{"v1", "Deployment", "Deployment is not served in v1, but in apps/v1"},
		{"events.k8s.io/v1beta1", "Event", "Event is not served in events.k8s.io/v1beta1, but in v1, events.k8s.io/v1"},
		{"cert-manager.io/v1", "Certificate", ""},
		{"batch.volcano.sh/v1alpha1", "Job", ""},
		{"", "TokenReview", "TokenReview does not support watch"},
	} {
		if got := table.CannotWatch(tc.apiVersion, tc.kind); got != tc.want {
			t.Errorf("%s %s: got %q, want %q", tc.apiVersion, tc.kind, got, tc.want)
		}
	}
}

// TestCannotSelect checks fields that field selectors do not support.
func TestCannotSelect(t *testing.T) {
	t.Parallel()
	crd, err := ReadCRDs([]byte(`apiVersion: apiextensions.k8s.io/v1
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
		{"v1", "Secret", "spec.foo", "field selectors for secrets do not support spec.foo, only metadata.name, metadata.namespace, type"},
		{"v1", "Pod", "spec.nodename", "field selectors for pods do not support spec.nodename, only metadata.name, metadata.namespace, spec.nodeName, spec.restartPolicy, " +
			"spec.schedulerName, spec.serviceAccountName, spec.hostNetwork, status.phase, status.podIP, status.nominatedNodeName; did you mean spec.nodeName?"},
		{"", "databases", "spec.size", "field selectors for databases do not support spec.size, only metadata.name, metadata.namespace, spec.engine"},
	} {
		if got := table.CannotSelect(tc.apiVersion, tc.kind, tc.field); got != tc.want {
			t.Errorf("%s %s: got %q, want %q", tc.kind, tc.field, got, tc.want)
		}
	}
}
