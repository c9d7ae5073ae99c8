package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// EventHandler is what a binding hears of a cluster. The functions are called from
// goroutines of informers, those of one informer one after the other.
type EventHandler struct {
	// Event is Added, Modified or Deleted, the last with the last known state.
	Event func(event string, o *unstructured.Unstructured)
	// Selected brings the objects of a namespace that the binding's selector of
	// namespaces begins to match. The engine has them in snapshots from then on,
	// and runs no hook for them.
	Selected func(namespace string, objects []*unstructured.Unstructured)
	// Unselected says that a namespace matches no more, or is gone. The engine
	// drops its objects from snapshots, and runs no hook.
	Unselected func(namespace string)
	// Trouble is an error of a watch, which is tried again.
	Trouble func(error)
}

// Binding follows the objects that one binding of a hook selects, with one
// informer for each namespace and each object that it names.
type Binding struct {
	cluster *Cluster
	config  config.Kubernetes
	kind    kinds.Kind

	informers  []*informer // of namespaces that are named, or of all
	namespaces *informer   // or nil
	varying    map[string][]*informer

	mu      sync.Mutex
	running sync.WaitGroup
	stop    map[string]context.CancelFunc // by namespace in varying
}

// Bind lists what a binding selects. Errors are those of the API server, or say
// that it has no such kind.
func (c *Cluster) Bind(ctx context.Context, conf config.Kubernetes) (*Binding, error) {
	kind, err := c.Kind(ctx, conf.APIVersion, conf.Kind)
	if err != nil {
		return nil, err
	}
	b := &Binding{cluster: c, config: conf, kind: kind, varying: map[string][]*informer{}, stop: map[string]context.CancelFunc{}}
	if b.informers, err = b.list(ctx, named(conf.Namespace)); err != nil {
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
		if b.varying[ns.GetName()], err = b.list(ctx, []string{ns.GetName()}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

var namespaceKind = kinds.Kind{Version: "v1", Kind: "Namespace", Resource: "namespaces"}

// list makes the informers of namespaces.
func (b *Binding) list(ctx context.Context, namespaces []string) ([]*informer, error) {
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

// Objects are those that were there when the binding was made. It is for before Run.
func (b *Binding) Objects() []*unstructured.Unstructured {
	all := objectsOf(b.informers)
	for _, namespace := range slices.Sorted(maps.Keys(b.varying)) {
		all = append(all, objectsOf(b.varying[namespace])...)
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

// Run tells what changes, until ctx ends and nothing is told any more.
func (b *Binding) Run(ctx context.Context, n EventHandler) {
	b.run(ctx, b.informers, n)
	b.mu.Lock()
	for namespace := range b.varying {
		b.follow(ctx, namespace, n)
	}
	b.mu.Unlock()
	if b.namespaces != nil {
		b.run(ctx, []*informer{b.namespaces}, EventHandler{Trouble: n.Trouble, Event: func(event string, ns *unstructured.Unstructured) {
			switch event {
			case "Added":
				b.selected(ctx, ns.GetName(), n)
			case "Deleted":
				b.unselected(ns.GetName(), n)
			}
		}})
	}
	<-ctx.Done()
	b.running.Wait()
}

func (b *Binding) run(ctx context.Context, informers []*informer, n EventHandler) {
	for _, i := range informers {
		b.running.Go(func() { i.run(ctx, n) })
	}
}

// follow runs the informers of a namespace that is selected by label.
func (b *Binding) follow(ctx context.Context, namespace string, n EventHandler) {
	ctx, b.stop[namespace] = context.WithCancel(ctx)
	b.run(ctx, b.varying[namespace], n)
}

func (b *Binding) selected(ctx context.Context, namespace string, n EventHandler) {
	informers, err := b.list(ctx, []string{namespace})
	if err != nil {
		if ctx.Err() == nil {
			n.Trouble(err)
		}
		return
	}
	n.Selected(namespace, objectsOf(informers))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.varying[namespace] = informers
	b.follow(ctx, namespace, n)
}

func (b *Binding) unselected(namespace string, n EventHandler) {
	b.mu.Lock()
	stop := b.stop[namespace]
	delete(b.varying, namespace)
	delete(b.stop, namespace)
	b.mu.Unlock()
	if stop != nil {
		stop()
		n.Unselected(namespace)
	}
}

// Current asks the API server whether all that it has now was told.
func (b *Binding) Current(ctx context.Context) (bool, error) {
	if b.namespaces != nil { // first, for others follow from it
		if current, err := b.namespaces.current(ctx); err != nil || !current {
			return false, err
		}
	}
	all := slices.Clone(b.informers)
	b.mu.Lock()
	for _, informers := range b.varying {
		all = append(all, informers...)
	}
	b.mu.Unlock()
	for _, i := range all {
		if current, err := i.current(ctx); err != nil || !current {
			return false, err
		}
	}
	return true, nil
}
