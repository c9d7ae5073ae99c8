//go:build testall

package cluster

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/olm/bundle"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// supporting returns a bundle with install modes.
func supporting(modes ...string) *bundle.Bundle {
	list := []any{map[string]any{"type": "MultiNamespace", "supported": false}}
	for _, m := range modes {
		list = append(list, map[string]any{"type": m, "supported": true})
	}
	return &bundle.Bundle{CSV: bundle.Manifest{Object: map[string]any{"metadata": map[string]any{"name": "fleet.v0.1.0"}, "spec": map[string]any{"installModes": list}}}}
}

func operatorGroup(targets ...any) unstructured.Unstructured {
	spec := map[string]any{}
	if len(targets) > 0 {
		spec["targetNamespaces"] = targets
	}
	return unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "group"}, "spec": spec}}
}

// TestChooseMode covers --install-mode, the modes of bundles, and existing OperatorGroups.
func TestChooseMode(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bundle    *bundle.Bundle
		requested string
		groups    []unstructured.Unstructured
		want      string
		err       string
	}{
		"widest":             {bundle: supporting(AllNamespaces, OwnNamespace), want: "AllNamespaces"},
		"own":                {bundle: supporting(OwnNamespace, SingleNamespace), want: "OwnNamespace"},
		"requested":          {bundle: supporting(AllNamespaces, SingleNamespace), requested: "SingleNamespace=other", want: "SingleNamespace=other"},
		"several":            {bundle: supporting(MultiNamespace), requested: "MultiNamespace=b,a", want: "MultiNamespace=a,b"},
		"group for all":      {bundle: supporting(AllNamespaces, OwnNamespace), groups: []unstructured.Unstructured{operatorGroup()}, want: "AllNamespaces"},
		"group for one":      {bundle: supporting(AllNamespaces, OwnNamespace), groups: []unstructured.Unstructured{operatorGroup("here")}, want: "OwnNamespace"},
		"must be named":      {bundle: supporting(SingleNamespace), err: "fleet.v0.1.0 supports only SingleNamespace"},
		"not supported":      {bundle: supporting(AllNamespaces), requested: "OwnNamespace", err: "fleet.v0.1.0 supports AllNamespaces, not OwnNamespace"},
		"group differs":      {bundle: supporting(AllNamespaces, OwnNamespace), requested: "AllNamespaces", groups: []unstructured.Unstructured{operatorGroup("here")}, err: "OperatorGroup group in namespace here has the mode OwnNamespace, not AllNamespaces"},
		"group does not fit": {bundle: supporting(AllNamespaces), groups: []unstructured.Unstructured{operatorGroup("other")}, err: "has the mode SingleNamespace=other, and fleet.v0.1.0 supports AllNamespaces"},
		"no mode":            {bundle: supporting(), err: "fleet.v0.1.0 supports no install mode"},
		"two groups":         {bundle: supporting(AllNamespaces), groups: []unstructured.Unstructured{operatorGroup(), operatorGroup()}, err: "namespace here has 2 OperatorGroups"},
		"group for several":  {bundle: supporting(MultiNamespace), requested: "MultiNamespace=a,b", groups: []unstructured.Unstructured{operatorGroup("b", "a")}, want: "MultiNamespace=a,b"},
		"twice the same":     {bundle: supporting(MultiNamespace), requested: "MultiNamespace=a,a", err: "is not an install mode"},
		"unknown":            {bundle: supporting(AllNamespaces), requested: "Everywhere", err: `--install-mode "Everywhere" is not an install mode`},
		"single is own":      {bundle: supporting(SingleNamespace), requested: "SingleNamespace=here", err: "is not an install mode"},
		"all of some":        {bundle: supporting(AllNamespaces), requested: "AllNamespaces=a", err: "is not an install mode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requested, err := ParseMode(tt.requested, "here")
			var got Mode
			if err == nil {
				got, err = chooseMode(tt.bundle, requested, tt.groups, "here")
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || err == nil && got.String() != tt.want {
				t.Errorf("mode %s, error %v; want %s %s", got, err, tt.want, tt.err)
			}
		})
	}
}

// TestRefusedMode expects that nothing is written or undone for a bundle that cannot be installed.
func TestRefusedMode(t *testing.T) {
	t.Parallel()
	for _, modes := range [][]string{nil, {SingleNamespace}} {
		b := supporting(modes...)
		b.Annotations = map[string]string{bundle.PackageKey: "fleet"}
		c := newFake(t, group)
		changed, err := c.Install(t.Context(), Options{Bundle: b, Namespace: testNamespace, Catalog: Local{Address: "192.0.2.7"}, Mode: Mode{OwnNamespace, []string{testNamespace}}})
		if err == nil || changed || strings.Contains(err.Error(), "no install mode") != (modes == nil) || len(c.changes())+len(c.notes) > 0 {
			t.Errorf("modes %v: error %v, changes %v, notes %v", modes, err, c.changes(), c.notes)
		}
	}
}
