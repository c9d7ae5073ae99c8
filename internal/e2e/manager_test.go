//go:build testall

package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// manager is a running manager process.
type manager struct {
	*child
	name       string // of its program, which marks the fields that it writes
	metricsURL string // https://127.0.0.1:PORT/metrics; "" without metrics
	probeURL   string // http://127.0.0.1:PORT
	webhook    string // 127.0.0.1:PORT; "" without webhooks
	output     log
	unreviewed bool // it may log missing permissions
}

// run starts the manager with the flags and the environment of its Deployment and a token of
// its ServiceAccount, and waits until it is ready. It ends with the test, which fails when
// the manager logged "forbidden". args are more flags, and variables in the form NAME=value;
// the last value of a flag counts.
func (i *installation) run(t *testing.T, flags ...string) *manager {
	t.Helper()
	m := i.launch(t, flags...)
	m.awaitReady(t)
	if m.webhook != "" {
		i.service.add(m.webhook)
	}
	return m
}

// launch is run for a manager that need not get ready. The API server does not call it.
func (i *installation) launch(t *testing.T, flags ...string) *manager {
	t.Helper()
	pod := i.pod(t)
	container := pod.Containers[0]
	m := &manager{name: fmt.Sprint("manager-", ports.Add(1))}
	args := i.flags(t, m, container.Args)
	env := append(i.environment(t, container), "KUBECONFIG="+i.kubeconfig(t, pod.ServiceAccountName))
	for _, f := range flags {
		if strings.HasPrefix(f, "-") {
			args = append(args, f)
		} else {
			env = append(env, f)
		}
	}
	var err error
	m.child, err = start(i.manager, func(cmd *exec.Cmd) {
		cmd.Args, cmd.Env, cmd.Dir = append([]string{m.name}, args...), env, i.workingDir(t)
		cmd.Stdout, cmd.Stderr = &m.output, &m.output
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.child.stop()
		m.review(t)
	})
	return m
}

// workingDir returns the folder in which the manager runs, as in its image: the engine of charts has
// the project's.
func (i *installation) workingDir(t *testing.T) string {
	t.Helper()
	if isFolder(filepath.Join(i.dir, "helm-charts")) {
		return i.dir
	}
	return t.TempDir()
}

// pod returns the pod template in the Deployment of the manager.
func (i *installation) pod(t *testing.T) corev1.PodSpec {
	t.Helper()
	var d appsv1.Deployment
	o := i.named(t, "Deployment", "controller-manager")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
		t.Fatal(err)
	}
	return d.Spec.Template.Spec
}

// flags returns the flags in the Deployment, with ports and folders of this machine.
func (i *installation) flags(t *testing.T, m *manager, args []string) []string {
	t.Helper()
	// Without stack traces of libraries, the log is shorter.
	here := []string{"--leader-election-namespace=" + i.namespace, "--zap-stacktrace-level=panic"}
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "--health-probe-bind-address":
			address := freeAddress(t)
			m.probeURL = "http://" + address
			arg = name + "=" + address
		case "--metrics-bind-address":
			address := freeAddress(t)
			m.metricsURL = "https://" + address + "/metrics"
			arg = name + "=" + address
		case "--webhook-cert-path":
			m.webhook = freeAddress(t)
			_, port, _ := net.SplitHostPort(m.webhook)
			here = append(here, "--webhook-port="+port)
			arg = name + "=" + i.certs
		case "--metrics-cert-path":
			arg = name + "=" + i.certs
		}
		here = append(here, arg)
	}
	return here
}

// environment returns the environment in the Deployment, as a kubelet computes it.
func (i *installation) environment(t *testing.T, container corev1.Container) []string {
	t.Helper()
	var env, earlier []string
	for _, v := range container.Env {
		from := v.ValueFrom
		switch {
		case from == nil:
			v.Value = strings.NewReplacer(earlier...).Replace(v.Value)
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
			v.Value = i.namespace
		case from.ResourceFieldRef != nil && from.ResourceFieldRef.Resource == "limits.memory":
			limit, divisor := container.Resources.Limits.Memory().Value(), from.ResourceFieldRef.Divisor.Value()
			v.Value = fmt.Sprint((limit + divisor - 1) / divisor)
		default:
			t.Fatalf("the tests do not support the source of %s in the Deployment: %v", v.Name, from)
		}
		env, earlier = append(env, v.Name+"="+v.Value), append(earlier, "$("+v.Name+")", v.Value)
	}
	return env
}

// kubeconfig writes a kubeconfig with a token of the ServiceAccount of the manager.
func (i *installation) kubeconfig(t *testing.T, account string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["here"] = &clientcmdapi.Cluster{
		Server: i.cluster.config.Host, CertificateAuthorityData: i.cluster.config.CAData, CertificateAuthority: i.cluster.config.CAFile,
	}
	config.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: i.token(t, account)}
	config.Contexts["here"] = &clientcmdapi.Context{Cluster: "here", AuthInfo: account, Namespace: i.namespace}
	config.CurrentContext = "here"
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// token returns a token of a ServiceAccount in the namespace of the manager.
func (i *installation) token(t *testing.T, account string) string {
	t.Helper()
	accounts := i.cluster.client.CoreV1().ServiceAccounts(i.namespace)
	request, err := accounts.CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

func (m *manager) awaitReady(t *testing.T) {
	t.Helper()
	eventually(t, "start the manager", func() error {
		select {
		case <-m.done:
			t.Fatalf("the manager ended: %v\n%s", m.err, m.logs())
		default:
		}
		response, err := http.Get(m.probeURL + "/readyz")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("readyz answers %s", response.Status)
		}
		if m.webhook != "" {
			var conn net.Conn
			if conn, err = net.Dial("tcp", m.webhook); err == nil {
				err = conn.Close()
			}
		}
		return err
	})
}

// wantUnready checks that a readiness check fails.
func (m *manager) wantUnready(check string) error {
	status, body, err := get(m.probeURL+"/readyz", nil, "")
	if err == nil && (status != http.StatusInternalServerError || !strings.Contains(body, "[-]"+check+" failed")) {
		err = fmt.Errorf("readyz answers %d %s", status, body)
	}
	return err
}

// testCachesFilled upgrades a manager to one that lacks permissions. It must not get ready, so
// that the old one is not stopped, until it can fill its caches. The old one is the leader.
func testCachesFilled(t *testing.T, i *installation, flags ...string) {
	binding := i.named(t, "ClusterRoleBinding", "manager-rolebinding")
	if err := i.cluster.delete(t, binding); err != nil {
		t.Fatal(err)
	}
	next := i.launch(t, flags...)
	next.unreviewed = true
	eventually(t, "try to fill the caches", func() error {
		if !strings.Contains(strings.ToLower(next.logs()), "forbidden") {
			return errors.New("nothing is forbidden")
		}
		return nil
	})
	if err := next.wantUnready("caches"); err != nil {
		t.Errorf("without permissions: %v", err)
	}
	i.cluster.apply(t, binding)
	next.awaitReady(t)
	next.stop(t)
}

// review fails the test when the manager lacked a permission. Nobody may create objects in a
// namespace that is being deleted; such errors do not count.
func (m *manager) review(t *testing.T) {
	for line := range strings.Lines(m.logs()) {
		if !m.unreviewed && strings.Contains(strings.ToLower(line), "forbidden") && !strings.Contains(line, "because it is being terminated") {
			t.Errorf("the manager lacks a permission: %s", line)
			break
		}
	}
	if t.Failed() {
		t.Logf("the manager's log:\n%s", m.logs())
	}
}

// stop ends the manager with SIGTERM and waits for its end. kill ends it with SIGKILL.
func (m *manager) stop(t *testing.T) { t.Helper(); m.child.stop() }
func (m *manager) kill(t *testing.T) { t.Helper(); m.child.kill() }

// logs returns the output of the manager so far.
func (m *manager) logs() string { return m.output.String() }

// log collects the output of a process. It can be read at any time.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// ports counts the ports used, in a range that no system uses for outgoing connections.
var ports atomic.Int32

// freeAddress returns a free address on 127.0.0.1.
func freeAddress(t *testing.T) string {
	t.Helper()
	const first, count = 20000, 10000
	for range count {
		port := fmt.Sprint(":", first+(int32(os.Getpid())*31+ports.Add(1))%count)
		// The webhook server listens on all interfaces.
		if l, err := net.Listen("tcp", port); err == nil {
			_ = l.Close()
			return "127.0.0.1" + port
		}
	}
	t.Fatal("no free port")
	return ""
}
