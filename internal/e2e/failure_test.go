//go:build unix && testall

package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestServerFailure stops the API server of one control plane while operators work.
func TestServerFailure(t *testing.T) {
	t.Parallel()
	c := startControlPlane(t, "--controllers", "--name", fmt.Sprint("e2e-failure-", os.Getpid()))
	stopServerOfBuckets(t, c)
}

// stopServerOfBuckets stops the API server twice while an operator works, its users make
// requests and its cloud changes. When the server is back, cluster and cloud reach the
// requested state.
func stopServerOfBuckets(t *testing.T, c *controlPlane) {
	t.Helper()
	i := install(t, c, scenario(t, "s3-operator"))
	account := serveAccount(t)
	m := i.run(t, "--cloud-endpoint="+account.url)
	m.unreviewed = true // while it starts, a server has not read the roles and denies everything
	restarts := m.keepRunning(t)
	b := &buckets{cloudAccount: account, cluster: c, namespace: c.namespace(t, "failure", nil), wanted: map[string]bool{}}

	t.Run("killed", func(t *testing.T) {
		b.outage(t, "killed", func() { signalServer(t, c, os.Kill) })
	})
	t.Run("frozen until the manager gives up", func(t *testing.T) {
		b.outage(t, "frozen", func() {
			before := restarts()
			signalServer(t, c, syscall.SIGSTOP)
			eventually(t, "end the manager", func() error {
				if restarts() == before {
					return fmt.Errorf("the manager is running")
				}
				return nil
			})
			signalServer(t, c, os.Kill)
		})
		if !strings.Contains(m.logs(), "leader election lost") {
			t.Error("the manager did not log why it ended")
		}
	})
	b.deleteAll(t)
}

// buckets are the buckets that users request from the operator of scenario s3-operator.
type buckets struct {
	*cloudAccount
	cluster   *controlPlane
	namespace string
	wanted    map[string]bool // by name; false after deletion
}

// outage stops the server while some buckets are ready, some are being created and some are
// being deleted. Meanwhile, users create and delete others.
func (b *buckets) outage(t *testing.T, prefix string, stopServer func()) {
	names := func(state string) (all []string) {
		for n := range 4 {
			all = append(all, fmt.Sprintf("%s-%s-%d", prefix, state, n))
		}
		return all
	}
	ready, creating, deleting, late := names("ready"), names("creating"), names("deleting"), names("late")
	b.create(t, slices.Concat(ready, deleting)...)
	b.wantAll(t)
	for _, name := range creating {
		b.delay(name, true)
	}
	b.answer("DELETE /users/"+prefix+"-deleting", 500, always)
	b.create(t, creating...)
	b.delete(t, deleting...)
	for _, name := range slices.Concat(creating, deleting) {
		eventually(t, "process "+name, func() error {
			if len(b.requests(name, "PUT /buckets/")) == 0 || b.wanted[name] == (len(b.requests(name, "DELETE /users/")) > 0) {
				return fmt.Errorf("the cloud received %v", b.requests(name, ""))
			}
			return nil
		})
	}

	stopServer()
	for _, name := range creating {
		b.delay(name, false)
	}
	b.answer("DELETE /users/"+prefix+"-deleting", 0, 0)
	b.create(t, late...)
	b.delete(t, ready[0], creating[0], late[0])
	b.wantAll(t)
}

func (b *buckets) deleteAll(t *testing.T) {
	b.delete(t, slices.Collect(maps.Keys(b.wanted))...)
	b.wantAll(t)
}

// create creates buckets. It retries until the API server accepts each.
func (b *buckets) create(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		s3 := object("systek.no/v1", "S3", b.namespace, name)
		s3.Object["spec"] = map[string]any{"bucket": name}
		b.wanted[name] = true
		eventually(t, "create "+name, func() error {
			_, err := b.cluster.create(t, s3)
			if apierrors.IsAlreadyExists(err) {
				return nil // the response to the last try was lost
			}
			return err
		})
	}
}

// delete deletes buckets. It retries until the API server accepts each request.
func (b *buckets) delete(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		b.wanted[name] = false
		eventually(t, "delete "+name, func() error {
			err := b.cluster.delete(t, object("systek.no/v1", "S3", b.namespace, name))
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
}

// wantAll waits until exactly the wanted buckets are ready: objects, owned objects and buckets
// in the cloud.
func (b *buckets) wantAll(t *testing.T) {
	t.Helper()
	var want []string
	secrets := 0
	for _, name := range slices.Sorted(maps.Keys(b.wanted)) {
		s3 := object("systek.no/v1", "S3", b.namespace, name)
		secret := object("v1", "Secret", b.namespace, name)
		if !b.wanted[name] {
			eventually(t, "delete "+name, func() error { return gone(b.cluster.get(t, s3)) })
			eventually(t, "delete the Secret of "+name, func() error { return gone(b.cluster.get(t, secret)) })
			continue
		}
		secrets++
		want = append(want, "/buckets/"+name, "/users/"+name)
		var owner *unstructured.Unstructured
		eventually(t, "get "+name+" ready", func() (err error) {
			owner, err = b.cluster.get(t, s3)
			return ready(owner, err)
		})
		eventually(t, "fill in the Secret of "+name, func() error {
			o, err := b.cluster.get(t, secret)
			if err != nil {
				return err
			}
			if key, _, _ := unstructured.NestedString(o.Object, "data", "ACCESS_KEY_ID"); key == "" || !metav1.IsControlledBy(o, owner) {
				return fmt.Errorf("the Secret has key %q and owners %v", key, o.GetOwnerReferences())
			}
			return nil
		})
		if n := len(b.requests(name, "PUT /buckets/")); n != 1 {
			t.Errorf("bucket %s was created %d times", name, n)
		}
	}
	all, err := b.cluster.client.CoreV1().Secrets(b.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(all.Items) != secrets {
		t.Errorf("%d Secrets for %d buckets (%v)", len(all.Items), secrets, err)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, b.resources()); diff != "" {
		t.Errorf("in the cloud (-want +got):\n%s", diff)
	}
}

// keepRunning restarts the manager whenever it ends, as a kubelet does, and counts the
// restarts.
func (m *manager) keepRunning(t *testing.T) (restarts func() int) {
	var mu sync.Mutex
	count, stopped, current := 0, false, m.child
	first := m.cmd
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		current.stop()
	})
	// restart returns the next process, or nil at the end of the test.
	restart := func() *child {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return nil
		}
		count++
		next, err := start(first.Path, func(cmd *exec.Cmd) {
			cmd.Args, cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = first.Args, first.Env, first.Dir, first.Stdout, first.Stderr
		})
		if err != nil {
			t.Error(err)
			return nil
		}
		current = next
		return next
	}
	go func() {
		for c := m.child; c != nil; c = restart() {
			<-c.done
			time.Sleep(interval)
		}
	}()
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return count
	}
}

// signalServer sends a signal to the API server of a control plane. The supervisor of the
// control plane restarts the server when it ends.
func signalServer(t *testing.T, c *controlPlane, s os.Signal) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(c.kubeconfig), "kube-apiserver.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	server, err := os.FindProcess(pid)
	if err == nil {
		err = server.Signal(s)
	}
	if err != nil {
		t.Fatalf("send %s to the API server: %v", s, err)
	}
}
