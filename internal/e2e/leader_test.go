//go:build testall

package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/loadtest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testLeader stops the first of two managers, starts another one and kills the second, while
// objects are created, updated and deleted. At any time, only the leader reconciles, and in the
// end all objects are reconciled.
func testLeader(t *testing.T, i *installation, first *manager, scraper string) {
	namespace := i.cluster.namespace(t, "leader", nil)
	berth := object(berthVersion, "Berth", namespace, "")
	berths := i.cluster.resource(t, berth)
	writers, err := loadtest.WatchWriters(t.Context(), berths)
	if err != nil {
		t.Fatal(err)
	}
	stream := loadtest.StartStream(berths, berth, 2, interval)
	defer func() { _ = stream.Stop() }()
	second := i.run(t)
	i.wantReady(t, namespace, "first")
	wantIdle(t, second, scraper)

	holder := i.leader(t)
	first.stop(t)
	if first.err != nil {
		t.Errorf("the leader ended with %v", first.err)
	}
	if i.leader(t) == holder {
		t.Error("the leader did not release the lease")
	}
	second.awaitLeader(t, scraper)
	third := i.run(t)
	i.wantReady(t, namespace, "second")
	wantIdle(t, third, scraper)
	if count, err := second.reconciled(scraper); err != nil || count == 0 {
		t.Errorf("the leader reconciled %v times (%v)", count, err)
	}

	holder = i.leader(t)
	second.kill(t)
	if i.leader(t) != holder {
		t.Error("a killed leader released the lease")
	}
	third.awaitLeader(t, scraper)
	i.wantReady(t, namespace, "third")

	if err := stream.Stop(); err != nil {
		t.Error(err)
	}
	eventually(t, "reconcile the last specs", func() error { return stream.Check(t.Context()) })
	if err := writers.Check(first.name, second.name, third.name); err != nil {
		t.Error(err)
	}
	t.Logf("%d changes", stream.Changes())

	// The last leader cleans up the objects of all.
	for _, name := range []string{"first", "second", "third"} {
		i.wantGone(t, namespace, name)
	}
}

// wantReady creates a Berth and waits until it is ready.
func (i *installation) wantReady(t *testing.T, namespace, name string) {
	t.Helper()
	berth := object(berthVersion, "Berth", namespace, name)
	berth.Object["spec"] = map[string]any{}
	if _, err := i.cluster.create(t, berth); err != nil {
		t.Fatal(err)
	}
	eventually(t, "get "+name+" ready", func() error { return ready(i.cluster.get(t, berth)) })
}

// wantGone deletes a Berth and waits until it is gone.
func (i *installation) wantGone(t *testing.T, namespace, name string) {
	t.Helper()
	berth := object(berthVersion, "Berth", namespace, name)
	if err := i.cluster.delete(t, berth); err != nil {
		t.Fatal(err)
	}
	eventually(t, "delete "+name, func() error { return gone(i.cluster.get(t, berth)) })
}

// leader returns the identity that holds the lease, or "".
func (i *installation) leader(t *testing.T) string {
	t.Helper()
	leases, err := i.cluster.client.CoordinationV1().Leases(i.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(leases.Items) != 1 {
		t.Fatalf("%d leases: %v", len(leases.Items), err)
	}
	if holder := leases.Items[0].Spec.HolderIdentity; holder != nil {
		return *holder
	}
	return ""
}

func (m *manager) awaitLeader(t *testing.T, scraper string) {
	t.Helper()
	eventually(t, "lead", func() error {
		value, err := m.metric(scraper, "leader_election_master_status{")
		if err == nil && value != 1 {
			err = fmt.Errorf("leader_election_master_status is %v", value)
		}
		return err
	})
}

// wantIdle checks that a manager has reconciled nothing.
func wantIdle(t *testing.T, m *manager, scraper string) {
	t.Helper()
	if count, err := m.reconciled(scraper); err != nil || count != 0 {
		t.Errorf("a manager that does not lead reconciled %v times (%v)", count, err)
	}
}

// reconciled returns how often a manager has called Reconcile.
func (m *manager) reconciled(scraper string) (float64, error) {
	return m.metric(scraper, "controller_runtime_reconcile_total{")
}

// metric returns the sum of the samples whose line begins with prefix.
func (m *manager) metric(scraper, prefix string) (sum float64, err error) {
	status, body, err := get(m.metricsURL, trusting(authority()), scraper)
	if err != nil || status != http.StatusOK {
		return 0, fmt.Errorf("%s: %d %w", m.metricsURL, status, err)
	}
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, prefix) {
			var value float64
			if _, err := fmt.Sscan(line[strings.LastIndex(line, " "):], &value); err != nil {
				return 0, fmt.Errorf("%s: %w", line, err)
			}
			sum += value
		}
	}
	return sum, nil
}
