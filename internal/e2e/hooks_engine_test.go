//go:build testall

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// testEngine runs hooks with --engine. The program registers a Service for its webhooks, as
// the engine does.
func testEngine(t *testing.T, ns string) {
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
	h := runHooks(t, cluster, "hooks", ns, "--engine", program)
	h.awaitOutput("port ")
	_, port, _ := strings.Cut(h.output.String(), "port ")
	registered := object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "shell-operator-hooks-hooks")
	want := "https://127.0.0.1:" + strings.Fields(port)[0] + "/hooks/names"
	eventually(t, "redirect the webhook to this machine", func() error {
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
	wantNoTraces(t, h, "")
}
