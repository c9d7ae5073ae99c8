//go:build testall

package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/loadtest"
)

// TestScale measures a few objects as `make scale` measures thousands: the manager reconciles
// them all, and again after a restart. It has the edits that docs/scale.md describes.
func TestScale(t *testing.T) {
	t.Parallel()
	const fleets = 20
	p := build(t, "scale", "load", func(dir string) error {
		if err := loadtest.Scaffold(dir); err != nil {
			return err
		}
		return loadtest.Apply(dir, slices.Concat(loadtest.CacheByLabel, loadtest.Workers(4))...)
	})
	c, err := loadtest.Connect(cluster.kubeconfig, cluster.namespace(t, "scale", nil))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	t.Cleanup(func() { _ = c.Uninstall(context.WithoutCancel(t.Context())) })
	if err := c.Install(ctx, filepath.Join(p.dir, filepath.FromSlash(loadtest.CRD))); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateUnrelated(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateFleets(ctx, fleets); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m, err := loadtest.StartManager(p.manager, cluster.kubeconfig, t.TempDir(), "manager", []string{"GOMEMLIMIT=128000000"})
		if err != nil {
			t.Fatal(err)
		}
		pass, err := m.Settle(ctx, fleets)
		if err != nil {
			t.Error(err)
		}
		if pass.Reconciles < fleets || pass.Sync <= 0 || pass.CPU < 0 || pass.Peak < 1 {
			t.Errorf("the manager's figures are %+v", pass)
		}
		if err := m.Stop(); err != nil {
			t.Error(err)
		}
		if n, err := c.CheckOwned(ctx); n != fleets {
			t.Errorf("%d Fleets are reconciled: %v", n, err)
		}
	}
}
