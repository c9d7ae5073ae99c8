//go:build unix && testall

package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// configMap returns a ConfigMap whose events trigger the hooks of these tests.
func configMap(namespace, name, label, of string) *unstructured.Unstructured {
	o := object("v1", "ConfigMap", namespace, name)
	o.SetLabels(map[string]string{label: "e2e"})
	o.Object["data"] = map[string]any{"of": of}
	return o
}

// TestHooksRetry runs a hook that fails. It is retried with growing delays and receives the
// events since the first try. Another queue does not wait for it, and a hook with
// allowFailure is not retried. These hooks have no webhooks, so they can run in parallel with
// those of other tests.
func TestHooksRetry(t *testing.T) {
	t.Parallel()
	ns := cluster.namespace(t, "retry", nil)
	h := runHooks(t, cluster, "hooks-retry", ns)
	h.awaitOutput("patient.sh  maps synchronization -> ok")
	h.awaitOutput("stubborn.sh  maps synchronization -> ok")
	mustCreate(t, configMap(ns, "first", "retry", ""))
	h.awaitOutput("error: exit code 1 (retry in 5s)")
	mustCreate(t, configMap(ns, "second", "retry", ""))
	h.awaitOutput("error: exit code 1 (retry in 6s)")
	both := "stubborn.sh  maps Added " + ns + "/first, maps Added " + ns + "/second -> "
	h.awaitOutput(both + "ok\n")
	if received := h.awaitLines("stubborn", 3); received[0] != "first\n" || received[len(received)-1] != "first second\n" {
		t.Errorf("the hook received %q", received)
	}
	allowed := "patient.sh  maps Added " + ns + "/first -> error: exit code 1\n"
	if received := h.awaitLines("patient", 2); len(received) > 2 || !strings.Contains(h.output.String(), allowed) {
		t.Errorf("the hook patient.sh received %q", received)
	}
}

// stopServerOfHooks stops the API server while hooks run. Objects are created, changed and
// deleted while no watch is open; afterwards, the hooks receive all these events.
func stopServerOfHooks(t *testing.T, c *controlPlane) {
	t.Helper()
	h := runHooks(t, c, "hooks-outage", "default")
	h.awaitOutput("there: \n")
	c.apply(t, configMap("default", "changes", "outage", "1"), configMap("default", "goes", "outage", "1"), configMap("default", "stays", "outage", "1"))
	h.awaitOutput("there: changes=1 goes=1 stays=1\n")

	signal := func(s os.Signal) {
		t.Helper()
		if err := h.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	signalServer(t, c, os.Kill)
	for _, o := range []*unstructured.Unstructured{configMap("default", "changes", "outage", "2"), configMap("default", "comes", "outage", "1")} {
		eventually(t, "write "+o.GetName(), func() error {
			_, err := c.create(t, o)
			if apierrors.IsAlreadyExists(err) {
				_, err = c.update(t, o)
			}
			return err
		})
	}
	eventually(t, "delete", func() error {
		if err := c.delete(t, configMap("default", "goes", "outage", "")); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	})
	signalServer(t, c, os.Kill) // so that it has no history for watches
	eventually(t, "be back", func() error {
		_, err := c.client.CoreV1().ConfigMaps("default").Get(t.Context(), "comes", metav1.GetOptions{})
		return err
	})
	signal(syscall.SIGCONT)
	h.awaitOutput("there: changes=2 comes=1 stays=1\n")
	_, err := c.create(t, object("v1", "Secret", "default", "any"))
	if err == nil || !strings.Contains(err.Error(), "no secrets here") {
		t.Errorf("the webhook: %v", err)
	}
	signal(os.Interrupt)
	<-h.done
	if h.err != nil {
		t.Errorf("operon hooks run ended with %v", h.err)
	}
	wantNoWebhooks(t, c)
}
