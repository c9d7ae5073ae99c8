// Package fakeapi implements a Kubernetes API server in memory, for hook tests. It
// creates, changes and deletes objects by the rules of kube-apiserver, returns the same
// errors, and reports changes to subscribers. It includes a garbage collector and a
// namespace controller, which finish before a call returns.
//
// The package does not imitate:
//   - authentication, authorization, and admission control except for namespaces
//   - other controllers: a Deployment gets no Pods
//   - defaults and validation of built-in kinds, except metadata, types and the most
//     common immutable fields
//   - validation of CRDs, except that schemas must be structural and names are immutable
//   - conversion between versions of a custom resource
//   - server-side apply, managedFields, and subresources other than status
//
// Equal calls give equal results: the clock does not advance, and uids and generated
// names come from counters.
package fakeapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/patch"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Event is a change of an object.
type Event struct {
	Type   string // Added, Modified or Deleted
	Kind   kinds.Kind
	Object *unstructured.Unstructured // the new object, or the last one before its deletion
	Old    *unstructured.Unstructured // the object before the change, or nil for a new one
}

// Server is an API server. Its methods are safe for concurrent use.
type Server struct {
	mu      sync.Mutex
	builtin *kinds.Table
	table   *kinds.Table // builtin and the kinds of the stored CRDs
	objects map[key]*entry
	version int64  // the last resourceVersion
	ids     int    // the last uid
	names   int    // the last generated name
	held    string // see HoldNamespace

	events      []Event
	subscribers []func(Event)
	delivering  bool
}

// key identifies an object. It has no version, because all versions share one object.
type key struct{ group, resource, namespace, name string }

// entry is a stored object.
type entry struct {
	kind   kinds.Kind
	object *unstructured.Unstructured
}

// now is the time of all changes.
var now = metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))

// namespaces are the namespaces of a new cluster.
var namespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// New returns a server with the kinds of a table and the namespaces of a new cluster.
func New(table *kinds.Table) *Server {
	s := &Server{builtin: table, table: table, objects: map[key]*entry{}}
	for _, name := range namespaces {
		ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
		if err := s.Load(ns); err != nil {
			panic(err) // every table has namespaces
		}
	}
	s.events = nil
	return s
}

// Load stores objects that exist before a test begins, with their status and uid.
// Namespaces and CRDs come first, in any order of the arguments. Subscribers get events.
func (s *Server) Load(objects ...*unstructured.Unstructured) error {
	defer s.deliver()
	s.mu.Lock()
	defer s.mu.Unlock()
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int { return cmp.Compare(rank(a), rank(b)) })
	for _, o := range sorted {
		k, err := s.table.FindObject(o.GroupVersionKind())
		if err != nil {
			return err
		}
		if k.Namespaced && o.GetNamespace() == "" {
			return fmt.Errorf("%s %s has no metadata.namespace", o.GetKind(), o.GetName())
		}
		if _, err := s.create(k, o, true); err != nil {
			return err
		}
	}
	return nil
}

func rank(o *unstructured.Unstructured) int {
	switch o.GetKind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	}
	return 2
}

// Subscribe registers f for all further events, in order. The server calls f before the
// call that caused the event returns. If a subscriber made that call, f is called after
// it.
func (s *Server) Subscribe(f func(Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(s.subscribers, f)
}

// deliver sends pending events to the subscribers. The caller must not hold the mutex.
// Only one goroutine delivers at a time, to keep the order.
func (s *Server) deliver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.delivering {
		return
	}
	s.delivering = true
	defer func() { s.delivering = false }()
	for len(s.events) > 0 {
		events, subscribers := s.events, slices.Clone(s.subscribers)
		s.events = nil
		s.mu.Unlock()
		for _, e := range events {
			for _, f := range subscribers {
				f(e)
			}
		}
		s.mu.Lock()
	}
}

// Table returns the kinds that the server has now.
func (s *Server) Table() *kinds.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.table
}

// Objects returns copies of all objects, sorted by group, resource, namespace and name.
func (s *Server) Objects() []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*unstructured.Unstructured
	for _, k := range s.keys(func(key) bool { return true }) {
		all = append(all, s.objects[k].object.DeepCopy())
	}
	return all
}

// keys returns the sorted keys for which wanted returns true.
func (s *Server) keys(wanted func(key) bool) []key {
	var keys []key
	for k := range maps.Keys(s.objects) {
		if wanted(k) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource),
			cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return keys
}

func keyOf(k kinds.Kind, namespace, name string) key {
	if !k.Namespaced {
		namespace = ""
	}
	return key{k.Group, k.Resource, namespace, name}
}

// put stores an object with a new resourceVersion. old is nil for a new object.
func (s *Server) put(k kinds.Kind, old, o *unstructured.Unstructured) {
	s.version++
	o.SetResourceVersion(fmt.Sprint(s.version))
	s.objects[keyOf(k, o.GetNamespace(), o.GetName())] = &entry{k, o}
	e := Event{Type: "Added", Kind: k, Object: o.DeepCopy()}
	if old != nil {
		e.Type, e.Old = "Modified", old.DeepCopy()
	}
	s.events = append(s.events, e)
	s.refreshKinds(k)
}

// drop removes an object.
func (s *Server) drop(k kinds.Kind, o *unstructured.Unstructured) {
	s.version++
	last := o.DeepCopy()
	last.SetResourceVersion(fmt.Sprint(s.version))
	delete(s.objects, keyOf(k, o.GetNamespace(), o.GetName()))
	s.events = append(s.events, Event{Type: "Deleted", Kind: k, Object: last, Old: o.DeepCopy()})
	s.refreshKinds(k)
}

// identify sets uid and creationTimestamp.
func (s *Server) identify(o *unstructured.Unstructured) {
	s.ids++
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.ids)))
	}
	if at := o.GetCreationTimestamp(); at.IsZero() {
		o.SetCreationTimestamp(now)
	}
}

// suffixes holds the characters of generated names.
const suffixes = "bcdfghjklmnpqrstvwxz2456789"

// generateName appends five characters that no other generated name has.
func (s *Server) generateName(prefix string) string {
	s.names++
	suffix := make([]byte, 5)
	for i, n := len(suffix)-1, s.names*7919; i >= 0; i, n = i-1, n/len(suffixes) {
		suffix[i] = suffixes[n%len(suffixes)]
	}
	return prefix[:min(len(prefix), 58)] + string(suffix)
}

var _ patch.API = (*Server)(nil)
