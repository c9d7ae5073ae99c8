//go:build unix && testall

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestProjectSuite runs the end-to-end tests of a project in Go. A manager on this machine
// stands in for its pod, and this test for kubelet and cert-manager. Without kubelet, nothing
// can be forwarded to a pod, so the spec of the metrics does not run.
func TestProjectSuite(t *testing.T) {
	t.Parallel()
	s := newProjectSuite(t)
	for name, refusal := range map[string]struct {
		env  []string
		want string
	}{
		"no consent": {[]string{"E2E_IMAGE=example.com/suite:v1"}, "or set E2E_CONTEXT to a context of your kubeconfig"},
		"no image":   {[]string{"E2E_CONTEXT=here"}, "here is not a Kind cluster: set E2E_IMAGE"},
		"typo":       {[]string{"E2E_CONTEXT=there", "E2E_IMAGE=example.com/suite:v1"}, "cannot locate context there"},
	} {
		if out, err := s.run(t, refusal.env...); err == nil || !strings.Contains(out, refusal.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	consent := []string{"E2E_CONTEXT=here", "E2E_IMAGE=example.com/suite:v1"}
	used := object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "suite-metrics-reader")
	mustCreate(t, used)
	if out, err := s.run(t, consent...); err == nil || !strings.Contains(out, "clusterrole.rbac.authorization.k8s.io/suite-metrics-reader") {
		t.Errorf("the operator is in use: %v\n%s", err, out)
	}
	if err := cluster.delete(t, used); err != nil { // the tests did not
		t.Fatal(err)
	}

	ended := make(chan struct{})
	var out string
	var err error
	go func() {
		defer close(ended)
		out, err = s.run(t, consent...)
	}()
	s.standIn(t, ended)
	<-ended
	// The specs of the conversion, two specs of each other webhook, and the spec of the pod.
	if err != nil || !strings.Contains(out, "\nRan 6 of 7 Specs") || !strings.Contains(out, "6 Passed | 0 Failed | 0 Pending | 1 Skipped") {
		t.Errorf("the end-to-end tests: %v\n%s", err, out)
	}
	if _, err := cluster.get(t, s.named(t, "Deployment", "controller-manager")); err == nil {
		t.Error("the end-to-end tests left the Deployment")
	}
	deployed := regexp.MustCompile(`(?m)^  newTag: v1$`)
	if images, err := os.ReadFile(filepath.Join(s.dir, "config", "manager", "kustomization.yaml")); err != nil || !deployed.Match(images) {
		t.Errorf("the tests deployed another image: %v\n%s", err, images)
	}
}

// projectSuite is a project with its compiled end-to-end tests.
type projectSuite struct {
	*installation
	binary     string
	kubeconfig string
}

// newProjectSuite scaffolds a kind with all webhooks, and uncomments the examples in them and in the
// end-to-end tests.
func newProjectSuite(t *testing.T) projectSuite {
	t.Helper()
	cluster.provideExternalCRDs(t)
	dir := filepath.Join(t.TempDir(), "suite")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"init --domain example.org --repo example.org/suite --license none",
		"create api --group suite --version v1 --kind Boat",
		"create api --group suite --version v2 --kind Boat --controller=false",
		"create webhook --group suite --version v2 --kind Boat --conversion --spoke v1",
		"create webhook --group suite --version v1 --kind Boat --defaulting --programmatic-validation",
	} {
		if _, err := command(dir, "operon", strings.Fields(line)...); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"internal/webhook/v1/boat_webhook.go", "test/e2e/suite_v1_boat_validator_test.go", "test/e2e/suite_v1_boat_defaulter_test.go"} {
		uncomment(t, filepath.Join(dir, filepath.FromSlash(name)))
	}
	p := &project{name: "suite", dir: dir, manager: filepath.Join(dir, "bin", "manager")}
	s := projectSuite{
		installation: &installation{
			project: p, cluster: cluster, namespace: "suite-system", prefix: "suite-",
			folder: filepath.Join(dir, "config"), certs: t.TempDir(), service: serve(t),
		},
		binary: filepath.Join(dir, "bin", "e2e.test"), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"),
	}
	authority().certify(t, s.certs)
	s.objects = s.build(t, "default")
	building.Lock()
	defer building.Unlock()
	for _, args := range [][]string{{"build", "-o", p.manager, "./cmd"}, {"test", "-c", "-tags=e2e", "-o", s.binary, "./test/e2e"}} {
		if _, err := command(dir, "go", args...); err != nil {
			t.Fatal(err)
		}
	}
	writeContexts(t, s.kubeconfig)
	return s
}

// example is the start of a commented line of code.
var example = regexp.MustCompile("(?m)^(\t+)//(?:\t| ([`{]))")

// uncomment turns the examples in a file into code.
func uncomment(t *testing.T, name string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !example.Match(content) {
		t.Fatalf("%s has no example:\n%s", name, content)
	}
	if err := os.WriteFile(name, example.ReplaceAll(content, []byte("$1$2")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeContexts writes a kubeconfig with the context "here", the control plane. The current
// context is another one.
func writeContexts(t *testing.T, name string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(cluster.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts["here"] = config.Contexts[config.CurrentContext].DeepCopy()
	config.Clusters["elsewhere"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	config.Contexts["elsewhere"] = &clientcmdapi.Context{Cluster: "elsewhere"}
	config.CurrentContext = "elsewhere"
	if err := clientcmd.WriteToFile(*config, name); err != nil {
		t.Fatal(err)
	}
}

// run runs the end-to-end tests.
func (s projectSuite) run(t *testing.T, env ...string) (string, error) {
	cmd := exec.CommandContext(t.Context(), s.binary, "-ginkgo.v", "-ginkgo.no-color", "-ginkgo.skip=metrics")
	cmd.Dir = filepath.Join(s.dir, "test", "e2e")
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "KUSTOMIZE=kubectl kustomize", "CERT_MANAGER_INSTALL_SKIP=true",
		"PATH="+operontest.Assets()+string(filepath.ListSeparator)+os.Getenv("PATH")), env...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := process.Run(cmd)
	return out.String(), err
}

// standIn does what a cluster does with a deployed operator: it makes the API server call
// and trust the webhooks, and runs the manager. Then the pod of the Deployment is ready.
func (s projectSuite) standIn(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	var pod *corev1.Pod
	eventually(t, "create a pod", func() error {
		select {
		case <-ended:
			return nil
		default:
		}
		pods, err := cluster.client.CoreV1().Pods(s.namespace).List(t.Context(), metav1.ListOptions{})
		if err == nil && len(pods.Items) == 0 {
			err = os.ErrNotExist
		}
		if err == nil {
			pod = &pods.Items[0]
		}
		return err
	})
	if pod == nil {
		return
	}
	for _, o := range ofKind(s.objects, "CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration") {
		eventually(t, "redirect "+o.GetName(), func() error {
			now, err := cluster.get(t, o)
			if err == nil {
				s.redirect(t, now)
				_, err = cluster.update(t, now)
			}
			return err
		})
	}
	s.installation.run(t).unreviewed = true // make undeploy deletes its permissions first
	if _, err := cluster.patchStatus(t, object("v1", "Pod", pod.Namespace, pod.Name), `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`); err != nil {
		t.Error(err)
	}
}
