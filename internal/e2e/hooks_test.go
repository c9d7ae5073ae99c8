//go:build testall

package e2e

import (
	"context"
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

// TestHooks runs hooks on the cluster, edits them while they run, and checks that nothing is
// left afterwards.
func TestHooks(t *testing.T) {
	t.Parallel()
	ns := cluster.namespace(t, "hooks", map[string]string{"hooks": "e2e"})
	crd := readObject(t, filepath.Join("testdata", "hooks", "crd.yaml"))
	mustCreate(t, crd)
	t.Cleanup(func() { _ = cluster.delete(t, crd) })
	h := runHooks(t, cluster, "hooks", ns)
	h.awaitOutput("3 hooks on https://127.0.0.1:")
	testCopier(t)
	h.awaitOutput("set ticks{by=\"clock\"} 1")
	h.awaitOutput("$METRICS_PATH:1:75: warning: unknown key unit; the engine ignores it [metric-unknown-key]")
	wantAdmission(t, ns, "unlucky name")
	wantConversion(t, ns)
	wantOneRun(t, ns)

	h.testReload(ns)
	h.testAddAndRemove()
	h.testStop(ns)
	testEngine(t, ns)
}

// testReload edits the hook with webhooks. One name is always denied: by the hook before the
// edit, by the one after it, or because the hook is starting.
func (h *hooks) testReload(ns string) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	asking := make(chan error, 1)
	go func() {
		resource := h.cluster.client.CoreV1().ConfigMaps(ns)
		titanic := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "titanic"}}
		for ctx.Err() == nil {
			_, err := resource.Create(ctx, titanic, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err == nil {
				asking <- errors.New("a name was admitted while the hook was replaced")
				return
			}
		}
		asking <- nil
	}()
	h.save("ships.sh", "unlucky name", "not that name")
	h.awaitOutput("ships.sh restarted")
	wantAdmission(h.t, ns, "not that name")
	h.save("ships.sh", "kubernetesMutating", "kubernetesMutilating")
	h.awaitOutput("kubernetesMutilating")
	h.awaitOutput("ships.sh keeps running with its last valid configuration")
	wantAdmission(h.t, ns, "not that name")
	// The engine accepts it, and the API server does not: other hooks are not affected.
	h.save("ships.sh", "kubernetesMutilating", "kubernetesMutating", "crew.ships.example.org", "crew")
	h.awaitOutput("register webhooks")
	h.save("ships.sh", "name: crew", "name: crew.ships.example.org", "mutating::crew()", "mutating::crew.ships.example.org()", "not that name", "never that name")
	wantAdmission(h.t, ns, "never that name")
	wantConversion(h.t, ns)
	cancel()
	if err := <-asking; err != nil {
		h.t.Error(err)
	}
}

// testAddAndRemove adds a hook in several steps, removes it, and saves a running hook.
func (h *hooks) testAddAndRemove() {
	h.t.Helper()
	late := filepath.Join(h.dir, "late.sh")
	script := "#!/usr/bin/env bash\nif [ \"$1\" = --config ]; then echo '{configVersion: v1, schedule: [{crontab: \"* * * * * *\", queue: late}]}'; exit; fi\necho it is late\n"
	if err := os.WriteFile(late, []byte(script), 0o644); err != nil {
		h.t.Fatal(err)
	}
	h.awaitOutput("late.sh changed, and hooks may read it: restarting all hooks")
	h.awaitLines("pids", 2)
	if err := os.Chmod(late, 0o755); err != nil {
		h.t.Fatal(err)
	}
	h.awaitOutputs(2, "it is late")
	if err := os.Chmod(late, 0o644); err != nil {
		h.t.Fatal(err)
	}
	h.awaitOutput("late.sh was removed or is no longer executable: stopped")
	h.save("slow.sh", "sleep 600 &", "sleep 500 &")
	wantEnded(h.t, strings.Join(h.awaitLines("pids", 3)[:2], ""))
	// Saves are handled in order, so the removed hook ended before this one started, and
	// both have the same schedule.
	runs, ticks := strings.Count(h.output.String(), "it is late"), strings.Count(h.output.String(), "set ticks")
	h.awaitOutputs(ticks+3, "set ticks")
	if now := strings.Count(h.output.String(), "it is late"); now > runs {
		h.t.Errorf("a removed hook ran %d times", now-runs)
	}
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
	pids := h.awaitLines("dutchman", 1)[0] + h.awaitLines("pids", 3)[2]
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
