package cluster

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// scope defines the objects of one informer. The API server applies the selectors, so
// permissions for single names or namespaces are sufficient.
type scope struct {
	kind      kubeapi.Kind
	namespace string // "" for all
	options   metav1.ListOptions
}

// scopes returns one scope for each combination of the given namespaces and the object
// names of a binding.
func scopes(k kubeapi.Kind, b config.Kubernetes, namespaces []string) ([]scope, error) {
	selector, err := labelSelector(b.LabelSelector)
	if err != nil {
		return nil, fmt.Errorf("labelSelector of %s: %w", b.BindingName(), err)
	}
	var terms []fields.Selector
	if b.FieldSelector != nil {
		for _, e := range b.FieldSelector.MatchExpressions {
			if e.Operator == "!=" || e.Operator == "NotEquals" {
				terms = append(terms, fields.OneTermNotEqualSelector(e.Field, e.Value))
			} else {
				terms = append(terms, fields.OneTermEqualSelector(e.Field, e.Value))
			}
		}
	}
	names := []string{""}
	if s := b.NameSelector; s != nil && len(s.MatchNames) > 0 {
		names = s.MatchNames
	}
	var all []scope
	for _, namespace := range namespaces {
		for _, name := range names {
			own := terms[:len(terms):len(terms)]
			if name != "" {
				own = append(own, fields.OneTermEqualSelector("metadata.name", name))
			}
			options := metav1.ListOptions{LabelSelector: selector}
			if len(own) > 0 {
				options.FieldSelector = fields.AndSelectors(own...).String()
			}
			all = append(all, scope{k, namespace, options})
		}
	}
	return all, nil
}

func labelSelector(s *metav1.LabelSelector) (string, error) {
	if s == nil {
		return "", nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil || selector == labels.Nothing() {
		return "", err
	}
	return selector.String(), nil
}

// namedNamespaces returns the namespaces that a binding names, "" for all, or none if
// they are selected by label.
func namedNamespaces(s *config.NamespaceSelector) []string {
	switch {
	case s == nil:
	case s.LabelSelector != nil:
		return nil
	case s.NameSelector != nil && len(s.NameSelector.MatchNames) > 0:
		return s.NameSelector.MatchNames
	}
	return []string{""}
}

// informer watches the objects of a scope.
type informer struct {
	scope
	resource   dynamic.ResourceInterface
	first      *unstructured.UnstructuredList                   // until the watch starts
	revisionOf func(kubeapi.Kind) (revision string, known bool) // see Cluster
	revision   string                                           // at which known had all objects

	mu      sync.Mutex
	known   map[string]*unstructured.Unstructured // by namespace and name
	handler EventHandler
}

// inform lists the objects of a scope. The watch starts with run.
func (c *Cluster) inform(ctx context.Context, s scope) (*informer, error) {
	i := &informer{
		scope: s, resource: c.resource(s.kind, s.namespace), revisionOf: c.RevisionOf,
		known: map[string]*unstructured.Unstructured{},
	}
	changed, _ := i.changed()
	list, err := i.list(ctx, changed)
	if err != nil {
		return nil, err
	}
	i.first, i.revision = list, list.GetResourceVersion()
	for n := range list.Items {
		i.known[key(&list.Items[n])] = &list.Items[n]
	}
	return i, nil
}

func key(o *unstructured.Unstructured) string { return o.GetNamespace() + "/" + o.GetName() }

// objects returns the objects of the first list.
func (i *informer) objects() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for n := range i.first.Items {
		all = append(all, &i.first.Items[n])
	}
	return all
}

// run reports events since the first list to h, until ctx ends.
func (i *informer) run(ctx context.Context, h EventHandler) {
	i.handler = h
	r := cache.NewReflectorWithOptions(listThenWatch{i}, &unstructured.Unstructured{}, i, cache.ReflectorOptions{Name: i.kind.Resource})
	// Errors go to the handler, so the log of the reflector is discarded.
	r.RunWithContext(klog.NewContext(ctx, logr.Discard()))
}

// listThenWatch is the reflector's source of objects. It starts with the list that
// inform read. It never streams the list from the server: a streamed list does not need
// the list permission, which the engine needs.
type listThenWatch struct{ *informer }

// IsWatchListSemanticsUnSupported tells the reflector not to stream lists.
func (listThenWatch) IsWatchListSemanticsUnSupported() bool { return true }

func (l listThenWatch) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), o)
}

func (l listThenWatch) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	l.mu.Lock()
	first := l.first
	l.first = nil
	l.mu.Unlock()
	if first != nil {
		return first, nil
	}
	list, err := l.resource.List(ctx, l.with(o))
	return list, l.report(ctx, err)
}

func (l listThenWatch) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), o)
}

func (l listThenWatch) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := l.resource.Watch(ctx, l.with(o))
	return w, l.report(ctx, err)
}

func (i *informer) with(o metav1.ListOptions) metav1.ListOptions {
	o.LabelSelector, o.FieldSelector = i.options.LabelSelector, i.options.FieldSelector
	return o
}

// report passes an error to the handler, unless ctx has ended.
func (i *informer) report(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		i.handler.Error(err)
	}
	return err
}

// Add implements cache.ReflectorStore.
func (i *informer) Add(o any) error { return i.put(o) }

// Update implements cache.ReflectorStore.
func (i *informer) Update(o any) error { return i.put(o) }

func (i *informer) put(v any) error {
	o := v.(*unstructured.Unstructured)
	i.mu.Lock()
	defer i.mu.Unlock() // held during the call, so that known has only reported objects
	old := i.known[key(o)]
	i.known[key(o)] = o
	switch {
	case old == nil:
		i.handler.Event("Added", o)
	case old.GetResourceVersion() != o.GetResourceVersion():
		i.handler.Event("Modified", o)
	}
	return nil
}

// Delete implements cache.ReflectorStore.
func (i *informer) Delete(v any) error {
	o := v.(*unstructured.Unstructured)
	i.mu.Lock()
	defer i.mu.Unlock()
	_, known := i.known[key(o)]
	delete(i.known, key(o))
	if known {
		i.handler.Event("Deleted", o)
	}
	return nil
}

// Replace implements cache.ReflectorStore. It reports only the differences to the
// known objects.
func (i *informer) Replace(list []any, _ string) error {
	listed := map[string]bool{}
	for _, v := range list {
		listed[key(v.(*unstructured.Unstructured))] = true
	}
	i.mu.Lock()
	var deleted []*unstructured.Unstructured
	for k, o := range i.known {
		if !listed[k] {
			deleted = append(deleted, o)
		}
	}
	i.mu.Unlock()
	for _, o := range deleted {
		if err := i.Delete(o); err != nil {
			return err
		}
	}
	for _, v := range list {
		if err := i.put(v); err != nil {
			return err
		}
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (i *informer) Resync() error { return nil }

// changed returns the revision of the last change of the kind.
func (i *informer) changed() (revision string, known bool) {
	if i.revisionOf == nil {
		return "", false
	}
	return i.revisionOf(i.kind)
}

// list lists objects that are not older than a revision. For the current ones, "", an API server waits up to 100 ms.
func (i *informer) list(ctx context.Context, revision string) (*unstructured.UnstructuredList, error) {
	options := i.options
	options.ResourceVersion = revision
	return i.resource.List(ctx, options)
}

// synced reports whether the handler has received the current state of all objects.
func (i *informer) synced(ctx context.Context) (bool, error) {
	changed, known := i.changed()
	if order, err := resourceversion.CompareResourceVersion(changed, i.revision); known && changed == "" || err == nil && order <= 0 {
		return true, nil
	}
	list, err := i.list(ctx, changed)
	if err != nil {
		return false, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(list.Items) != len(i.known) {
		return false, nil
	}
	for n := range list.Items {
		o := &list.Items[n]
		if known := i.known[key(o)]; known == nil || known.GetResourceVersion() != o.GetResourceVersion() {
			return false, nil
		}
	}
	i.revision = list.GetResourceVersion()
	return true, nil
}
