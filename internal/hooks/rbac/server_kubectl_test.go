//go:build testall

package rbac

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/servertest"
)

// planeForKubectl starts an API server with the objects that TestKubectlItself uses.
func planeForKubectl(t *testing.T) *plane {
	t.Helper()
	p := newPlane(t)
	for path, body := range map[string]string{
		"/api/v1/namespaces/ops/configmaps":                       "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {a: b}}}",
		"/api/v1/namespaces/web/configmaps":                       "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}",
		"/api/v1/namespaces/ops/serviceaccounts":                  "{apiVersion: v1, kind: ServiceAccount, metadata: {name: x}}",
		"/api/v1/nodes":                                           "{apiVersion: v1, kind: Node, metadata: {name: x}}",
		"/apis/example.com/v1/namespaces/ops/tabs":                "{apiVersion: example.com/v1, kind: Tab, metadata: {name: x}, status: {ready: true}}",
		"/apis/batch/v1/namespaces/ops/cronjobs":                  "{apiVersion: batch/v1, kind: CronJob, metadata: {name: x}, spec: {schedule: '@daily', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}}}",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles":         "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
		"/apis/rbac.authorization.k8s.io/v1/namespaces/ops/roles": "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: x}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
		"/apis/apps/v1/namespaces/ops/deployments":                "{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}}",
	} {
		p.post(path, body)
	}
	if code, _, err := p.Request(http.MethodGet, "/apis/apps/v1/namespaces/ops/deployments/x", ""); err != nil || code != http.StatusOK {
		t.Fatal(code, err)
	}
	p.kubeconfig = filepath.Join(t.TempDir(), "config")
	content, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": p.URL, "insecure-skip-tls-verify": true}}},
		"users":    []any{map[string]any{"name": "c", "user": map[string]any{"token": servertest.Token}}},
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c", "user": "c", "namespace": "ops"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.kubeconfig, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestKubectlItself runs kubectl with the rules that are derived from its command line.
// It needs all of them and no others. The command lines share a server and do not
// change it.
func TestKubectlItself(t *testing.T) {
	t.Parallel()
	server := sync.OnceValue(func() *plane { return planeForKubectl(t) })
	const cm = `<<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"k":"v"}}'`
	anew := func(text string) string { return strings.ReplaceAll(text, `"x"`, `"new"`) }
	for line, spare := range map[string]string{
		"kubectl get cm x": "", "kubectl get cm": "", "kubectl get cm,tabs -n web": "", "kubectl get cm -A -l a=b": "", "kubectl get cm --field-selector metadata.name=x": "",
		"kubectl get node/x cm/x":              "",
		"kubectl delete cm x --dry-run=server": "", "kubectl delete cm -l a=b --dry-run=server": "", "kubectl delete cm --all --dry-run=server": "",
		"kubectl patch cm x --type merge -p '{\"data\":{\"a\":\"b\"}}' --dry-run=server": "", "kubectl patch tab x --type merge --subresource=status -p '{\"status\":{\"a\":\"b\"}}' --dry-run=server": "",
		"kubectl label cm x c=d --overwrite --dry-run=server": "", "kubectl annotate cm --all c=d --overwrite --dry-run=server": "",
		"kubectl scale deploy x --replicas=0 --dry-run=server": "",
		"kubectl scale --replicas=0 -f - --dry-run=server <<<'{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"x\"}}'": "",
		"kubectl label cm x c=d --overwrite --dry-run=client":              "",
		"kubectl wait cm/x --for=jsonpath={.metadata.name}=x --timeout=1s": "[list]", // older ones list before they watch
		"kubectl create cm new --dry-run=server":                           "", "kubectl create ns new --dry-run=server": "",
		"kubectl create -f - --dry-run=server " + anew(cm): "", "kubectl delete -f - --dry-run=server " + cm: "", "kubectl get -f - " + cm: "",
		"kubectl create job new --from=cronjob/x --dry-run=server": "", "kubectl create token x": "", "kubectl run new --image=a --dry-run=server": "",
		"kubectl describe cm x": "", "kubectl set image deploy/x a=c --dry-run=server": "",
		"kubectl apply --server-side -f - --dry-run=server " + anew(cm): "", "kubectl apply --server-side --force-conflicts -f - --dry-run=server " + cm: "[create]",
		"kubectl replace -f - --dry-run=server " + cm:                                          "",
		"kubectl create rolebinding new --clusterrole=x --serviceaccount=a:b --dry-run=server": "", "kubectl create rolebinding new --role=x --serviceaccount=a:b --dry-run=server": "",
		"kubectl create clusterrolebinding new --clusterrole=x --serviceaccount=a:b --dry-run=server": "",
		"kubectl apply -f - --dry-run=server " + cm:                                                   "[create]", "kubectl apply -f - --dry-run=server " + anew(cm): "[patch]", // it exists, or not
	} {
		t.Run(line, func(t *testing.T) {
			r := derived(t, line)
			if len(r.Findings) > 0 {
				t.Fatal(messages(r))
			}
			prove(t, server, r, spare, func(p *plane, account string) []string {
				command := strings.Replace(line, "kubectl", "kubectl --kubeconfig "+p.kubeconfig+" --as system:serviceaccount:ops:"+account+
					" --as-group system:authenticated --cache-dir "+filepath.Dir(p.kubeconfig), 1)
				cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(servertest.Program(t, "kubectl"))+":"+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				if strings.Contains(string(out), "orbidden") {
					return []string{string(out)}
				}
				if strings.Contains(string(out), "unknown flag") || err != nil {
					t.Errorf("%v: %s", err, out)
				}
				return nil
			})
		})
	}
}
