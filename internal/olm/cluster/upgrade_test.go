//go:build testall

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// TestWaitInstalled expects that an upgrade waits while OLM still installs the previous version.
func TestWaitInstalled(t *testing.T) {
	t.Parallel()
	const (
		remove = "remove it: operon cleanup fleet -n " + testNamespace
		more   = "allow more time with --timeout"
	)
	for name, tt := range map[string]struct {
		phases     []string // of one request after the other; the last one stays
		waited     bool
		want, hint string
	}{
		"installed":   {[]string{"Succeeded"}, false, "<nil>", ""},
		"installing":  {[]string{"Pending", "InstallReady", "Installing", "Succeeded"}, true, "<nil>", ""},
		"reinstalled": {[]string{"Failed", "Pending", "Failed", "Pending", "Succeeded"}, true, "<nil>", ""},
		"gone":        {[]string{"Pending", "gone"}, true, "<nil>", ""},
		"failed":      {[]string{"Pending", "Failed"}, true, "fleet.v1 cannot be upgraded: it is in phase Failed", remove},
		"replaced":    {[]string{"Replacing"}, false, "fleet.v1 cannot be upgraded: it is in phase Replacing", remove},
		"pending":     {[]string{"Pending"}, true, "not done after 1m0s: fleet.v1 is in phase Pending: it waits", more + ", or remove the operator: operon cleanup fleet -n " + testNamespace},
		"unavailable": {[]string{"Pending", "unavailable"}, true, "not done after 1m0s: dial: connection refused", more},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				requests := 0
				c.fake.PrependReactor("get", csvs.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
					phase := tt.phases[min(requests, len(tt.phases)-1)]
					requests++
					switch phase {
					case "unavailable":
						return true, nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
					case "gone":
						return false, nil, nil // the cluster has no ClusterServiceVersion
					}
					return true, entry(csvs, "fleet.v1", map[string]any{"status": map[string]any{"phase": phase, "message": "it waits"}}), nil
				})
				ctx, cancel := WithTimeout(t.Context(), time.Minute)
				defer cancel()
				waited, err := c.waitInstalled(ctx, *entry(csvs, "fleet.v1", nil), "fleet")
				if got := fmt.Sprint(err); got != tt.want || fault.HintOf(err) != tt.hint || waited != tt.waited {
					t.Errorf("got %q with the hint %q, waited %t", got, fault.HintOf(err), waited)
				}
			})
		})
	}
}

// TestChangedMeanwhile expects that an upgrade looks again at what the namespace has after it has waited.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		previous := entry(csvs, "fleet.v0.1.0", map[string]any{"spec": map[string]any{"version": "0.1.0"}, "status": map[string]any{"phase": "Pending"}})
		c := newCluster(t, previous, entry(subscriptions, "mine", map[string]any{
			"spec": map[string]any{"name": "fleet"}, "status": map[string]any{"installedCSV": "fleet.v0.1.0"},
		}))
		go func() {
			time.Sleep(time.Second)
			if err := c.fake.Tracker().Delete(csvs.GroupVersionResource, testNamespace, "fleet.v0.1.0"); err != nil {
				t.Error(err)
			}
		}()
		_, err := c.Upgrade(context.Background(), Options{Bundle: c.task().bundle, Namespace: testNamespace})
		if err == nil || err.Error() != "package fleet is not installed in namespace "+testNamespace {
			t.Errorf("error %v", err)
		}
	})
}
