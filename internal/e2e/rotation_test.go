//go:build testall

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// testRotation replaces the certificates of a running manager and their authority, while the
// API server calls its webhooks.
func testRotation(t *testing.T, i *installation, scraper string) {
	before, after := authority(), newIssuer()
	folder := t.TempDir()
	before.certify(t, folder)
	m := i.run(t, "--webhook-cert-path="+folder, "--metrics-cert-path="+folder)
	i.wantReady(t, i.namespace, "stored")
	calls := i.keepCalling(t, i.namespace, "stored")
	calls.wantSuccess(t, "with the first certificate")

	i.trust(t, before, after)
	calls.wantSuccess(t, "while both authorities are trusted")
	after.certify(t, folder)
	eventually(t, "show the new certificates", func() error {
		_, _, webhook := get("https://"+m.webhook, trusting(after), "")
		_, _, metrics := get(m.metricsURL, trusting(after), scraper)
		return errors.Join(webhook, metrics)
	})
	calls.wantSuccess(t, "with the second certificate")
	i.trust(t, after)
	calls.wantSuccess(t, "when the first authority is no longer trusted")
	calls.stop()

	select {
	case <-m.done:
		t.Error("the manager ended")
	default:
	}
	// For a new authority, the API server opens new connections, which use the new
	// certificate.
	i.trust(t, newIssuer())
	eventually(t, "distrust the manager", func() error {
		if answer := fmt.Sprint(i.callManager(t.Context(), i.namespace, "stored")); !strings.Contains(answer, "x509") {
			return fmt.Errorf("the answer is %s", answer)
		}
		return nil
	})
	i.trust(t, after)
	eventually(t, "trust the manager again", func() error { return i.callManager(t.Context(), i.namespace, "stored") })
	i.wantGone(t, i.namespace, "stored")
}

// trust sets the authorities that the API server trusts when it calls the manager, as
// cert-manager does.
func (i *installation) trust(t *testing.T, authorities ...*issuer) {
	t.Helper()
	for _, o := range ofKind(i.objects, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "CustomResourceDefinition") {
		now, err := i.cluster.get(t, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range webhooks(now) {
			w["clientConfig"].(map[string]any)["caBundle"] = bundle(authorities...)
		}
		if _, err := i.cluster.update(t, now); err != nil {
			t.Fatal(err)
		}
	}
}

// callManager makes the API server call the manager to default, validate and convert: it
// creates a Berth as a dry run and reads a stored one in the other version.
func (i *installation) callManager(ctx context.Context, namespace, stored string) error {
	berths := schema.GroupVersionResource{Group: "port.example.org", Version: "v1", Resource: "berths"}
	berth := object(berthVersion, "Berth", namespace, "dry-run")
	berth.Object["spec"] = map[string]any{}
	_, err := i.cluster.dynamic.Resource(berths).Namespace(namespace).Create(ctx, berth, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	berths.Version = "v1beta1"
	_, converted := i.cluster.dynamic.Resource(berths).Namespace(namespace).Get(ctx, stored, metav1.GetOptions{})
	return errors.Join(err, converted)
}

// managerCalls are consecutive calls of the manager.
type managerCalls struct {
	stop     func()
	mu       sync.Mutex
	answered int
	err      error // of the failed calls
}

// keepCalling calls the manager until it is stopped or the test ends.
func (i *installation) keepCalling(t *testing.T, namespace, stored string) *managerCalls {
	return repeat(t, func(ctx context.Context) error { return i.callManager(ctx, namespace, stored) })
}

// repeat makes a call until it is stopped or the test ends.
func repeat(t *testing.T, call func(context.Context) error) *managerCalls {
	ctx, cancel := context.WithCancel(t.Context())
	q, done := &managerCalls{}, make(chan struct{})
	q.stop = func() { cancel(); <-done }
	t.Cleanup(q.stop)
	go func() {
		defer close(done)
		for ; ctx.Err() == nil; time.Sleep(interval / 4) { // calls without a pause would keep the servers busy
			err := call(ctx)
			if ctx.Err() != nil {
				return // the test has ended
			}
			q.mu.Lock()
			if q.answered++; err != nil {
				q.err = errors.Join(q.err, err)
			}
			q.mu.Unlock()
		}
	}()
	return q
}

// wantSuccess checks that all calls succeed for a while.
func (q *managerCalls) wantSuccess(t *testing.T, when string) {
	t.Helper()
	count := func() (int, error) {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.answered, q.err
	}
	before, _ := count()
	consistently(t, "succeed "+when, func() error { _, err := count(); return err })
	eventually(t, "succeed "+when, func() error {
		now, err := count()
		if now == before {
			err = fmt.Errorf("no call has succeeded")
		}
		return err
	})
}
