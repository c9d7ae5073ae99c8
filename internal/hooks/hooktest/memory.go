package hooktest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
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
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
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

// watch observes the objects that a binding selects.
type watch struct {
	ref        engine.Ref
	binding    config.Kubernetes
	kind       kinds.Kind
	namespaces []string // currently matching namespaces, for a label selector
}

// Open implements Backend.
func (m Memory) Open(_ context.Context, t *Test) (Cluster, error) {
	s := &memoryCluster{server: fakeapi.New(kinds.Builtin()), close: func() {}, made: &requests{}}
	given := slices.Concat(m.CRDs, t.Given)
	if err := s.server.Load(withNamespaces(given)...); err != nil {
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
	if s.folder, err = os.MkdirTemp("", "operon-kubectl-"); err != nil {
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

func (s *memoryCluster) socket() string { return filepath.Join(s.folder, "socket") }

// withNamespaces adds the missing namespaces of the given objects.
func withNamespaces(given []*unstructured.Unstructured) []*unstructured.Unstructured {
	there := []string{"", "default", "kube-node-lease", "kube-public", "kube-system"}
	for _, o := range given {
		if o.GetKind() == "Namespace" {
			there = append(there, o.GetName())
		}
	}
	all := slices.Clone(given)
	for _, o := range given {
		if name := o.GetNamespace(); !slices.Contains(there, name) {
			there = append(there, name)
			all = append(all, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}})
		}
	}
	return all
}

// Hook implements Cluster. It records the requests.
func (s *memoryCluster) Hook() patch.API { return recorder{s.server, s.made} }

// User implements Cluster.
func (s *memoryCluster) User() patch.API { return s.server }

// Objects implements Cluster.
func (s *memoryCluster) Objects(context.Context) ([]*unstructured.Unstructured, error) {
	return s.server.Objects(), nil
}

// Wait implements Cluster. It returns at once, because the clock does not advance.
func (s *memoryCluster) Wait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// Env implements Cluster. It puts the cluster's kubectl first in PATH.
func (s *memoryCluster) Env(env []string) []string {
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

func (w *watch) byLabels() bool {
	return w.binding.Namespace != nil && w.binding.Namespace.LabelSelector != nil
}

// list returns the objects that a watch currently selects.
func (s *memoryCluster) list(ctx context.Context, w *watch) ([]*unstructured.Unstructured, error) {
	list, err := s.server.List(ctx, w.kind, "", w.options())
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for i := range list.Items {
		if o := &list.Items[i]; w.matchesNames(o) {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// options returns the selectors that the engine sends to the API server.
func (w *watch) options() metav1.ListOptions {
	var o metav1.ListOptions
	if w.binding.LabelSelector != nil {
		o.LabelSelector = metav1.FormatLabelSelector(w.binding.LabelSelector)
	}
	if w.binding.FieldSelector == nil {
		return o
	}
	var all []fields.Selector
	for _, e := range w.binding.FieldSelector.MatchExpressions {
		if e.Operator == "!=" || e.Operator == "NotEquals" {
			all = append(all, fields.OneTermNotEqualSelector(e.Field, e.Value))
		} else {
			all = append(all, fields.OneTermEqualSelector(e.Field, e.Value))
		}
	}
	o.FieldSelector = fields.AndSelectors(all...).String()
	return o
}

// matchesNames reports whether an object has a name and namespace that the binding
// selects.
func (w *watch) matchesNames(o *unstructured.Unstructured) bool {
	k := w.binding
	if s := k.NameSelector; s != nil && len(s.MatchNames) > 0 && !slices.Contains(s.MatchNames, o.GetName()) {
		return false
	}
	if w.byLabels() {
		return slices.Contains(w.namespaces, o.GetNamespace())
	}
	if n := k.Namespace; n != nil && n.NameSelector != nil && len(n.NameSelector.MatchNames) > 0 {
		return slices.Contains(n.NameSelector.MatchNames, o.GetNamespace())
	}
	return true
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

// observe converts an event to the observations of a watch. An object that starts to
// match is Added, one that stops matching is Deleted.
func (s *memoryCluster) observe(ctx context.Context, w *watch, e fakeapi.Event) ([]Observation, error) {
	var all []Observation
	if w.kind.Group == e.Kind.Group && w.kind.Resource == e.Kind.Resource {
		before, err := s.selects(w, e.Old)
		if err != nil {
			return nil, err
		}
		after := false
		if e.Type != "Deleted" {
			if after, err = s.selects(w, e.Object); err != nil {
				return nil, err
			}
		}
		o := e.Object.DeepCopy()
		event := map[[2]bool]string{{false, true}: "Added", {true, true}: "Modified", {true, false}: "Deleted"}[[2]bool{before, after}]
		if event == "Deleted" && e.Type != "Deleted" {
			o = e.Old.DeepCopy() // the last state that was selected
			o.SetResourceVersion(e.Object.GetResourceVersion())
		}
		o.SetAPIVersion(w.kind.APIVersion())
		if event != "" {
			all = append(all, Observation{Binding: w.ref, Event: event, Objects: []*unstructured.Unstructured{o}})
		}
	}
	if !w.byLabels() || e.Kind.Kind != "Namespace" || e.Kind.Group != "" {
		return all, nil
	}
	return s.namespace(ctx, w, e, all)
}

// namespace updates the namespaces that a binding selects by labels, and appends the
// resulting observation to all.
func (s *memoryCluster) namespace(ctx context.Context, w *watch, e fakeapi.Event, all []Observation) ([]Observation, error) {
	name := e.Object.GetName()
	before, after := slices.Contains(w.namespaces, name), false
	if e.Type != "Deleted" {
		selector, err := metav1.LabelSelectorAsSelector(w.binding.Namespace.LabelSelector)
		if err != nil {
			return nil, err
		}
		after = selector.Matches(labels.Set(e.Object.GetLabels()))
	}
	switch {
	case after && !before:
		w.namespaces = append(w.namespaces, name)
		objects, err := s.list(ctx, w)
		if err != nil {
			return nil, err
		}
		objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetNamespace() != name })
		all = append(all, Observation{Binding: w.ref, Event: "Selected", Namespace: name, Objects: objects})
	case before && !after:
		w.namespaces = slices.DeleteFunc(w.namespaces, func(n string) bool { return n == name })
		all = append(all, Observation{Binding: w.ref, Event: "Unselected", Namespace: name})
	}
	return all, nil
}

// selects reports whether a watch selects an object. The object may be nil.
func (s *memoryCluster) selects(w *watch, o *unstructured.Unstructured) (bool, error) {
	if o == nil || !w.matchesNames(o) {
		return false, nil
	}
	return s.server.Selects(w.kind, o, w.options())
}
