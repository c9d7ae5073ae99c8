package hooktest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/fakeapi"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/kubectl"
	"github.com/operon-dev/operon/internal/hooks/patch"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Memory is a backend with an in-memory fake API server. Its clock does not advance.
type Memory struct {
	CRDs    []*unstructured.Unstructured // installed for every test
	Program string                       // path of operon, which hooks run as kubectl; "" provides no kubectl
}

// memoryCluster is the in-memory cluster of one test.
type memoryCluster struct {
	server  *fakeapi.Server
	folder  string // contains kubectl and its socket; "" without kubectl
	close   func()
	watches []*watch
	made    *requests // the requests of the hook

	mu     sync.Mutex
	events []fakeapi.Event
}

// Open implements Backend.
func (m Memory) Open(_ context.Context, t *Test) (Cluster, error) {
	s := &memoryCluster{server: fakeapi.New(kinds.Builtin()), close: func() {}, made: &requests{}}
	given := slices.Concat(m.CRDs, t.Given)
	if err := s.server.Load(WithNamespaces(given)...); err != nil {
		return nil, fmt.Errorf("given: %w", err)
	}
	s.server.Subscribe(func(e fakeapi.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, e)
	})
	if m.Program == "" {
		return s, nil
	}
	if err := s.serve(m.Program); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// serve starts to answer the hook's kubectl commands.
func (s *memoryCluster) serve(program string) error {
	var err error
	if s.folder, err = os.MkdirTemp(socketParent(), "operon-kubectl-"); err != nil {
		return err
	}
	s.close = func() { _ = os.RemoveAll(s.folder) }
	if err := kubectl.Shim(s.folder, program); err != nil {
		return err
	}
	listener, err := net.Listen("unix", s.socket())
	if err != nil {
		return err
	}
	var served sync.WaitGroup
	served.Go(func() { _ = kubectl.Serve(context.Background(), listener, recorder{s.server, s.made}, "", nil) }) // returns when the listener is closed
	s.close = func() {
		_ = listener.Close()
		served.Wait()
		_ = os.RemoveAll(s.folder)
	}
	return nil
}

// socketParent returns the folder for temporary folders with a socket. The path of a socket has at most 103 bytes on some
// systems, and that of os.TempDir can be longer.
func socketParent() string {
	const most = 103 - len("/operon-kubectl-") - len("4294967295") - len("/socket")
	if len(os.TempDir()) > most && runtime.GOOS != "windows" {
		return "/tmp"
	}
	return os.TempDir()
}

func (s *memoryCluster) socket() string { return filepath.Join(s.folder, "socket") }

// Hook implements Cluster. It records the requests.
func (s *memoryCluster) Hook() patch.API { return recorder{s.server, s.made} }

// User implements Cluster.
func (s *memoryCluster) User() patch.API { return s.server }

// HoldNamespace implements Cluster.
func (s *memoryCluster) HoldNamespace(name string) { s.server.HoldNamespace(name) }

// Objects implements Cluster.
func (s *memoryCluster) Objects(context.Context) ([]*unstructured.Unstructured, error) {
	return s.server.Objects(), nil
}

// Wait implements Cluster. It returns at once, because the clock does not advance.
func (s *memoryCluster) Wait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// Env implements Cluster. It puts the cluster's kubectl first in PATH.
func (s *memoryCluster) Env(env []string) []string {
	env = append(env, "SHELL_OPERATOR_NAMESPACE="+HookNamespace)
	if s.folder == "" {
		return env
	}
	return append(before(env, s.folder), kubectl.Socket+"="+s.socket())
}

// Close implements Cluster.
func (s *memoryCluster) Close() { s.close() }

// Bind implements Cluster.
func (s *memoryCluster) Bind(ctx context.Context, b engine.Ref, k config.Kubernetes) ([]*unstructured.Unstructured, error) {
	kind, err := s.server.Kind(ctx, k.APIVersion, k.Kind)
	if err != nil {
		return nil, err
	}
	w := &watch{ref: b, binding: k, kind: kind}
	if w.byLabels() {
		namespaces, err := s.server.Kind(ctx, "v1", "Namespace")
		if err != nil {
			return nil, err
		}
		list, err := s.server.List(ctx, namespaces, "", metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(k.Namespace.LabelSelector)})
		if err != nil {
			return nil, err
		}
		for _, ns := range list.Items {
			w.namespaces = append(w.namespaces, ns.GetName())
		}
	}
	objects, err := s.list(ctx, w)
	if err != nil {
		return nil, err
	}
	s.watches = slices.DeleteFunc(s.watches, func(other *watch) bool { return other.ref == b })
	s.watches = append(s.watches, w)
	return objects, nil
}

// Observed implements Cluster.
func (s *memoryCluster) Observed(ctx context.Context) ([]Observation, error) {
	s.mu.Lock()
	events := s.events
	s.events = nil
	s.mu.Unlock()
	var all []Observation
	for _, e := range events {
		for _, w := range s.watches {
			o, err := s.observe(ctx, w, e)
			if err != nil {
				return nil, err
			}
			all = append(all, o...)
		}
	}
	return all, nil
}
