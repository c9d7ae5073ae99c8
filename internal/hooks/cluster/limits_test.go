//go:build testall

package cluster

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/client-go/rest"
)

// TestEngineLimits reads the limits as the engine does.
func TestEngineLimits(t *testing.T) {
	t.Parallel()
	defaults := Limits{QPS: 5, Burst: 10}
	for _, tc := range []struct {
		env          map[string]string
		watch, patch Limits
		wrong        string
	}{
		{nil, defaults, Limits{5, 10, 10 * time.Second}, ""},
		{map[string]string{"KUBE_CLIENT_QPS": ""}, defaults, Limits{5, 10, 10 * time.Second}, ""},
		{map[string]string{"KUBE_CLIENT_QPS": "2.5", "KUBE_CLIENT_BURST": "3"}, Limits{2.5, 3, 0}, Limits{5, 10, 10 * time.Second}, ""},
		{map[string]string{"OBJECT_PATCHER_KUBE_CLIENT_QPS": "-1", "OBJECT_PATCHER_KUBE_CLIENT_BURST": "7", "OBJECT_PATCHER_KUBE_CLIENT_TIMEOUT": "1m"}, defaults, Limits{-1, 7, time.Minute}, ""},
		{map[string]string{"KUBE_CLIENT_QPS": "many"}, defaults, defaults, "KUBE_CLIENT_QPS=many is not a number"},
		{map[string]string{"KUBE_CLIENT_BURST": "1.5"}, defaults, defaults, "KUBE_CLIENT_BURST=1.5 is not an integer"},
		{map[string]string{"OBJECT_PATCHER_KUBE_CLIENT_TIMEOUT": "10"}, defaults, defaults, "OBJECT_PATCHER_KUBE_CLIENT_TIMEOUT=10 is not a duration"},
	} {
		watch, patch, err := EngineLimits(func(name string) string { return tc.env[name] })
		switch {
		case tc.wrong != "":
			if err == nil || !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("%v: %v, want %s", tc.env, err, tc.wrong)
			}
		case err != nil || watch != tc.watch || patch != tc.patch:
			t.Errorf("%v: %v and %v, %v", tc.env, watch, patch, err)
		}
	}
}

// TestLimited checks that a client keeps its limits and the original has none.
func TestLimited(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "slow") {
			select {
			case <-r.Context().Done():
			case <-release:
			}
		}
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	unlimited, err := connect(&rest.Config{Host: server.URL}, "test", "default", nil)
	if err != nil {
		t.Fatal(err)
	}
	limited := func(l Limits) *Cluster {
		c, err := unlimited.Limited(l)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Limits{c.config.QPS, c.config.Burst, c.config.Timeout}); got != l {
			t.Errorf("limits: got %v, want %v", got, l)
		}
		return c
	}
	get := func(c *Cluster, name string, within time.Duration) error {
		ctx := t.Context()
		if within > 0 {
			var cancel func()
			ctx, cancel = context.WithTimeout(ctx, within)
			defer cancel()
		}
		_, err := c.Get(ctx, kinds.Kind{Version: "v1", Resource: "configmaps"}, "default", name)
		return err
	}
	// A third request would have to wait for a thousand seconds, and so is not sent.
	for name, c := range map[string]*Cluster{"limited": limited(Limits{QPS: 0.001, Burst: 2}), "unlimited": limited(Limits{QPS: -1}), "former": unlimited} {
		for i := range 3 {
			err := get(c, "x", 30*time.Second)
			if refused := name == "limited" && i == 2; refused != (err != nil) || refused && !strings.Contains(err.Error(), "rate limiter") {
				t.Errorf("%s, request %d: %v", name, i+1, err)
			}
		}
	}
	if err := get(limited(Limits{QPS: -1, Timeout: 20 * time.Millisecond}), "slow", 0); err == nil || !strings.Contains(err.Error(), "Timeout") && !strings.Contains(err.Error(), "deadline") {
		t.Errorf("slow request: got %v, want a timeout", err)
	}
}
