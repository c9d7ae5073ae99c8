//go:build linux && testall

package envtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
)

func init() { runStub = stubManager }

// stubManager answers the API server like a manager that labels objects and converts them
// without changes.
func stubManager() {
	folder := flag.String("webhook-cert-path", filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs"), "")
	port := flag.String("webhook-port", "", "")
	flag.Parse()
	handler := func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request := review["request"].(map[string]any)
		response := map[string]any{"uid": request["uid"]}
		switch {
		case r.URL.Path == "/convert":
			objects, _ := request["objects"].([]any)
			for _, o := range objects {
				o.(map[string]any)["apiVersion"] = request["desiredAPIVersion"]
			}
			response["convertedObjects"], response["result"] = objects, map[string]any{"status": "Success"}
		case strings.HasPrefix(r.URL.Path, "/mutate-"):
			response["allowed"], response["patchType"] = true, "JSONPatch"
			response["patch"] = []byte(`[{"op":"add","path":"/metadata/labels","value":{"stub":"called"}}]`)
		default:
			response["allowed"] = true
		}
		delete(review, "request")
		review["response"] = response
		_ = json.NewEncoder(w).Encode(review)
	}
	err := http.ListenAndServeTLS("127.0.0.1:"+*port, filepath.Join(*folder, "tls.crt"), filepath.Join(*folder, "tls.key"), http.HandlerFunc(handler))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestEnvtestRun runs a manager on this machine, whose webhooks and conversions the control
// plane calls. At the end nothing is registered, also if the run was killed.
func TestEnvtestRun(t *testing.T) {
	t.Parallel()
	p := newControlPlanes(t)
	r := runs{p, filepath.Join(t.TempDir(), "harbor"), p.operon("envtest", "start", "--detach"), "24443"}
	if err := os.CopyFS(r.dir, os.DirFS(goldentest.Dir("harbor"))); err != nil {
		t.Fatal(err)
	}
	r.kubectl("apply", "--server-side", "-f", "config/crd/bases")
	r.kubectl("wait", "--for=condition=Established", "crd/berths.port.example.org")

	first := r.start()
	r.awaitCalls()
	r.kubectl("apply", "-f", "berth.yaml")
	if got := r.kubectl("get", "berths.v1beta1.port.example.org", "here", "-o", "jsonpath={.apiVersion} {.metadata.labels.stub}"); got != "port.example.org/v1beta1 called" {
		t.Errorf("the converted object is %s", got)
	}
	r.kubectl("delete", "-f", "berth.yaml")
	_ = first.Process.Signal(syscall.SIGINT)
	if err := first.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
	r.wantRegistered(false)

	second := r.start()
	r.awaitCalls()
	_ = second.Process.Kill()
	_ = second.Wait()
	r.wantRegistered(true)
	if out, err := r.run([]string{"ENABLE_WEBHOOKS=false"}, "echo", "without", "webhooks"); err != nil || out != "without webhooks\n" {
		t.Errorf("%v\n%s", err, out)
	}
	r.wantRegistered(false)

	// A manager without the flag has the certificate where controller-runtime looks for it.
	main := filepath.Join(r.dir, "cmd", "main.go")
	source, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(main, []byte(strings.ReplaceAll(string(source), "webhook-cert-path", "certs")), 0o600); err != nil {
		t.Fatal(err)
	}
	third := r.start()
	r.awaitCalls()
	_ = third.Process.Signal(syscall.SIGINT)
	if err := third.Wait(); err != nil {
		t.Errorf("without the flag: %v", err)
	}

	// Another cluster cannot call this machine.
	config, err := os.ReadFile(r.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(other, []byte(strings.Replace(string(config), "server: https://127.0.0.1:", "server: https://127.0.0.2:", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := r.run([]string{"KUBECONFIG=" + other, "TMPDIR=" + t.TempDir()}, "echo", "ran")
	if err == nil || !strings.HasPrefix(out, "error: set ENABLE_WEBHOOKS=false: the cluster of context operon-default cannot call webhooks on this machine\nhint:  ") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := r.run([]string{"KUBECONFIG=" + other, "ENABLE_WEBHOOKS=false"}, "echo", "ran"); err != nil || out != "ran\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// runs are runs of operon envtest run in a project.
type runs struct {
	*controlPlanes
	dir, kubeconfig, port string
}

// start runs the stub manager.
func (r runs) start() *exec.Cmd {
	r.Helper()
	berth := "apiVersion: port.example.org/v1\nkind: Berth\nmetadata: {name: here, namespace: default}\nspec: {}\n"
	if err := os.WriteFile(filepath.Join(r.dir, "berth.yaml"), []byte(berth), 0o644); err != nil {
		r.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		r.Fatal(err)
	}
	cmd := r.command("envtest", "run", "--", self, "--webhook-port="+r.port)
	cmd.Dir, cmd.Env = r.dir, append(cmd.Env, "KUBECONFIG="+r.kubeconfig, stubVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	return cmd
}

// run runs a command with more variables, and returns its output.
func (r runs) run(env []string, args ...string) (string, error) {
	cmd := r.command(append([]string{"envtest", "run", "--"}, args...)...)
	cmd.Dir, cmd.Env = r.dir, append(append(cmd.Env, "KUBECONFIG="+r.kubeconfig), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r runs) try(args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(operontest.Assets(), "kubectl"), args...)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "KUBECONFIG="+r.kubeconfig)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r runs) kubectl(args ...string) string {
	r.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// awaitCalls waits until the API server calls all webhooks of Berth.
func (r runs) awaitCalls() {
	r.Helper()
	eventually(r.T, "call the webhooks", func() error {
		out, err := r.try("create", "--dry-run=server", "-f", "berth.yaml", "-o", "jsonpath={.metadata.labels.stub}")
		conversion := r.kubectl("get", "crd", "berths.port.example.org", "-o", "jsonpath={.spec.conversion.webhook.clientConfig.url}")
		if err != nil || out != "called" || conversion != "https://127.0.0.1:"+r.port+"/convert" {
			return fmt.Errorf("%w: %s, conversion %q", err, out, conversion)
		}
		return nil
	})
}

func (r runs) wantRegistered(want bool) {
	r.Helper()
	names := strings.Fields(r.kubectl("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-o", "name"))
	strategy := r.kubectl("get", "crd", "berths.port.example.org", "-o", "jsonpath={.spec.conversion.strategy}")
	if (len(names) == 2) != want || (len(names) == 0) == want || (strategy == "Webhook") != want {
		r.Errorf("registered: %v, conversion %s", names, strategy)
	}
}
