//go:build testall

package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttest "k8s.io/client-go/testing"
)

func noDiscovery(context.Context, string, string) (schema.GroupVersionResource, bool, error) {
	return schema.GroupVersionResource{}, false, errors.New("the server is busy")
}

// fleetPlan is an InstallPlan that creates a Secret and a Route, which the cluster does not know,
// and changes two ConfigMaps.
const fleetPlan = `apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: {name: install-x, namespace: ships, ownerReferences: [{uid: "1"}, {uid: "3"}]}
spec: {clusterServiceVersionNames: [fleet.v0.2.0, boats.v2]}
status:
  plan:
  - resource: {group: "", version: v1, kind: BundleSecret, name: token}
  - resource: {group: route.example.org, version: v1, kind: Route, name: web}
  - resource: {group: "", version: v1, kind: ConfigMap, name: first}
  - resource: {group: "", version: v1, kind: ConfigMap, name: second}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: first, namespace: ships}
data: {a: before}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: second, namespace: ships}
data: {a: before}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: operon-fleet, namespace: ships, uid: "1"}
spec: {name: fleet}
status: {currentCSV: fleet.v0.2.0}
`

// TestApproveOthers expects that an InstallPlan stays unapproved if it changes another operator.
func TestApproveOthers(t *testing.T) {
	t.Parallel()
	subscription := func(uid, current string) string {
		return "---\napiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {name: mine, namespace: ships, uid: \"" + uid + "\"}\nspec: {name: boats}\nstatus: {currentCSV: " + current + "}\n"
	}
	for name, tt := range map[string]struct {
		others string
		err    string
	}{
		"alone":             {"", ""},
		"unrelated":         {subscription("2", "boats.v1"), ""},
		"in the plan":       {subscription("2", "boats.v2"), "InstallPlan install-x would also install boats.v2 for Subscription mine"},
		"owner of the plan": {subscription("3", "boats.v1"), "for Subscription mine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFake(t, fleetPlan+tt.others)
			task := c.task()
			err := task.approve(t.Context(), "install-x")
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if approved := slices.Contains(c.changes(), "patch installplans"); approved != (tt.err == "") || len(task.undo) > 0 != approved {
				t.Errorf("changes %v, %d steps to undo", c.changes(), len(task.undo))
			}
		})
	}
}

// TestApproveDiscovery expects that a failed discovery does not pass for a missing object.
func TestApproveDiscovery(t *testing.T) {
	t.Parallel()
	c := newFake(t, fleetPlan)
	c.Resource = noDiscovery
	if err := c.task().approve(t.Context(), "install-x"); err == nil || len(c.changes()) > 0 {
		t.Errorf("error %v, changes %v", err, c.changes())
	}
}

// TestUndoPlan expects that a failure removes what the InstallPlan created, restores what it
// changed, also after an error, and leaves the rest alone.
func TestUndoPlan(t *testing.T) {
	t.Parallel()
	c := newFake(t, fleetPlan+`---
apiVersion: v1
kind: ConfigMap
metadata: {name: third, namespace: ships}
data: {a: before}
`)
	plan, err := c.get(t.Context(), installPlans, testNamespace, "install-x")
	if err != nil {
		t.Fatal(err)
	}
	steps := plan.Object["status"].(map[string]any)
	steps["plan"] = append(steps["plan"].([]any), map[string]any{"resource": map[string]any{"group": "", "version": "v1", "kind": "ConfigMap", "name": "third"}})
	task := c.task()
	if err := task.removeSteps(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "third"} { // OLM does not change the second
		o := parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: ships}\ndata: {a: after}\n")[0]
		if _, err := c.client(configMaps, testNamespace).Update(t.Context(), &o, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	token := parse(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: ships}\n")[0]
	if _, err := c.client(secretKind, testNamespace).Create(t.Context(), &token, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.fake.PrependReactor("update", "configmaps", func(a clienttest.Action) (bool, runtime.Object, error) {
		o, _ := a.(clienttest.UpdateAction).GetObject().(metav1.Object)
		if o.GetName() == "first" {
			return true, nil, errors.New("a webhook refuses it")
		}
		return false, nil, nil
	})
	c.fake.ClearActions()
	err = task.undo[len(task.undo)-1].do(t.Context())
	if err == nil || !strings.Contains(err.Error(), "restore ConfigMap first: a webhook refuses it") {
		t.Errorf("error %v", err)
	}
	want := []string{"deleted InstallPlan install-x", "deleted Secret token", "restored ConfigMap third"}
	if !slices.Equal(c.notes, want) {
		t.Errorf("notes %q, want %q", c.notes, want)
	}
}

// TestRemovePlans removes the InstallPlans that only concern the operator that is removed.
func TestRemovePlans(t *testing.T) {
	t.Parallel()
	plan := func(name string, csvNames ...any) *unstructured.Unstructured {
		return entry(installPlans, name, map[string]any{"spec": map[string]any{"clusterServiceVersionNames": csvNames}})
	}
	c := newCluster(t, plan("install-mine", "fleet.v0.1.0"), plan("install-both", "fleet.v0.1.0", "boats.v2"), plan("install-none"))
	found := installed{csvs: []unstructured.Unstructured{*entry(csvs, "fleet.v0.1.0", nil)}}
	if err := c.removePlans(t.Context(), testNamespace, found); err != nil {
		t.Fatal(err)
	}
	left, err := c.list(t.Context(), installPlans, testNamespace, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range left {
		names = append(names, o.GetName())
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "install-both install-none" {
		t.Errorf("left: %s", got)
	}
}
