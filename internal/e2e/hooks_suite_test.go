//go:build unix && testall

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestHooksSuite runs the end-to-end tests of a hook project. `operon hooks run` stands in
// for the deployment of shell-operator, and this test for kubelet.
func TestHooksSuite(t *testing.T) {
	t.Parallel()
	s := newHooksSuite(t)
	for name, refusal := range map[string]struct {
		env  []string
		want string
	}{
		"no image": {[]string{"E2E_CONTEXT=here"}, "here is not a kind cluster: set E2E_IMAGE"},
		"typo":     {[]string{"E2E_CONTEXT=there", "E2E_IMAGE=example.com/hooks:v1"}, "cannot locate context there"},
	} {
		if out, err := s.run(t, refusal.env...); err == nil || !strings.Contains(out, refusal.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	consent := []string{"E2E_CONTEXT=here", "E2E_IMAGE=example.com/hooks:v1"}
	used := object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "suitehooks-manager-role")
	mustCreate(t, used)
	if out, err := s.run(t, consent...); err == nil || !strings.Contains(out, "the tests would delete these objects") {
		t.Errorf("the hooks are in use: %v\n%s", err, out)
	}
	if err := cluster.delete(t, used); err != nil { // the tests did not
		t.Fatal(err)
	}

	const logged = "eventually logged 'configmaps: Added suitehooks-greeted/example'\n"
	hooks := filepath.Join(s.dir, "test", "e2e", "hooks")
	replace(t, filesys.MakeFsOnDisk(), filepath.Join(hooks, "twin.sh"), logged,
		logged+"refused 'Invalid value' <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: UPPER, namespace: default}}'\n")
	s.awaitTests(t, true, []string{"secret/webhook-server-cert serverside-applied\n", "ok      test/e2e/hooks/twin.sh\n", "ok      test/e2e/hooks/guard.sh\n"}, consent...)
	replace(t, filesys.MakeFsOnDisk(), filepath.Join(hooks, "greeter.sh"), logged, "false\ntrue\n")
	s.awaitTests(t, false, []string{"FAILED  test/e2e/hooks/greeter.sh\n"}, consent...)
	for _, o := range []string{"v1 Namespace  suitehooks-greeted", "v1 Namespace  suitehooks-system"} {
		part := strings.Split(o, " ")
		eventually(t, "delete "+o, func() error {
			if _, err := cluster.get(t, object(part[0], part[1], part[2], part[3])); err == nil {
				return fmt.Errorf("it exists")
			}
			return nil
		})
	}
}

// hooksSuite is a hook project. Its current context is not the context of the tests.
type hooksSuite struct{ dir, bin, kubeconfig, log string }

func newHooksSuite(t *testing.T) hooksSuite {
	t.Helper()
	s := hooksSuite{dir: filepath.Join(t.TempDir(), "suitehooks"), bin: t.TempDir(), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	s.log = filepath.Join(s.bin, "log")
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"init --domain example.org --plugins shell",
		"create hook greeter --on kubernetes:configmaps:ConfigMap --namespace suitehooks-greeted",
		"create hook twin --on kubernetes:configmaps:ConfigMap --namespace suitehooks-greeted --queue twin",
		"create api --group suitehooks --version v1 --kind Boat",
		"create hook guard --validate Boat",
	} {
		if _, err := command(s.dir, "operon", strings.Fields(line)...); err != nil {
			t.Fatal(err)
		}
	}
	// make certificate replaces cert-manager.
	replace(t, filesys.MakeFsOnDisk(), filepath.Join(s.dir, "config", "default", "kustomization.yaml"), "\n- ../certmanager\n", "\n#- ../certmanager\n")
	// No kubelet has logs.
	program := filepath.Join(operontest.Assets(), "kubectl")
	kubectl := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = logs ]; then exec cat %q; fi\nexec %q \"$@\"\n", s.log, program)
	if err := os.WriteFile(filepath.Join(s.bin, "kubectl"), []byte(kubectl), 0o755); err != nil {
		t.Fatal(err)
	}
	writeContexts(t, s.kubeconfig)
	return s
}

// run runs the end-to-end tests.
func (s hooksSuite) run(t *testing.T, env ...string) (string, error) {
	cmd := exec.CommandContext(t.Context(), "make", "test-e2e")
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "PATH="+s.bin+string(filepath.ListSeparator)+os.Getenv("PATH")), env...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := process.Run(cmd)
	return out.String(), err
}

// awaitTests runs the end-to-end tests, which must succeed or not. The engine runs from when
// there is a pod for it; then the pod is ready.
func (s hooksSuite) awaitTests(t *testing.T, succeed bool, wants []string, env ...string) {
	t.Helper()
	program := shellOperator(t) // first, as to build it takes longer than the tests wait for a pod
	var out string
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		out, err = s.run(t, env...)
	}()
	log, createErr := os.Create(s.log)
	if createErr != nil {
		t.Fatal(createErr)
	}
	defer log.Close()
	var engine *child
	pods := cluster.client.CoreV1().Pods("suitehooks-system")
	eventually(t, "make the pod ready", func() error {
		select {
		case <-ended:
			return nil
		default:
		}
		all, err := pods.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(all.Items) == 0 {
			return fmt.Errorf("no pod yet: %w", err)
		}
		if engine == nil {
			engine, err = start("operon", func(cmd *exec.Cmd) {
				cmd.Args = append(cmd.Args, "hooks", "run", "--engine", program)
				cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "KUBECONFIG="+cluster.kubeconfig)
				cmd.Stdout, cmd.Stderr = log, log
			})
			if err != nil {
				return err
			}
		}
		_, err = cluster.patchStatus(t, object("v1", "Pod", "suitehooks-system", all.Items[0].Name),
			`{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`)
		return err
	})
	<-ended
	if engine != nil {
		engine.kill()
	}
	for _, want := range wants {
		if (err == nil) != succeed || !strings.Contains(out, want) {
			t.Errorf("the end-to-end tests: %v, want %q\n%s", err, want, out)
		}
	}
}
