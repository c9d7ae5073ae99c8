package cluster

import (
	"fmt"
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
	for name, tt := range map[string]struct {
		phases []string // of one request after the other; the last one stays
		want   string
	}{
		"installed":  {[]string{"Succeeded"}, ""},
		"installing": {[]string{"Pending", "InstallReady", "Installing", "Succeeded"}, ""},
		"failed":     {[]string{"Pending", "Failed"}, "fleet.v1 cannot be upgraded: it is in phase Failed"},
		"pending":    {[]string{"Pending"}, "fleet.v1 cannot be upgraded: it is in phase Pending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				requests := 0
				c.fake.PrependReactor("get", csvs.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
					phase := tt.phases[min(requests, len(tt.phases)-1)]
					requests++
					return true, entry(csvs, "fleet.v1", map[string]any{"status": map[string]any{"phase": phase}}), nil
				})
				ctx, cancel := WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := c.waitInstalled(ctx, *entry(csvs, "fleet.v1", nil), "fleet")
				switch {
				case tt.want == "" && (err != nil || requests != len(tt.phases)):
					t.Errorf("after %d requests: %v", requests, err)
				case tt.want != "" && (fmt.Sprint(err) != tt.want || fault.HintOf(err) != "remove it: operon cleanup fleet -n "+testNamespace):
					t.Errorf("error %v, hint %s", err, fault.HintOf(err))
				}
			})
		})
	}
}
