// Package fakeapi is an API server without a process: objects in memory that are
// created, changed and deleted by the rules of Kubernetes' own, with its errors, and
// that tell subscribers what happened to them. It takes a garbage collector and the
// controller of namespaces along, which finish their work before a call returns.
//
// It knows neither who asks nor what may be done: there is no authorization, and
// no admission but that of namespaces. Controllers other than these two do not
// exist: nothing makes Pods of a Deployment. Of the defaults that a server fills
// in, those of CRDs are filled in, and few others.
//
// The same calls give the same results: times stand still, and ids and generated
// names are counted.
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

// Event is something that happened to an object.
type Event struct {
	Type   string // Added, Modified or Deleted
	Kind   kinds.Kind
	Object *unstructured.Unstructured // as it is now, or was at last
	Old    *unstructured.Unstructured // as it was before, or nil when it was not there
}

// Server is an API server. Its methods may be called from several goroutines.
type Server struct {
	mu      sync.Mutex
	builtin *kinds.Table
	table   *kinds.Table // with the kinds of CRDs among the objects
	objects map[key]*entry
	version int64 // the last resourceVersion
	ids     int   // objects so far
	names   int   // generated names so far

	events      []Event
	subscribers []func(Event)
	delivering  bool
}

// key is what identifies an object: the version of its kind does not.
type key struct{ group, resource, namespace, name string }

// entry is an object as it is stored.
type entry struct {
	kind   kinds.Kind
	object *unstructured.Unstructured
}

// now is the time of everything that happens.
var now = metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))

// namespaces are those of every cluster.
var namespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// New is a server that knows the kinds of a table, with the namespaces that every
// cluster has and nothing else.
func New(table *kinds.Table) *Server {
	s := &Server{builtin: table, table: table, objects: map[key]*entry{}}
	for _, name := range namespaces {
		ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
		if err := s.Seed(ns); err != nil {
			panic(err) // no table lacks namespaces
		}
	}
	s.events = nil
	return s
}

// Seed puts objects there as they are, with their status and their uid when they
// have one: what a cluster contains before anything happens. Namespaces and CRDs
// come first, whatever their order. Subscribers are told.
func (s *Server) Seed(objects ...*unstructured.Unstructured) error {
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
			return fmt.Errorf("%s %s is in no namespace: say metadata.namespace", o.GetKind(), o.GetName())
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

// Subscribe has f called with everything that happens from now on, in its order,
// before the call that causes it returns, or right after it when that call is made
// by a subscriber.
func (s *Server) Subscribe(f func(Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(s.subscribers, f)
}

// deliver tells subscribers what happened. The mutex must be free. One goroutine
// does it at a time, so that the order is kept.
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

// Table knows the kinds that the server serves at this moment.
func (s *Server) Table() *kinds.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.table
}

// Objects are copies of all objects, by group, resource, namespace and name.
func (s *Server) Objects() []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*unstructured.Unstructured
	for _, k := range s.keys(func(key) bool { return true }) {
		all = append(all, s.objects[k].object.DeepCopy())
	}
	return all
}

// keys are those of the objects that are wanted, in their order.
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

// put stores an object in the place of another, or of none, with a resourceVersion
// of its own.
func (s *Server) put(k kinds.Kind, old, o *unstructured.Unstructured) {
	s.version++
	o.SetResourceVersion(fmt.Sprint(s.version))
	s.objects[keyOf(k, o.GetNamespace(), o.GetName())] = &entry{k, o}
	e := Event{Type: "Added", Kind: k, Object: o.DeepCopy()}
	if old != nil {
		e.Type, e.Old = "Modified", old.DeepCopy()
	}
	s.events = append(s.events, e)
	s.learn(k)
}

// drop takes an object away.
func (s *Server) drop(k kinds.Kind, o *unstructured.Unstructured) {
	s.version++
	last := o.DeepCopy()
	last.SetResourceVersion(fmt.Sprint(s.version))
	delete(s.objects, keyOf(k, o.GetNamespace(), o.GetName()))
	s.events = append(s.events, Event{Type: "Deleted", Kind: k, Object: last, Old: o.DeepCopy()})
	s.learn(k)
}

// identify gives an object what identifies it among all that ever were.
func (s *Server) identify(o *unstructured.Unstructured) {
	s.ids++
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.ids)))
	}
	if at := o.GetCreationTimestamp(); at.IsZero() {
		o.SetCreationTimestamp(now)
	}
}

// suffixes are the characters of generated names.
const suffixes = "bcdfghjklmnpqrstvwxz2456789"

// generate completes a name with five characters that no name before had.
func (s *Server) generate(prefix string) string {
	s.names++
	suffix := make([]byte, 5)
	for i, n := len(suffix)-1, s.names*7919; i >= 0; i, n = i-1, n/len(suffixes) {
		suffix[i] = suffixes[n%len(suffixes)]
	}
	return prefix[:min(len(prefix), 58)] + string(suffix)
}

var _ patch.API = (*Server)(nil)
