package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// EventHandler receives the events of a binding. Informers call its functions from
// their goroutines; the calls of one informer are sequential.
type EventHandler struct {
	// Event receives an Added, Modified or Deleted event. Deleted has the last known state.
	Event func(event string, o *unstructured.Unstructured)
	// Selected receives the objects of a namespace that starts to match the binding's
	// namespace selector. The engine adds them to snapshots without running a hook.
	Selected func(namespace string, objects []*unstructured.Unstructured)
	// Unselected receives a namespace that no longer matches or exists. The engine
	// removes its objects from snapshots without running a hook.
	Unselected func(namespace string)
	// Error receives an error of a watch. The watch is retried.
	Error func(error)
}

// Binding watches the objects that one binding of a hook selects, with one
// informer for each combination of namespace and object name.
type Binding struct {
	cluster *Cluster
	config  config.Kubernetes
	kind    kubeapi.Kind

	informers  []*informer            // of the named namespaces, or of all
	namespaces *informer              // nil unless namespaces are selected by label
	byLabel    map[string][]*informer // by namespace that the label selector matches

	mu      sync.Mutex
	running sync.WaitGroup
	stop    map[string]context.CancelFunc // by namespace in byLabel
}

// Bind lists the objects that a binding selects. It fails if the API server does not
// serve the kind, or with the error of the API server.
func (c *Cluster) Bind(ctx context.Context, conf config.Kubernetes) (*Binding, error) {
	kind, err := c.Kind(ctx, conf.APIVersion, conf.Kind)
	if err != nil {
		return nil, err
	}
	return c.bind(ctx, kind, conf)
}

// BindAll lists all objects of a kind.
func (c *Cluster) BindAll(ctx context.Context, kind kubeapi.Kind) (*Binding, error) {
	return c.bind(ctx, kind, config.Kubernetes{})
}

func (c *Cluster) bind(ctx context.Context, kind kubeapi.Kind, conf config.Kubernetes) (b *Binding, err error) {
	b = &Binding{cluster: c, config: conf, kind: kind, byLabel: map[string][]*informer{}, stop: map[string]context.CancelFunc{}}
	if b.informers, err = b.newInformers(ctx, namedNamespaces(conf.Namespace)); err != nil {
		return nil, err
	}
	if conf.Namespace == nil || conf.Namespace.LabelSelector == nil {
		return b, nil
	}
	selector, err := labelSelector(conf.Namespace.LabelSelector)
	if err != nil {
		return nil, fmt.Errorf("namespace.labelSelector of %s: %w", conf.BindingName(), err)
	}
	all := scope{kind: namespaceKind}
	all.options.LabelSelector = selector
	if b.namespaces, err = c.inform(ctx, all); err != nil {
		return nil, err
	}
	for _, ns := range b.namespaces.objects() {
		if b.byLabel[ns.GetName()], err = b.newInformers(ctx, []string{ns.GetName()}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

var namespaceKind = kubeapi.Kind{Version: "v1", Kind: "Namespace", Resource: "namespaces"}

// newInformers returns the informers for namespaces.
func (b *Binding) newInformers(ctx context.Context, namespaces []string) ([]*informer, error) {
	all, err := scopes(b.kind, b.config, namespaces)
	if err != nil {
		return nil, err
	}
	var informers []*informer
	for _, s := range all {
		i, err := b.cluster.inform(ctx, s)
		if err != nil {
			return nil, err
		}
		informers = append(informers, i)
	}
	return informers, nil
}

// Objects returns the objects that existed when Bind listed them. Call it before Run.
func (b *Binding) Objects() []*unstructured.Unstructured {
	all := objectsOf(b.informers)
	for _, namespace := range slices.Sorted(maps.Keys(b.byLabel)) {
		all = append(all, objectsOf(b.byLabel[namespace])...)
	}
	return all
}

func objectsOf(informers []*informer) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, i := range informers {
		all = append(all, i.objects()...)
	}
	return all
}

// Run reports events to h until ctx ends. It returns after the last call of h.
func (b *Binding) Run(ctx context.Context, h EventHandler) {
	b.start(ctx, b.informers, h)
	b.mu.Lock()
	for namespace := range b.byLabel {
		b.startNamespace(ctx, namespace, h)
	}
	b.mu.Unlock()
	if b.namespaces != nil {
		b.start(ctx, []*informer{b.namespaces}, EventHandler{Error: h.Error, Event: func(event string, ns *unstructured.Unstructured) {
			switch event {
			case "Added":
				b.selected(ctx, ns.GetName(), h)
			case "Deleted":
				b.unselected(ns.GetName(), h)
			}
		}})
	}
	<-ctx.Done()
	b.running.Wait()
}

func (b *Binding) start(ctx context.Context, informers []*informer, h EventHandler) {
	for _, i := range informers {
		b.running.Go(func() { i.run(ctx, h) })
	}
}

// startNamespace starts the informers of a namespace that is selected by label.
func (b *Binding) startNamespace(ctx context.Context, namespace string, h EventHandler) {
	ctx, b.stop[namespace] = context.WithCancel(ctx)
	b.start(ctx, b.byLabel[namespace], h)
}

func (b *Binding) selected(ctx context.Context, namespace string, h EventHandler) {
	informers, err := b.newInformers(ctx, []string{namespace})
	if err != nil {
		if ctx.Err() == nil {
			h.Error(err)
		}
		return
	}
	h.Selected(namespace, objectsOf(informers))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byLabel[namespace] = informers
	b.startNamespace(ctx, namespace, h)
}

func (b *Binding) unselected(namespace string, h EventHandler) {
	b.mu.Lock()
	stop := b.stop[namespace]
	delete(b.byLabel, namespace)
	delete(b.stop, namespace)
	b.mu.Unlock()
	if stop != nil {
		stop()
		h.Unselected(namespace)
	}
}

// Synced reports whether h has received the current state of all selected objects. It asks the API server, unless it knows
// from Cluster.Revision that nothing has changed.
func (b *Binding) Synced(ctx context.Context) (bool, error) {
	if b.namespaces != nil { // first, because its events start other informers
		if synced, err := b.namespaces.synced(ctx); err != nil || !synced {
			return false, err
		}
	}
	all := slices.Clone(b.informers)
	b.mu.Lock()
	for _, informers := range b.byLabel {
		all = append(all, informers...)
	}
	b.mu.Unlock()
	for _, i := range all {
		if synced, err := i.synced(ctx); err != nil || !synced {
			return false, err
		}
	}
	return true, nil
}
