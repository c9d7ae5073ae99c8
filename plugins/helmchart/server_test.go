package helmchart

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/servertest"
)

// TestServer applies the chart of each golden project to an API server, first with few and then with more objects, as an
// upgrade does, and with strict validation of fields. Kinds of cert-manager and Prometheus are not installed.
func TestServer(t *testing.T) {
	s := servertest.Start(t)
	kubeconfig := s.Kubeconfig("")
	kubectl := func(stdin []byte, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), servertest.Program(t, "kubectl"), append([]string{"--kubeconfig", kubeconfig}, args...)...)
		cmd.Stdin = bytes.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("kubectl %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range goProjects(t) {
		files, namespace := write(t, disk(t, name)), name+"-system"
		kubectl(nil, "create", "namespace", namespace)
		for _, values := range []string{
			"{metrics: {enable: false}, rbac: {helpers: {enabled: false}}}",
			"{fullnameOverride: sea, networkPolicy: {enabled: true}, metrics: {port: 9000}, manager: {replicas: 2, strategy: {type: Recreate}, env: [{name: A, value: b}]}}",
			"{networkPolicy: {enabled: true}}",
		} {
			all := parse(t, values)
			all["certManager"] = map[string]any{"enabled": false}
			objects, err := rendered(t, files, all, name, namespace)
			if err != nil {
				t.Fatal(err)
			}
			var list bytes.Buffer
			for _, o := range objects {
				if err := json.NewEncoder(&list).Encode(o); err != nil {
					t.Fatal(err)
				}
			}
			kubectl(list.Bytes(), "apply", "--server-side", "--validate=strict", "--filename", "-")
		}
	}
}
