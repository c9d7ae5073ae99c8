//go:build testall

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// controlPlane is a running control plane with clients of its administrator.
type controlPlane struct {
	kubeconfig       string
	config           *rest.Config
	client           kubernetes.Interface
	dynamic          dynamic.Interface
	mapper           *restmapper.DeferredDiscoveryRESTMapper
	externalCRDsOnce sync.Once
}

// startControlPlane starts a control plane besides the shared one, for tests that kill it.
// It ends with the test.
func startControlPlane(t *testing.T, args ...string) *controlPlane {
	t.Helper()
	kubeconfig, end, err := launch(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	c, err := connect(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// launch runs `operon envtest start` and returns the kubeconfig that it prints. end stops
// the control plane.
func launch(args ...string) (kubeconfig string, end func(), err error) {
	out, in := io.Pipe()
	operon, err := start("operon", func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, append([]string{"envtest", "start"}, args...)...)
		cmd.Stdout, cmd.Stderr = in, os.Stderr
	})
	if err != nil {
		return "", nil, err
	}
	go func() {
		<-operon.done
		_ = in.CloseWithError(fmt.Errorf("%s: %w", operon.cmd, operon.err))
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return strings.TrimSpace(line), operon.stop, nil
}

// connect creates clients without rate limits.
func connect(kubeconfig string) (*controlPlane, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	return &controlPlane{kubeconfig: kubeconfig, config: config, client: client, dynamic: objects, mapper: mapper}, nil
}

// namespace creates a namespace whose name begins with prefix. It is deleted at the end of the
// test.
func (c *controlPlane) namespace(t *testing.T, prefix string, labels map[string]string) string {
	t.Helper()
	namespaces := c.client.CoreV1().Namespaces()
	ns, err := namespaces.Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-", Labels: labels},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := namespaces.Delete(context.WithoutCancel(t.Context()), ns.Name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete namespace %s: %v", ns.Name, err)
		}
	})
	return ns.Name
}
