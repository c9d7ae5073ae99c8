package adopt

import (
	"testing"

	"github.com/operon-dev/operon/internal/project"
)

func TestDomainOf(t *testing.T) {
	for _, test := range []struct {
		groups []string
		want   string
	}{
		{nil, ""},
		{[]string{"kueue.x-k8s.io"}, "x-k8s.io"},
		{[]string{"keda.sh"}, "keda.sh"},
		{[]string{"keda.sh", "eventing.keda.sh"}, "keda.sh"},
		{[]string{"cluster.x-k8s.io", "addons.cluster.x-k8s.io", "ipam.cluster.x-k8s.io"}, "cluster.x-k8s.io"},
		{[]string{"ship.acme.io", "ownership.acme.io"}, "acme.io"},
		{[]string{"ship.acme.io", "ship.example.org"}, ""},
	} {
		if got := domainOf(test.groups); got != test.want {
			t.Errorf("domainOf(%q) = %q, want %q", test.groups, got, test.want)
		}
	}
}

func TestSplitGroup(t *testing.T) {
	for _, test := range []struct{ full, domain, group, rest string }{
		{"ship.example.org", "example.org", "ship", "example.org"},
		{"example.org", "example.org", "", "example.org"},
		{"ownexample.org", "example.org", "ownexample.org", ""},
		{"ship.acme.io", "example.org", "ship", "acme.io"},
		{"kubeflow.org", "", "kubeflow.org", ""},
	} {
		group, rest := splitGroup(test.full, test.domain)
		if group != test.group || rest != test.rest {
			t.Errorf("splitGroup(%q, %q) = %q, %q, want %q, %q", test.full, test.domain, group, rest, test.group, test.rest)
		}
		if full := (project.Resource{Group: group, Domain: rest}).QualifiedGroup(); full != test.full {
			t.Errorf("splitGroup(%q, %q) is the group %q", test.full, test.domain, full)
		}
	}
}

func TestFolderForNew(t *testing.T) {
	of := func(dir, group string) folderOf {
		return folderOf{dir, project.Resource{Group: group, Version: "v1", Kind: "Frigate"}}
	}
	for _, test := range []struct {
		name    string
		folders []folderOf
		want    string
	}{
		{"none", nil, ""},
		{"version", []folderOf{of("api/v1", "ship")}, "api/{version}"},
		{"group and version", []folderOf{of("pkg/apis/ship/v1", "ship"), of("pkg/apis/sea/v1", "sea")}, "pkg/apis/{group}/{version}"},
		{"the last element counts", []folderOf{of("v1/ship/v1", "ship")}, "v1/{group}/{version}"},
		{"most kinds", []folderOf{of("controllers", "ship"), of("controllers", "sea"), of("exp/controllers", "sea")}, "controllers"},
		{"a folder for each kind", []folderOf{of("pkg/controller/frigate", "ship"), of("pkg/controller/raft", "ship")}, "pkg/controller"},
		{"a few folders for many kinds", []folderOf{of("a", "x"), of("a", "x"), of("a", "x"), of("b", "x"), of("b", "x"), of("c", "x"), of("c", "x")}, "a"},
	} {
		if got := folderForNew(test.folders); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestControllerNames(t *testing.T) {
	for _, test := range []struct {
		controllers []controller
		want        string
	}{
		{[]controller{{reconciler: "FrigateReconciler", name: "frigate_main"}}, "frigate"},
		{[]controller{{}}, "frigate"},
		{[]controller{{reconciler: "FrigateReconciler"}, {reconciler: "FrigateRefitReconciler"}}, "frigate, frigate-refit"},
		{[]controller{{reconciler: "Reconciler", name: "dock"}, {reconciler: "Reconciler", name: "sail"}}, "dock, sail"},
		{[]controller{{reconciler: "Reconciler"}, {reconciler: "Reconciler"}}, "frigate"},
		{[]controller{{reconciler: "HTTPProxyReconciler", name: "not valid"}}, "httpproxy"},
	} {
		if got := join(controllerNames("Frigate", test.controllers)); got != test.want {
			t.Errorf("%+v: %q, want %q", test.controllers, got, test.want)
		}
	}
}
