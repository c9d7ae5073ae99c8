//go:build testall

package cluster

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// TestRemoveCatalog expects that only objects of operon are removed, whichever of them are left.
func TestRemoveCatalog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, entry(configMaps, "operon-fleet", nil), byOperon(pods, "operon-fleet"))
		if existed, err := c.removeCatalog(t.Context(), testNamespace, "fleet"); !existed || err != nil || !c.has(t, configMaps, "operon-fleet") || c.has(t, pods, "operon-fleet") {
			t.Errorf("existed: %v, error %v, notes %v", existed, err, c.notes)
		}
		if existed, err := c.removeCatalog(t.Context(), testNamespace, "fleet"); existed || err != nil {
			t.Errorf("again: existed: %v, error %v", existed, err)
		}
	})
}

// TestLeftovers expects that the next command removes what a command left that was killed before
// it created the CatalogSource.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, byOperon(configMaps, "operon-fleet"))
		if err := c.removeLeftovers(t.Context(), testNamespace, "fleet", installed{}); err != nil || c.has(t, configMaps, "operon-fleet") {
			t.Errorf("install: error %v, notes %v", err, c.notes)
		}
		c = newCluster(t, byOperon(configMaps, "operon-fleet"))
		changed, err := c.Cleanup(t.Context(), Removal{Package: "fleet", Namespace: testNamespace})
		if !changed || err != nil || c.has(t, configMaps, "operon-fleet") {
			t.Errorf("cleanup: changed: %v, error %v, notes %v", changed, err, c.notes)
		}
	})
}

// TestRestoreSubscription expects that the next command restores a user's Subscription after a
// command was killed during an upgrade.
func TestRestoreSubscription(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		spec := map[string]any{"name": "fleet", "source": "theirs", "config": map[string]any{"limit": int64(3)}}
		c := newCluster(t, entry(subscriptions, "mine", map[string]any{"spec": maps.Clone(spec)}))
		for range 2 { // the answer to the first request may be lost
			if err := c.redirect(t.Context(), testNamespace, "mine", map[string]any{"source": "operon-fleet", "startingCSV": "fleet.v2"}); err != nil {
				t.Fatal(err)
			}
		}
		found, err := c.installed(t.Context(), testNamespace, "fleet")
		if err != nil || len(found.subscriptions) != 1 || jsonvalue.String(found.subscriptions[0].Object, "spec", "source") != "operon-fleet" {
			t.Fatalf("error %v, %v", err, found)
		}
		if err := c.removeLeftovers(t.Context(), testNamespace, "fleet", found); err != nil {
			t.Fatal(err)
		}
		o, err := c.get(t.Context(), subscriptions, testNamespace, "mine")
		if err != nil || jsonvalue.String(o.Object, "spec", "source") != "theirs" || jsonvalue.String(o.Object, "spec", "startingCSV") != "" || jsonvalue.Int(o.Object, "spec", "config", "limit") != 3 || len(o.GetAnnotations()) > 0 {
			t.Errorf("error %v, %v", err, o)
		}
		written := len(c.fake.Actions())
		if err := c.restoreSubscription(t.Context(), testNamespace, "mine"); err != nil || len(c.fake.Actions()) != written+1 {
			t.Errorf("again: error %v, %v", err, c.fake.Actions()[written:])
		}
	})
}

// TestRemoveCSVKeepsPrevious expects that a new version can be removed while its Deployment still
// belongs to the previous version.
func TestRemoveCSVKeepsPrevious(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		install := map[string]any{"spec": map[string]any{"install": map[string]any{"spec": map[string]any{"deployments": []any{map[string]any{"name": "fleet-controller-manager"}}}}}}
		next := entry(csvs, "fleet.v2", install)
		deployment := entry(deployments, "fleet-controller-manager", nil)
		for owner, want := range map[string]bool{"fleet.v1": true, "fleet.v2": false} {
			deployment.SetOwnerReferences([]metav1.OwnerReference{{Kind: csvs.kind, Name: owner, UID: "uid"}})
			c := newCluster(t, next, deployment)
			ctx, cancel := WithTimeout(t.Context(), undoTimeout)
			if err := c.removeCSV(ctx, *next); (err == nil) != want || c.has(t, csvs, "fleet.v2") {
				t.Errorf("owner %s: error %v", owner, err)
			}
			cancel()
		}
	})
}

// TestRetriedUpgrade expects that an upgrade waits for a new InstallPlan if the Subscription refers to
// the one of an upgrade that was undone.
func TestRetriedUpgrade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, entry(subscriptions, "mine", map[string]any{
			"spec":   map[string]any{"name": "fleet"},
			"status": map[string]any{"installedCSV": "fleet.v0.1.0", "currentCSV": "fleet.v0.2.0", "installPlanRef": map[string]any{"name": "removed"}, "conditions": []any{map[string]any{"type": "InstallPlanMissing"}}},
		}))
		task := c.task()
		ctx, cancel := WithTimeout(t.Context(), undoTimeout)
		defer cancel()
		task.bundle.Dependencies = []bundle.Property{{Type: "olm.package", Value: map[string]any{"packageName": "pier", "version": ">=1.0.0"}}}
		name, err := task.waitPlanned(ctx, "mine")
		if name != "" || err == nil || err.Error() != "not done after 2m0s: OLM resolves the Subscription; fleet.v0.2.0 requires package pier >=1.0.0" {
			t.Errorf("InstallPlan %q, error %v", name, err)
		}
		if err := task.resetStatus(t.Context(), "mine", "fleet.v0.1.0"); err != nil {
			t.Fatal(err)
		}
		o, err := c.get(t.Context(), subscriptions, testNamespace, "mine")
		if err != nil {
			t.Fatal(err)
		}
		status := jsonvalue.Map(o.Object, "status")
		if status["currentCSV"] != "fleet.v0.1.0" || status["state"] != "AtLatestKnown" || status["installPlanRef"] != nil || status["conditions"] != nil {
			t.Errorf("status %v", status)
		}
		status["conditions"] = []any{map[string]any{"type": "ResolutionFailed", "status": "True"}}
		if err := c.fake.Tracker().Update(subscriptions.GroupVersionResource, o, testNamespace); err != nil {
			t.Fatal(err)
		}
		if err := task.resetStatus(t.Context(), "mine", "fleet.v0.1.0"); err != nil {
			t.Fatal(err)
		}
		if o, err = c.get(t.Context(), subscriptions, testNamespace, "mine"); err != nil || condition(o.Object, "ResolutionFailed") != nil {
			t.Errorf("error %v, %v", err, o)
		}
	})
}

// TestLateResolution expects that an upgrade goes on if OLM reports a failure to resolve the Subscription
// as it was before the upgrade, and fails if OLM reports it each time.
func TestLateResolution(t *testing.T) {
	t.Parallel()
	for again, want := range map[bool]int{false: 1, true: resolutionRetries} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, entry(subscriptions, "mine", map[string]any{
				"status": map[string]any{"currentCSV": "fleet.v0.1.0", "conditions": []any{map[string]any{"type": "ResolutionFailed", "status": "True", "message": "no catalog theirs"}}},
			}), entry(installPlans, "install-1", map[string]any{}))
			resolves := 0
			c.fake.PrependReactor("patch", subscriptions.Resource, func(action clienttesting.Action) (bool, runtime.Object, error) {
				resolves++
				if again {
					return true, &unstructured.Unstructured{}, nil // the condition stays
				}
				o := entry(subscriptions, "mine", map[string]any{"status": map[string]any{"currentCSV": "fleet.v0.2.0", "installPlanRef": map[string]any{"name": "install-1"}}})
				return true, o, c.fake.Tracker().Update(subscriptions.GroupVersionResource, o, testNamespace)
			})
			task := c.task()
			task.previous = "fleet.v0.1.0"
			ctx, cancel := WithTimeout(t.Context(), undoTimeout)
			defer cancel()
			name, err := task.waitPlanned(ctx, "mine")
			if failed := err != nil && strings.Contains(err.Error(), "OLM cannot resolve fleet.v0.2.0: no catalog theirs"); failed != again || !again && name != "install-1" || resolves != want {
				t.Errorf("InstallPlan %q after %d changes of the status, error %v", name, resolves, err)
			}
		})
	}
}
