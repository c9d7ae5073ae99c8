//go:build testall

package cluster

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// newCluster returns a cluster with OLM, a namespace and other objects.
func newCluster(t *testing.T, all ...*unstructured.Unstructured) *fakeCluster {
	t.Helper()
	c := newFake(t, "")
	namespace, crd := entry(namespaces, testNamespace, nil), entry(crds, subscriptions.Resource+"."+groupV0, nil)
	for _, o := range []*unstructured.Unstructured{namespace, crd} {
		o.SetNamespace("")
	}
	for _, o := range append(all, namespace, crd) {
		if err := c.fake.Tracker().Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// has reports whether the cluster has an object.
func (c *fakeCluster) has(t *testing.T, r resource, name string) bool {
	t.Helper()
	o, err := c.get(t.Context(), r, testNamespace, name)
	if err != nil {
		t.Fatal(err)
	}
	return o != nil
}

// noted reports whether a line of the output has a text.
func (c *fakeCluster) noted(text string) bool {
	return slices.ContainsFunc(c.notes, func(line string) bool { return strings.Contains(line, text) })
}

// entry returns an object of a user.
func entry(r resource, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": r.GroupVersion().String(), "kind": r.kind,
		"metadata": map[string]any{"name": name, "namespace": testNamespace, "uid": "uid-of-" + name},
	}}
	maps.Copy(o.Object, fields)
	return o
}

// byOperon returns an object that operon created.
func byOperon(r resource, name string) *unstructured.Unstructured {
	o := entry(r, name, nil)
	o.SetLabels(map[string]string{managedBy: operon})
	return o
}

// TestUndoKeepsOthers expects that a failed task leaves an object of a user that has the name
// of one that the task would create.
func TestUndoKeepsOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, existing := range []*unstructured.Unstructured{entry(configMaps, "operon-fleet", nil), byOperon(configMaps, "operon-fleet")} {
			c := newCluster(t, existing)
			task := c.task()
			err := task.add(t.Context(), configMaps, "operon-fleet", nil)
			if err == nil || !strings.Contains(err.Error(), "namespace ships already has ConfigMap operon-fleet") {
				t.Errorf("error %v", err)
			}
			if err := task.revert(t.Context()); err != nil || !c.has(t, configMaps, "operon-fleet") {
				t.Errorf("the ConfigMap is gone, error %v", err)
			}
		}
	})
}

// TestUndoRemovesOwn expects that a failed task removes what it created, also if the answer to
// the request was lost, but not what somebody else created afterwards.
func TestUndoRemovesOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.fake.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			create, _ := a.(clienttesting.CreateAction)
			return true, nil, errors.Join(c.fake.Tracker().Create(pods.GroupVersionResource, create.GetObject(), testNamespace), errors.New("the answer is lost"))
		})
		task := c.task()
		if err := task.add(t.Context(), configMaps, "operon-fleet", nil); err != nil {
			t.Fatal(err)
		}
		if err := task.add(t.Context(), pods, "operon-fleet", nil); err == nil {
			t.Fatal("no error")
		}
		if err := task.fail(t.Context(), nil); err != nil || !c.noted("undid all changes") || c.has(t, configMaps, "operon-fleet") || c.has(t, pods, "operon-fleet") {
			t.Errorf("error %v, notes %v", err, c.notes)
		}

		if err := task.add(t.Context(), configMaps, "operon-fleet", map[string]any{"metadata": byOperon(configMaps, "operon-fleet").Object["metadata"]}); err != nil {
			t.Fatal(err)
		}
		other := byOperon(configMaps, "operon-fleet")
		other.SetUID("another")
		if err := c.fake.Tracker().Update(configMaps.GroupVersionResource, other, testNamespace); err != nil {
			t.Fatal(err)
		}
		if err := task.revert(t.Context()); err != nil || !c.has(t, configMaps, "operon-fleet") {
			t.Errorf("the ConfigMap of another command is gone, error %v", err)
		}
	})
}

// TestUndoTimeout expects that a step that takes too long leaves the others their time, and that each
// has as much time as the command, unless the user has interrupted it.
func TestUndoTimeout(t *testing.T) {
	t.Parallel()
	timedOut := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := WithTimeout(ctx, time.Nanosecond)
		<-ctx.Done()
		return ctx, cancel
	}
	interrupted := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx, cancel
	}
	for name, tt := range map[string]struct {
		timeout time.Duration
		ctx     func(context.Context) (context.Context, context.CancelFunc)
		want    string
	}{
		"none":        {0, context.WithCancel, "2m0s"},
		"short":       {time.Minute, context.WithCancel, "2m0s"},
		"long":        {10 * time.Minute, context.WithCancel, "10m0s"},
		"timed out":   {10 * time.Minute, timedOut, "10m0s"},
		"interrupted": {10 * time.Minute, interrupted, "2m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				testUndoTimeout(ctx, t, tt.timeout, tt.want)
			})
		})
	}
}

func testUndoTimeout(ctx context.Context, t *testing.T, timeout time.Duration, want string) {
	t.Helper()
	c := newCluster(t)
	task := c.task()
	task.Timeout = timeout
	var undone bool
	task.undo = []undo{
		{"first", func(ctx context.Context) error { undone = ctx.Err() == nil; return nil }},
		{"second", func(ctx context.Context) error {
			return c.until(ctx, func() (bool, string, error) { return false, "it stays", nil })
		}},
	}
	if err := task.revert(ctx); err == nil || !strings.Contains(err.Error(), "second (not done after "+want+": it stays)") || !undone {
		t.Errorf("first undone: %v; error %v", undone, err)
	}
}

// TestUndoUpgrade expects that a failed upgrade keeps the new version once OLM has removed the
// previous one, and removes it otherwise.
func TestUndoUpgrade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			phase string // of the previous version; "" for none
			note  string
			want  []string // undone steps
		}{
			{"Succeeded", "undid all changes", []string{"objects", "catalog"}},
			{"Deleting", "fleet.v0.2.0 stays in namespace ships: OLM has removed fleet.v1", []string{"catalog"}},
			{"", "fleet.v0.2.0 stays in namespace ships: OLM has removed fleet.v1", []string{"catalog"}},
		} {
			previous := entry(csvs, "fleet.v1", map[string]any{"status": map[string]any{"phase": tt.phase}})
			c := newCluster(t)
			if tt.phase != "" {
				c = newCluster(t, previous)
			}
			task := c.task()
			var undone []string
			step := func(name string) undo {
				return undo{name, func(context.Context) error { undone = append(undone, name); return nil }}
			}
			task.undo = append(task.undo, step("catalog"))
			task.keepPrevious(*previous)
			task.undo = append(task.undo, step("objects"))
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // by Ctrl-C
			if err := task.fail(ctx, ctx.Err()); !errors.Is(err, context.Canceled) || !c.noted(tt.note) || !slices.Equal(undone, tt.want) {
				t.Errorf("phase %q: undone %v, notes %v, error %v", tt.phase, undone, c.notes, err)
			}
		}
	})
}

// TestRemoveRecreated expects that an object is gone when another one has its name.
func TestRemoveRecreated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, entry(csvs, "fleet.v1", nil))
		c.fake.PrependReactor("delete", csvs.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			o := entry(csvs, "fleet.v1", nil)
			o.SetUID("another")
			return true, nil, c.fake.Tracker().Update(csvs.GroupVersionResource, o, testNamespace)
		})
		ctx, cancel := WithTimeout(t.Context(), undoTimeout)
		defer cancel()
		if existed, err := c.remove(ctx, csvs, testNamespace, "fleet.v1"); !existed || err != nil {
			t.Errorf("existed: %v, error %v", existed, err)
		}
	})
}

// TestUntilRetries expects that a wait survives an API server that is not available for some time,
// and ends at once for other errors.
func TestUntilRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, entry(pods, "fleet", nil))
		refused := &url.Error{Op: "Get", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
		failures := []error{refused, apierrors.NewServiceUnavailable("it starts"), apierrors.NewInternalError(errors.New("etcd"))}
		c.fake.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			if len(failures) == 0 {
				return false, nil, nil
			}
			err := failures[0]
			failures = failures[1:]
			return true, nil, err
		})
		exists := func() (bool, string, error) {
			o, err := c.get(t.Context(), pods, testNamespace, "fleet")
			return o != nil, "", err
		}
		if err := c.until(t.Context(), exists); err != nil || len(failures) > 0 {
			t.Errorf("error %v, %d failures are left", err, len(failures))
		}
		failures = []error{apierrors.NewBadRequest("wrong")}
		if err := c.until(t.Context(), exists); !apierrors.IsBadRequest(err) {
			t.Errorf("error %v", err)
		}
	})
}

// TestInstallKeepsOthers expects that a bundle is not installed beside a Subscription of the user to
// the same package, and that a failure leaves an object of the user with the name of one of operon.
func TestInstallKeepsOthers(t *testing.T) {
	t.Parallel()
	group := entry(operatorGroups, "all", map[string]any{"spec": map[string]any{}})
	for _, tt := range []struct {
		existing *unstructured.Unstructured
		kind     resource
		err      string
	}{
		{entry(subscriptions, "mine", map[string]any{"spec": map[string]any{"name": "fleet"}}), subscriptions, "Subscription mine in namespace ships installs package fleet"},
		{entry(catalogSources, "operon-fleet", nil), catalogSources, "namespace ships already has CatalogSource operon-fleet"},
	} {
		c := newCluster(t, tt.existing, group)
		b := c.task().bundle
		b.CSV.Object["spec"] = map[string]any{"version": "0.2.0", "installModes": []any{map[string]any{"type": AllNamespaces, "supported": true}}}
		_, err := c.Install(t.Context(), Options{Bundle: b, Namespace: testNamespace, Catalog: Local{Address: "127.0.0.1", Listen: "127.0.0.1"}})
		if err == nil || !strings.Contains(err.Error(), tt.err) || !c.has(t, tt.kind, tt.existing.GetName()) || !c.has(t, operatorGroups, "all") {
			t.Errorf("error %v, want %q; notes %v", err, tt.err, c.notes)
		}
		for _, r := range []resource{subscriptions, catalogSources} {
			if all, err := c.list(t.Context(), r, testNamespace, metav1.ListOptions{}); err != nil || len(all) > 0 && r != tt.kind || len(all) > 1 {
				t.Errorf("%d objects of %s, error %v", len(all), r.kind, err)
			}
		}
	}
}
