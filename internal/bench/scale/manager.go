//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/testkit/loadtest"
)

// row is a measurement: a manager of a new cluster reconciles all objects for the first time, and
// is then restarted.
type row struct {
	name      string
	fleets    int
	unrelated int // ConfigMaps without an owner
	edits     []loadtest.Edit
	env       []string
}

// sizes measures the project as operon scaffolds it.
func (b *bench) sizes(ctx context.Context, text *strings.Builder) error {
	var rows []row
	for _, n := range []int{100, 1000, 5000, 10_000} {
		rows = append(rows, row{name: fmt.Sprint("size/", n), fleets: n, env: limit(512)})
	}
	fmt.Fprintf(text, "## Managers\n\nMeasured on %s on a machine with %d cores, which the manager shares with the API server.\n\n", time.Now().Format(time.DateOnly), runtime.NumCPU())
	return b.table(ctx, text, "objects | owned objects", rows, func(r row) string {
		return fmt.Sprintf("%s | %s", thousands(r.fleets), thousands(r.fleets*loadtest.OwnedPerFleet))
	})
}

// variants measures changes of the project.
func (b *bench) variants(ctx context.Context, text *strings.Builder) error {
	const n, others = 5000, 20_000
	return b.table(ctx, text, "objects | difference", []row{
		{name: "variant/`managedFields` in the cache, no `GOMEMLIMIT`", fleets: n, edits: loadtest.KeepManagedFields},
		{name: "variant/8 workers", fleets: n, edits: loadtest.Workers(8), env: limit(512)},
		{name: "variant/20,000 other ConfigMaps", fleets: n, unrelated: others, env: limit(512)},
		{name: "variant/the same, and a cache limited by a label", fleets: n, unrelated: others, edits: loadtest.CacheByLabel, env: limit(512)},
		{name: "variant/the `GOMEMLIMIT` of 128Mi, without the limit", fleets: 2 * n, env: limit(128)},
	}, func(r row) string { return thousands(r.fleets) + " | " + strings.TrimPrefix(r.name, "variant/") })
}

// limit returns the environment that config/manager sets for a memory limit in MiB.
func limit(mib int) []string { return []string{fmt.Sprintf("GOMEMLIMIT=%d000000", mib)} }

// table measures rows and prints a table.
func (b *bench) table(ctx context.Context, text *strings.Builder, title string, rows []row, name func(row) string) error {
	var lines strings.Builder
	for _, r := range rows {
		if !b.rows.MatchString(r.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, r.name)
		first, restart, err := b.measure(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		line := fmt.Sprintf("| %s | %.1f | %.0f | %.1f | %.0f | %.1f | %.1f | %.1f | %.0f |\n", name(r),
			first.Work.Seconds(), rate(first), first.CPU.Seconds(), first.Peak,
			restart.Sync.Seconds(), restart.Work.Seconds(), restart.CPU.Seconds(), restart.Peak)
		fmt.Fprint(os.Stderr, line)
		lines.WriteString(line)
	}
	if lines.Len() > 0 {
		columns := strings.Count(title, "|") + 1
		fmt.Fprintf(text, "| %s | first pass, s | reconciles/s | CPU s | peak MiB | restart: sync, s | pass, s | CPU s | peak MiB |\n|%s%s\n%s\n",
			title, strings.Repeat(" --- |", columns), strings.Repeat(" ---: |", 8), lines.String())
	}
	return nil
}

// measure starts a manager in a new cluster with objects, and restarts it when all of them are
// reconciled.
func (b *bench) measure(ctx context.Context, r row) (first, restart loadtest.Pass, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	binary, err := b.build(r.edits...)
	if err != nil {
		return first, restart, err
	}
	cluster, kubeconfig, stop, err := b.start(ctx)
	if err != nil {
		return first, restart, err
	}
	defer stop()
	if err := cluster.CreateUnrelated(ctx, r.unrelated); err != nil {
		return first, restart, err
	}
	if err := cluster.CreateFleets(ctx, r.fleets); err != nil {
		return first, restart, err
	}
	for _, pass := range []*loadtest.Pass{&first, &restart} {
		m, err := loadtest.StartManager(binary, kubeconfig, b.temp, "manager", r.env)
		if err != nil {
			return first, restart, err
		}
		if *pass, err = m.Settle(ctx, r.fleets); err != nil {
			m.Kill()
			return first, restart, err
		}
		if err := m.Stop(); err != nil {
			return first, restart, err
		}
	}
	n, err := cluster.CheckOwned(ctx)
	if err == nil && n != r.fleets {
		err = fmt.Errorf("%d of %d objects are left", n, r.fleets)
	}
	return first, restart, err
}

// build scaffolds a project with edits, and builds its manager.
func (b *bench) build(edits ...loadtest.Edit) (binary string, err error) {
	if b.project, err = os.MkdirTemp(b.temp, "scale-"); err != nil {
		return "", err
	}
	if err := errors.Join(loadtest.Scaffold(b.project), loadtest.Apply(b.project, edits...)); err != nil {
		return "", err
	}
	binary = filepath.Join(b.project, "bin", "manager")
	cmd := exec.Command("go", "build", "-o", binary, "./cmd")
	cmd.Dir = b.project
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return binary, nil
}

func rate(p loadtest.Pass) float64 { return float64(p.Reconciles) / p.Work.Seconds() }

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
