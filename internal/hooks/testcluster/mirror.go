package testcluster

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mirror watches all kinds of an API server, because listing them takes a request for each. The storage of the server
// counts its changes: each has the next revision. So the mirror knows whether it has seen all changes up to a revision.
type mirror struct {
	admin *cluster.Cluster
	ctx   context.Context // of the watches
	end   context.CancelFunc

	listing sync.Mutex     // one list at a time
	table   *kubeapi.Kinds // the kinds that are watched

	mu       sync.Mutex
	watches  map[schema.GroupVersionResource]*kindWatch
	objects  map[string]*unstructured.Unstructured // by kind and identity
	changed  map[string]uint64                     // revision of the last change, by kind
	start    uint64                                // revision before the first watch
	complete uint64                                // all changes up to this revision are in objects
	seen     map[uint64]bool                       // revisions of later changes that are in objects
	newest   uint64                                // of these
	last     listing                               // the last result of list
}

// kindWatch is the watch of one kind.
type kindWatch struct {
	*cluster.Binding
	kind    kubeapi.Kind
	end     context.CancelFunc
	running sync.WaitGroup
}

// listing has all objects of an API server, sorted by kind, namespace and name, as of a revision of its storage. Callers
// must not change the objects.
type listing struct {
	revision uint64
	objects  []*unstructured.Unstructured
}

func newMirror(admin *cluster.Cluster) *mirror {
	m := &mirror{admin: admin, watches: map[schema.GroupVersionResource]*kindWatch{}, objects: map[string]*unstructured.Unstructured{},
		changed: map[string]uint64{}, seen: map[uint64]bool{}}
	m.ctx, m.end = context.WithCancel(context.Background())
	return m
}

// close ends the watches.
func (m *mirror) close() {
	m.end()
	for _, w := range m.watches {
		w.running.Wait()
	}
}

var eventKind = kubeapi.Kind{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true}

// list returns all objects.
func (m *mirror) list(ctx context.Context) (listing, error) {
	m.listing.Lock()
	defer m.listing.Unlock()
	// Every list has the revision of the storage. Only a list of Events has it at once, because the API server does not
	// cache them.
	events, err := m.admin.List(ctx, eventKind, "", metav1.ListOptions{Limit: 1})
	if err != nil {
		return listing{}, err
	}
	revision, err := strconv.ParseUint(events.GetResourceVersion(), 10, 64)
	if err != nil || revision == m.last.revision {
		return m.last, err
	}
	if m.start == 0 {
		m.start, m.complete = revision, revision // the first lists are at least that new
	}
	if err := m.follow(ctx, revision); err != nil {
		return listing{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = listing{revision: revision}
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
		m.last.objects = append(m.last.objects, m.objects[key])
	}
	return m.last, nil
}

// follow waits until the mirror has seen all changes up to a revision.
func (m *mirror) follow(ctx context.Context, revision uint64) error {
	if err := m.watchKinds(ctx); err != nil {
		return err
	}
	for range 100 {
		if m.covers(revision) {
			return nil
		}
		if err := kubeapi.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	// The API does not show every change of the storage, and may have kinds that are not watched yet.
	m.admin.ResetDiscovery()
	if err := m.watchKinds(ctx); err != nil {
		return err
	}
	if err := until(ctx, "watches are not in sync with the API server", func() (bool, error) { return m.synced(ctx) }); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.complete = max(m.complete, revision)
	return nil
}

// covers reports whether the mirror has seen all changes up to a revision.
func (m *mirror) covers(revision uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.seen[m.complete+1] {
		m.complete++
		delete(m.seen, m.complete)
	}
	return m.complete >= revision
}

// synced asks the API server whether all watches are in sync with it.
func (m *mirror) synced(ctx context.Context) (bool, error) {
	var group errgroup.Group
	var behind atomic.Bool
	for _, w := range m.watches {
		group.Go(func() error {
			synced, err := w.Synced(ctx)
			if apierrors.IsNotFound(err) { // its CRD was deleted
				return nil
			}
			if !synced {
				behind.Store(true)
			}
			return err
		})
	}
	err := group.Wait()
	return !behind.Load(), err
}

// watchKinds watches new kinds, and no longer those that are gone.
func (m *mirror) watchKinds(ctx context.Context) error {
	table, err := m.admin.Kinds(ctx)
	if err != nil || table == m.table {
		return err
	}
	wanted := map[schema.GroupVersionResource]kubeapi.Kind{}
	for _, k := range table.Preferred() {
		if k.Supports("list") && k.Supports("watch") && k.String() != "events.events.k8s.io" { // the events of the core group
			wanted[k.GVR()] = k
		}
	}
	for gvr, w := range m.watches {
		if _, exists := wanted[gvr]; !exists {
			m.unwatch(w)
		}
		delete(wanted, gvr)
	}
	var group errgroup.Group
	for _, k := range wanted {
		group.Go(func() error { return m.watch(ctx, k) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	m.table = table
	return nil
}

// watch starts to watch a kind.
func (m *mirror) watch(ctx context.Context, k kubeapi.Kind) error {
	b, err := m.admin.BindAll(ctx, k)
	if apierrors.IsNotFound(err) { // its CRD was deleted
		m.admin.ResetDiscovery()
		return nil
	}
	if err != nil {
		return err
	}
	for _, o := range b.Objects() {
		m.note(k, "Added", o)
	}
	running, end := context.WithCancel(m.ctx)
	w := &kindWatch{Binding: b, kind: k, end: end}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches[k.GVR()], m.changed[k.String()] = w, m.changed[k.String()]
	w.running.Go(func() {
		b.Run(running, cluster.EventHandler{
			Event: func(event string, o *unstructured.Unstructured) { m.note(k, event, o) },
			Error: func(err error) {
				if apierrors.IsNotFound(err) {
					m.admin.ResetDiscovery()
				}
			},
		})
	})
	return nil
}

// unwatch ends a watch.
func (m *mirror) unwatch(w *kindWatch) {
	w.end()
	w.running.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.watches, w.kind.GVR())
	maps.DeleteFunc(m.objects, func(_ string, o *unstructured.Unstructured) bool { return o.GroupVersionKind() == w.kind.GVK() })
}

// note records a change.
func (m *mirror) note(k kubeapi.Kind, event string, o *unstructured.Unstructured) {
	revision, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if kubeapi.IsCRD(o.GroupVersionKind()) {
		m.admin.ResetDiscovery()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if revision > m.complete {
		m.seen[revision] = true
	}
	m.newest = max(m.newest, revision)
	m.changed[k.String()] = max(m.changed[k.String()], revision)
	key := o.GetKind() + " " + identity(o)
	switch {
	case event == "Deleted":
		delete(m.objects, key)
	case k.Supports("delete") && !slices.Contains(serverResources, k.String()) && !isServerOwned(o):
		m.objects[key] = o
	}
}

// hasChanged reports whether the mirror has seen changes since the last list.
func (m *mirror) hasChanged() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.newest > m.last.revision
}

// revisionOf returns the revision of the last change of a kind since the start.
func (m *mirror) revisionOf(k kubeapi.Kind) (revision string, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed, known := m.changed[k.String()]
	if changed <= m.start {
		return "", known
	}
	return strconv.FormatUint(changed, 10), known
}
