package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hooks is an `operon hooks run` of the hooks in testdata/hooks.
type hooks struct {
	*child
	t      *testing.T
	dir    string // a copy of the hooks
	temp   string // its temporary folder
	pids   string // where the slow hook writes its own process and that of its child
	output log
}

// runHooks starts the hooks, with flags, and a cluster that has their CRD.
func runHooks(t *testing.T, ns string, flags ...string) *hooks {
	t.Helper()
	h := &hooks{t: t, dir: t.TempDir(), temp: t.TempDir(), pids: filepath.Join(t.TempDir(), "pids")}
	if err := os.CopyFS(h.dir, os.DirFS(filepath.Join("testdata", "hooks"))); err != nil {
		t.Fatal(err)
	}
	var err error
	h.child, err = start("operon", func(cmd *exec.Cmd) {
		cmd.Args = append(append(cmd.Args, "hooks", "run", "--hooks", h.dir, "--namespace", ns), flags...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+cluster.kubeconfig, "TMPDIR="+h.temp, "SLOW_PIDS="+h.pids)
		cmd.Stdout, cmd.Stderr = &h.output, &h.output
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.kill()
		if t.Failed() {
			t.Logf("operon hooks run %s:\n%s", strings.Join(flags, " "), h.output.String())
		}
	})
	return h
}

// says waits until the hooks have printed a text, so many times.
func (h *hooks) says(text string) {
	h.t.Helper()
	eventually(h.t, fmt.Sprintf("print %q", text), func() error {
		select {
		case <-h.done:
			return fmt.Errorf("it ended: %w", h.err)
		default:
		}
		if !strings.Contains(h.output.String(), text) {
			return fmt.Errorf("not printed")
		}
		return nil
	})
}

// save changes a hook as an editor does, by another file in its place.
func (h *hooks) save(name string, replace ...string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	content, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	next := strings.NewReplacer(replace...).Replace(string(content))
	if next == string(content) {
		h.t.Fatalf("%s is as it was", name)
	}
	if err := os.WriteFile(path+"~", []byte(next), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		h.t.Fatal(err)
	}
}

// TestHooks runs hooks on the cluster: what they do, what a save does, and that
// nothing is left of them.
func TestHooks(t *testing.T) {
	t.Parallel()
	ns := cluster.namespace(t, "hooks", map[string]string{"hooks": "e2e"})
	crd := readObject(t, filepath.Join("testdata", "hooks", "crd.yaml"))
	mustCreate(t, crd)
	t.Cleanup(func() { _ = cluster.delete(t, crd) })
	h := runHooks(t, ns)
	h.says("3 hooks on https://127.0.0.1:")
	copies(t)
	h.says("set ticks{by=\"clock\"} 1")
	admits(t, ns, "unlucky name")
	converts(t, ns)

	h.save("ships.sh", "unlucky name", "not that name")
	h.says("ships.sh starts anew")
	admits(t, ns, "not that name")
	h.save("ships.sh", "kubernetesMutating", "kubernetesMutilating")
	h.says("kubernetesMutilating")
	h.says("ships.sh goes on with its last good configuration")
	admits(t, ns, "not that name")

	pids, err := os.ReadFile(h.pids)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-h.done
	if h.err != nil || !strings.HasSuffix(h.output.String(), "stopped\n") {
		t.Errorf("its end: %v", h.err)
	}
	nothingLeft(t, h, string(pids))
	hasEngine(t, ns)
}

// copies has the copier copy, restore, update and remove a Secret.
func copies(t *testing.T) {
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

// admits waits until one name is denied, with a message, and others are not.
func admits(t *testing.T, ns, message string) {
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

// converts creates an object, which is mutated, and reads it in another version.
func converts(t *testing.T, ns string) {
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

// nothingLeft looks for what hooks may leave behind: registrations, a changed CRD,
// processes, files.
func nothingLeft(t *testing.T, h *hooks, pids string) {
	t.Helper()
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		if _, err := cluster.get(t, object("admissionregistration.k8s.io/v1", kind, "", "shell-operator-hooks-hooks")); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	crd, err := cluster.get(t, object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "ships.hooks.example.org"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"strategy": "None"}, at(crd, "spec", "conversion")); diff != "" || len(crd.GetAnnotations()) > 0 {
		t.Errorf("the CRD (-want +got):\n%s%v", diff, crd.GetAnnotations())
	}
	for pid := range strings.FieldsSeq(pids) {
		// One that has ended stays as a zombie until somebody takes note.
		if out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output(); err == nil && !strings.HasPrefix(string(out), "Z") {
			t.Errorf("process %s of a hook is there, %s", pid, out)
		}
	}
	files, err := os.ReadDir(h.temp)
	if err != nil || len(files) > 0 {
		t.Errorf("the temporary folder has %v, %v", files, err)
	}
}

// hasEngine runs a stand-in for the engine, which registers a Service as the engine
// does, and ends it.
func hasEngine(t *testing.T, ns string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "engine")
	script := `#!/usr/bin/env bash
set -e
for name in SHELL_OPERATOR_HOOKS_DIR SHELL_OPERATOR_TMP_DIR SHELL_OPERATOR_LISTEN_PORT KUBE_CONFIG VALIDATING_WEBHOOK_CA CONVERSION_WEBHOOK_SERVER_KEY DEBUG_UNIX_SOCKET; do
  [ -n "${!name}" ] || { echo "no $name"; exit 1; }
done
PATH="$(operon envtest path):$PATH"
[ "$1" = start ] && [ "$KUBECONFIG" = "$KUBE_CONFIG" ] && [ -s "$VALIDATING_WEBHOOK_SERVER_CERT" ]
cat > "$KUBE_CONFIG.yaml" <<CONF
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: shell-operator-hooks-hooks}
webhooks:
- name: names.ships.example.org
  sideEffects: None
  admissionReviewVersions: [v1]
  failurePolicy: Ignore
  namespaceSelector: {matchLabels: {hooks: e2e}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  clientConfig: {caBundle: "$(base64 < "$VALIDATING_WEBHOOK_CA" | tr -d '\n')", service: {namespace: $SHELL_OPERATOR_NAMESPACE, name: shell-operator-validating-svc, path: /hooks/names}}
CONF
kubectl create -f "$KUBE_CONFIG.yaml"
echo "port $VALIDATING_WEBHOOK_LISTEN_PORT"
exec sleep 600
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	h := runHooks(t, ns, "--engine", program)
	h.says("port ")
	_, port, _ := strings.Cut(h.output.String(), "port ")
	registered := object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "shell-operator-hooks-hooks")
	want := "https://127.0.0.1:" + strings.Fields(port)[0] + "/hooks/names"
	eventually(t, "lead the webhook here", func() error {
		o, err := cluster.get(t, registered)
		if err != nil {
			return err
		}
		webhooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
		if client := webhooks[0].(map[string]any)["clientConfig"].(map[string]any); client["url"] != want || client["service"] != nil {
			return fmt.Errorf("got %v, want %s", client, want)
		}
		return nil
	})
	if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-h.done
	nothingLeft(t, h, "")
}

func readObject(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, string(content))[0]
}
