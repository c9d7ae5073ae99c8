package project

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

// TestFindCore checks that PROJECT has the values that kubebuilder records, except for the
// path of groups whose Go package has another name: kubebuilder records a package that does
// not exist.
func TestFindCore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		group, version, kind string
		want                 Resource
		full, plural         string
	}{
		{"core", "v1", "Pod", Resource{Group: "core", Path: "k8s.io/api/core/v1"}, "", "pods"},
		{"apps", "v1", "Deployment", Resource{Group: "apps", Path: "k8s.io/api/apps/v1"}, "apps", "deployments"},
		{"policy", "v1", "PodDisruptionBudget", Resource{Group: "policy", Path: "k8s.io/api/policy/v1"}, "policy", "poddisruptionbudgets"},
		{"networking", "v1", "Ingress", Resource{Group: "networking", Domain: "k8s.io", Path: "k8s.io/api/networking/v1"}, "networking.k8s.io", "ingresses"},
		{"networking.k8s.io", "v1", "NetworkPolicy", Resource{Group: "networking", Domain: "k8s.io", Path: "k8s.io/api/networking/v1"}, "networking.k8s.io", "networkpolicies"},
		{"rbac", "v1", "Role", Resource{Group: "rbac.authorization", Domain: "k8s.io", Path: "k8s.io/api/rbac/v1"}, "rbac.authorization.k8s.io", "roles"},
		{"core", "v1", "Endpoints", Resource{Group: "core", Path: "k8s.io/api/core/v1"}, "", "endpoints"},
		{"apiextensions", "v1", "CustomResourceDefinition",
			Resource{Group: "apiextensions", Domain: "k8s.io", Path: "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"},
			"apiextensions.k8s.io", "customresourcedefinitions"},
	} {
		k, err := FindCore(test.group, test.version, test.kind)
		if err != nil {
			t.Errorf("%s %s: %v", test.group, test.kind, err)
			continue
		}
		test.want.Version, test.want.Kind, test.want.Core = test.version, test.kind, true
		got := k.Resource()
		got.Plural = ""
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.group, test.kind, diff)
		}
		if got := k.Resource(); got.QualifiedGroup() != test.full || got.PluralName() != test.plural {
			t.Errorf("%s %s: group %q, plural %q; want %q, %q", test.group, test.kind, got.QualifiedGroup(), got.PluralName(), test.full, test.plural)
		}
	}
}

func TestFindCoreErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ group, version, kind, err, hint string }{
		{"apps", "v1", "Deploymnet", "group apps of Kubernetes 1.37 has no kind Deploymnet", "did you mean --kind Deployment?"},
		{"apps", "v1", "Frigate", "group apps of Kubernetes 1.37 has no kind Frigate",
			"its kinds are ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet"},
		{"autoscaling", "v2beta1", "HorizontalPodAutoscaler", "Kubernetes 1.37 does not serve version v2beta1 of HorizontalPodAutoscaler in group autoscaling",
			"use --version v1 or --version v2"},
		{"ship", "v1", "Pod", "Kubernetes has no API group ship", "name a group such as core, apps or batch"},
	} {
		_, err := FindCore(test.group, test.version, test.kind)
		if err == nil || err.Error() != test.err || fault.HintOf(err) != test.hint || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s %s %s: got %v, hint %q", test.group, test.version, test.kind, err, fault.HintOf(err))
		}
	}
}

func TestIsCoreGroup(t *testing.T) {
	t.Parallel()
	for group, want := range map[string]bool{
		"core": true, "": false, "apps": true, "apps.k8s.io": false, "flowcontrol": true, "flowcontrol.apiserver": true,
		"flowcontrol.apiserver.k8s.io": true, "ship": false, "k8s.io": false, "metrics": false,
	} {
		if got := IsCoreGroup(group); got != want {
			t.Errorf("%q: %t", group, got)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"Pods": "Pod", "pod": "Pod", "Servce": "Service", "Elephant": "", "": "",
	} {
		if got := fault.Nearest(word, []string{"Pod", "Service", "ServiceAccount"}); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

// TestCoreObjects checks that objects end with a line feed, because they become files.
func TestCoreObjects(t *testing.T) {
	t.Parallel()
	for _, k := range CoreKinds() {
		if k.Stored != (k.Object != "") || k.Stored && (!strings.HasSuffix(k.Object, "\n") || strings.Contains(k.Object, "\n\n")) {
			t.Errorf("%s %s: %q", k.Group, k.Kind, k.Object)
		}
	}
}

// TestExternalLayout checks the paths and names of kinds with external types.
func TestExternalLayout(t *testing.T) {
	t.Parallel()
	c := &Config{Domain: "example.org", Repo: "example.org/fleet", ProjectName: "fleet"}
	role, err := FindCore("rbac", "v1", "Role")
	if err != nil {
		t.Fatal(err)
	}
	recorded := role.Resource()
	recorded.Path = "k8s.io/api/rbac.authorization/v1" // by kubebuilder
	node := Resource{Group: "core", Version: "v1", Kind: "Node", Path: "k8s.io/api/core/v1", Core: true}
	issuer := Resource{Group: "cert-manager", Domain: "io", Version: "v1", Kind: "ClusterIssuer",
		Path: "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1", External: true, ClusterScoped: true}
	for _, test := range []struct {
		r                     Resource
		path, alias, sample   string
		namespaced            bool
		crd, controllerFolder string
	}{
		{recorded, "k8s.io/api/rbac/v1", "rbacv1", "test/objects/rbac.authorization_v1_role.yaml", true, "", "internal/controller"},
		{node, "k8s.io/api/core/v1", "corev1", "test/objects/core_v1_node.yaml", false, "", "internal/controller"},
		{issuer, issuer.Path, "certmanagerv1", "test/objects/cert-manager_v1_clusterissuer.yaml", false,
			"test/crd/cert-manager.io_clusterissuers.yaml", "internal/controller"},
	} {
		if got := c.APIPath(test.r); got != test.path {
			t.Errorf("%s: path %s", test.r.Kind, got)
		}
		if got := test.r.ImportAlias(); got != test.alias {
			t.Errorf("%s: alias %s", test.r.Kind, got)
		}
		if got := c.SamplePath(test.r); got != test.sample {
			t.Errorf("%s: sample %s", test.r.Kind, got)
		}
		if got := c.IsNamespaced(test.r); got != test.namespaced {
			t.Errorf("%s: namespaced=%t", test.r.Kind, got)
		}
		if got := ExternalCRDPath(test.r); test.crd != "" && got != test.crd {
			t.Errorf("%s: CRD %s", test.r.Kind, got)
		}
		if got := c.ControllerDir(test.r); got != test.controllerFolder {
			t.Errorf("%s: %s", test.r.Kind, got)
		}
	}
}

func TestNoWebhooksForAdmission(t *testing.T) {
	t.Parallel()
	c := &Config{Version: "3", Domain: "example.org", Repo: "example.org/fleet", ProjectName: "fleet"}
	for kind, want := range map[string]string{
		"ValidatingWebhookConfiguration": "the API server calls no webhooks for objects of group admissionregistration.k8s.io, such as ValidatingWebhookConfiguration",
		"FlowSchema":                     "",
	} {
		group := map[bool]string{true: "flowcontrol", false: "admissionregistration"}[want == ""]
		k, err := FindCore(group, "v1", kind)
		if err != nil {
			t.Fatal(err)
		}
		r := k.Resource()
		r.Webhooks = &Webhooks{Defaulting: true}
		if err := c.ValidateResource(r); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
