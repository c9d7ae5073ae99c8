//go:build testall

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestHooks runs hooks on the cluster with shell-operator, edits them while they run, and checks that
// nothing is left afterwards.
func TestHooks(t *testing.T) {
	t.Parallel()
	ns := cluster.namespace(t, "hooks", map[string]string{"hooks": "e2e"})
	crd := readObject(t, filepath.Join("testdata", "hooks", "crd.yaml"))
	mustCreate(t, crd)
	t.Cleanup(func() { _ = cluster.delete(t, crd) })
	h := runHooks(t, cluster, "hooks", ns)
	h.awaitOutput("3 hooks on https://127.0.0.1:")
	testCopier(t)
	h.awaitOutput("ships.sh  runs for tick (schedule)\n")
	wantAdmission(t, ns, "unlucky name")
	wantConversion(t, ns)
	wantOneRun(t, ns)

	h.save("ships.sh", "kubernetesMutating", "kubernetesMutilating")
	h.awaitOutput("kubernetesMutilating")
	h.awaitOutput("the hooks run on without the change")
	wantAdmission(t, ns, "unlucky name")
	h.save("ships.sh", "kubernetesMutilating", "kubernetesMutating", "unlucky name", "not that name")
	h.awaitOutput("ships.sh changed: restarting")
	wantAdmission(t, ns, "not that name")
	wantConversion(t, ns)
	// The API server does not accept this name of a webhook, so shell-operator ends.
	h.save("ships.sh", "crew.ships.example.org", "crew")
	h.awaitOutput("the next save starts shell-operator again")
	h.save("ships.sh", "name: crew", "name: crew.ships.example.org", "mutating::crew()", "mutating::crew.ships.example.org()")
	wantAdmission(t, ns, "not that name")
	wantConversion(t, ns)
	h.testStop(ns)
}

// testStop interrupts the run while hooks are running and the API server waits for one. All
// hooks end, and the request is denied.
func (h *hooks) testStop(ns string) {
	h.t.Helper()
	answered := make(chan error, 1)
	go func() {
		_, err := h.cluster.client.CoreV1().ConfigMaps(ns).Create(h.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "flying-dutchman"}}, metav1.CreateOptions{})
		answered <- err
	}()
	pids := h.awaitLines("dutchman", 1)[0] + strings.Join(h.awaitLines("pids", 2), "")
	if err := h.cmd.Process.Signal(os.Interrupt); err != nil {
		h.t.Fatal(err)
	}
	<-h.done
	if h.err != nil || !strings.HasSuffix(h.output.String(), "stopped\n") {
		h.t.Errorf("operon hooks run ended with %v", h.err)
	}
	if err := <-answered; err == nil {
		h.t.Error("a request without an answer was admitted")
	}
	wantNoTraces(h.t, h, pids)
}

// wantOneRun starts the same hooks again. Only one run with webhooks is possible.
func wantOneRun(t *testing.T, ns string) {
	t.Helper()
	second := runHooks(t, cluster, "hooks", ns)
	<-second.done
	if second.err == nil || !strings.Contains(second.output.String(), "error: register webhooks: another operon hooks run serves the webhooks of ") {
		t.Errorf("a second run: %v\n%s", second.err, second.output.String())
	}
	wantAdmission(t, ns, "unlucky name")
	wantConversion(t, ns)
}

// testCopier checks that the copier copies, restores, updates and removes a Secret.
func testCopier(t *testing.T) {
	t.Helper()
	source := object("v1", "Secret", "default", "mysecret")
	setAt(t, source, map[string]any{"k": "b25l"}, "data")
	mustCreate(t, source)
	t.Cleanup(func() { _ = cluster.delete(t, source) })
	ns := cluster.namespace(t, "copies", nil)
	copied := object("v1", "Secret", ns, "mysecret")
	has := func(want any) {
		t.Helper()
		eventually(t, fmt.Sprintf("a copy with %v", want), func() error {
			o, err := cluster.get(t, copied)
			if want == nil && apierrors.IsNotFound(err) {
				return nil
			}
			if err == nil && at(o, "data", "k") != want {
				err = fmt.Errorf("got %v", o.Object["data"])
			}
			return err
		})
	}
	namespace := object("v1", "Namespace", "", ns)
	patched(t, namespace, `{"metadata":{"labels":{"secret":"yes"}}}`)
	has("b25l")
	if err := cluster.delete(t, copied); err != nil {
		t.Fatal(err)
	}
	has("b25l")
	patched(t, source, `{"data":{"k":"dHdv"}}`)
	has("dHdv")
	patched(t, namespace, `{"metadata":{"labels":{"secret":"no"}}}`)
	has(nil)
}

// wantAdmission waits until one name is denied with a message, and others are admitted.
func wantAdmission(t *testing.T, ns, message string) {
	t.Helper()
	eventually(t, "deny", func() error {
		_, err := cluster.create(t, object("v1", "ConfigMap", ns, "titanic"))
		if err == nil {
			_ = cluster.delete(t, object("v1", "ConfigMap", ns, "titanic"))
		}
		if err == nil || !strings.Contains(err.Error(), `"names.ships.example.org" denied the request: `+message) {
			return errors.Join(errors.New("it was not denied by the hook"), err)
		}
		return nil
	})
	o := object("v1", "ConfigMap", ns, "olympic")
	mustCreate(t, o)
	if err := cluster.delete(t, o); err != nil {
		t.Error(err)
	}
}

// wantConversion creates an object, which a hook mutates, and reads it in another version.
func wantConversion(t *testing.T, ns string) {
	t.Helper()
	ship := object("hooks.example.org/v1", "Ship", ns, "olympic")
	eventually(t, "create a ship", func() error { _, err := cluster.create(t, ship); return err })
	eventually(t, "convert", func() error {
		o, err := cluster.get(t, object("hooks.example.org/v1beta1", "Ship", ns, "olympic"))
		if err == nil && (o.Object["masts"] != "converted" || o.Object["crew"] != "mutated") {
			err = fmt.Errorf("got %v", o.Object)
		}
		return err
	})
	if err := cluster.delete(t, ship); err != nil {
		t.Error(err)
	}
}

// wantNoTraces checks that hooks leave no registrations, no changed CRD, no processes and no
// files.
func wantNoTraces(t *testing.T, h *hooks, pids string) {
	t.Helper()
	wantNoWebhooks(t, cluster)
	crd, err := cluster.get(t, object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "ships.hooks.example.org"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"strategy": "None"}, at(crd, "spec", "conversion")); diff != "" || len(crd.GetAnnotations()) > 0 {
		t.Errorf("the CRD (-want +got):\n%s%v", diff, crd.GetAnnotations())
	}
	wantEnded(t, pids)
	files, err := os.ReadDir(h.temp)
	// In a test binary, which operon is here, golang.org/x/tools creates a folder for its index.
	files = slices.DeleteFunc(files, func(f os.DirEntry) bool { return f.Name() == "goimports" })
	if err != nil || len(files) > 0 {
		t.Errorf("the temporary folder has %v, %v", files, err)
	}
}

// wantNoWebhooks checks that no webhook configurations of hooks are left.
func wantNoWebhooks(t *testing.T, c *controlPlane) {
	t.Helper()
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		if _, err := c.get(t, object("admissionregistration.k8s.io/v1", kind, "", "shell-operator-hooks-hooks")); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// wantEnded checks that processes have ended.
func wantEnded(t *testing.T, pids string) {
	t.Helper()
	for pid := range strings.FieldsSeq(pids) {
		// A process that has ended is a zombie until its parent waits for it.
		if out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output(); err == nil && !strings.HasPrefix(string(out), "Z") {
			t.Errorf("process %s of a hook still runs, in state %s", pid, out)
		}
	}
}

func readObject(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, string(content))[0]
}
