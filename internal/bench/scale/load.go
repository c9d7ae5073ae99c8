//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/testkit/loadtest"
)

// load changes objects in a stream while managers are upgraded, scaled and killed, and verifies
// that no change is lost.
func (b *bench) load(ctx context.Context, text *strings.Builder) error {
	if !b.rows.MatchString("load/") {
		return nil
	}
	fmt.Fprintln(os.Stderr, "load/")
	binary, err := b.build()
	if err != nil {
		return err
	}
	cluster, kubeconfig, stop, err := b.start(ctx, "--controllers")
	if err != nil {
		return err
	}
	defer stop()
	return b.stream(ctx, text, cluster, func(name string) (*loadtest.Manager, error) {
		return loadtest.StartManager(binary, kubeconfig, b.temp, name, limit(512), "--leader-elect", "--leader-election-namespace=default")
	})
}

const (
	workers  = 8                      // of the stream
	interval = 100 * time.Millisecond // between two changes of a worker
	phase    = 20 * time.Second
)

func (b *bench) stream(ctx context.Context, text *strings.Builder, c *loadtest.Cluster, start func(name string) (*loadtest.Manager, error)) error {
	writers, err := loadtest.WatchWriters(ctx, c.Fleets)
	if err != nil {
		return err
	}
	first, err := start("first")
	if err != nil {
		return err
	}
	stream := loadtest.StartStream(c.Fleets, c.Fleet(), workers, interval)
	time.Sleep(phase)
	second, err := start("second")
	if err != nil {
		return err
	}
	time.Sleep(phase)
	if err := first.Stop(); err != nil {
		return fmt.Errorf("the first manager: %w", err)
	}
	time.Sleep(phase)
	third, err := start("third")
	if err != nil {
		return err
	}
	time.Sleep(phase)
	second.Kill()
	time.Sleep(phase)
	if err := stream.Stop(); err != nil {
		return err
	}
	if _, err := third.Settle(ctx, 1); err != nil {
		return err
	}
	if err := eventually(ctx, func() error {
		if err := stream.Check(ctx); err != nil {
			return err
		}
		_, err := c.CheckOwned(ctx)
		return err
	}); err != nil {
		return err
	}
	if err := writers.Check("first", "second", "third"); err != nil {
		return err
	}
	turns, err := writers.Turns()
	if err != nil {
		return err
	}
	fmt.Fprintf(text, "## Load\n\n%s changes in %.0f s left %s objects, and each matches its last spec. The three managers, one after the other, wrote %s, %s and %s times. "+
		"The second one took over %.1f s after the first one got SIGTERM, and the third one %.1f s after the second one got SIGKILL.\n\n",
		thousands(stream.Changes()), (5 * phase).Seconds(), thousands(len(stream.Wanted())),
		thousands(turns[0].Writes), thousands(turns[1].Writes), thousands(turns[2].Writes),
		turns[1].First.Sub(turns[0].Last).Seconds(), turns[2].First.Sub(turns[1].Last).Seconds())
	return third.Stop()
}

// eventually calls f until it returns nil, for two minutes at most.
func eventually(ctx context.Context, f func() error) error {
	deadline := time.Now().Add(2 * time.Minute)
	for {
		err := f()
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
}
