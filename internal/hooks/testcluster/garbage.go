package testcluster

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func exists(err error) bool { return apierrors.IsAlreadyExists(err) }

// own are resources that an API server writes by itself: no test is about them.
var own = []string{
	"events", "events.events.k8s.io", "apiservices.apiregistration.k8s.io", "componentstatuses",
	"flowschemas.flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
	"ipaddresses.networking.k8s.io", "servicecidrs.networking.k8s.io",
}

// servers tells whether a control plane keeps an object for itself, of a kind that
// tests have objects of, too: its leases, and where it is.
func isServerOwned(o *unstructured.Unstructured) bool {
	switch o.GetKind() {
	case "Lease":
		return o.GetNamespace() == "kube-system"
	case "Endpoints", "EndpointSlice":
		return o.GetNamespace() == "default" && o.GetName() == "kubernetes"
	}
	return false
}

// all returns every object, by kind, namespace and name.
func (s *Backend) all(ctx context.Context) ([]*unstructured.Unstructured, error) {
	table, err := s.admin.Kinds(ctx)
	if err != nil {
		return nil, err
	}
	wanted := slices.DeleteFunc(table.Preferred(), func(k kinds.Kind) bool {
		return !k.Can("list") || !k.Can("delete") || slices.Contains(own, k.String())
	})
	lists, errs := make([]*unstructured.UnstructuredList, len(wanted)), make([]error, len(wanted))
	var group sync.WaitGroup
	for i, k := range wanted {
		group.Go(func() { lists[i], errs[i] = s.admin.List(ctx, k, "", metav1.ListOptions{}) })
	}
	group.Wait()
	var all []*unstructured.Unstructured
	for i := range lists {
		switch {
		case apierrors.IsNotFound(errs[i]): // its CRD is gone
			s.admin.ResetDiscovery()
			continue
		case errs[i] != nil:
			return nil, errs[i]
		}
		for n := range lists[i].Items {
			if o := &lists[i].Items[n]; !isServerOwned(o) {
				all = append(all, o)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(identity(a), identity(b)))
	})
	return all, nil
}

// collect does once what kube-controller-manager does about deletions, and reports
// whether there was anything to do.
func (s *Backend) collect(ctx context.Context) (did bool, err error) {
	s.collecting.Lock()
	defer s.collecting.Unlock()
	revision, err := s.revision(ctx)
	if err != nil || revision == s.collected {
		return false, err
	}
	all, err := s.all(ctx)
	if err != nil {
		return false, err
	}
	g := garbage{s, all, map[types.UID]bool{}}
	for _, o := range all {
		g.there[o.GetUID()] = true
	}
	for _, o := range all {
		done, err := g.look(ctx, o)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return did, err
		}
		did = did || done
	}
	if !did {
		s.collected = revision
	}
	return did, nil
}

// revision is of all that the API server stores: any list has it, however short. To
// look at every kind when nothing changed would keep the server busy.
func (s *Backend) revision(ctx context.Context) (string, error) {
	list, err := s.admin.List(ctx, namespaceKind, "", metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return list.GetResourceVersion(), nil
}

// garbage is what there is at a moment.
type garbage struct {
	*Backend
	all   []*unstructured.Unstructured
	there map[types.UID]bool
}

// look does what is due about one object.
func (g garbage) look(ctx context.Context, o *unstructured.Unstructured) (did bool, err error) {
	switch finalizers := o.GetFinalizers(); {
	case o.GetDeletionTimestamp() == nil:
		if !g.orphaned(o) {
			return false, nil
		}
		return true, g.delete(ctx, o, metav1.DeletePropagationBackground)
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		return g.foreground(ctx, o)
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		for _, d := range g.dependents(o) {
			left := slices.DeleteFunc(d.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() })
			if err := g.merge(ctx, d, map[string]any{"ownerReferences": left}); err != nil {
				return true, err
			}
		}
		return true, g.finalize(ctx, o, metav1.FinalizerOrphanDependents)
	case o.GetKind() == "Namespace" && o.GetAPIVersion() == "v1":
		return g.empty(ctx, o)
	}
	return false, nil
}

// orphaned reports whether all owners of an object are gone.
func (g garbage) orphaned(o *unstructured.Unstructured) bool {
	refs := o.GetOwnerReferences()
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return g.there[r.UID] })
}

func (g garbage) dependents(o *unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(g.all), func(d *unstructured.Unstructured) bool {
		return !slices.ContainsFunc(d.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() })
	})
}

// foreground deletes what an object owns, and lets it go once what blocks that is gone.
func (g garbage) foreground(ctx context.Context, o *unstructured.Unstructured) (did bool, err error) {
	blocked := false
	for _, d := range g.dependents(o) {
		for _, r := range d.GetOwnerReferences() {
			blocked = blocked || r.UID == o.GetUID() && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
		}
		if d.GetDeletionTimestamp() != nil {
			continue
		}
		how := metav1.DeletePropagationBackground
		if len(g.dependents(d)) > 0 {
			how = metav1.DeletePropagationForeground
		}
		did = true
		if err := g.delete(ctx, d, how); err != nil && !apierrors.IsNotFound(err) {
			return did, err
		}
	}
	if blocked {
		return did, nil
	}
	return true, g.finalize(ctx, o, metav1.FinalizerDeleteDependents)
}

// empty deletes all in a namespace that is deleted, and then lets it go. What a
// finalizer holds there holds the namespace, too.
func (g garbage) empty(ctx context.Context, ns *unstructured.Unstructured) (did bool, err error) {
	left := false
	for _, o := range g.all {
		if o.GetNamespace() != ns.GetName() {
			continue
		}
		left = true
		if o.GetDeletionTimestamp() == nil {
			did = true
			if err := g.delete(ctx, o, metav1.DeletePropagationBackground); err != nil && !apierrors.IsNotFound(err) {
				return did, err
			}
		}
	}
	if left {
		return did, nil
	}
	free := ns.DeepCopy()
	unstructured.RemoveNestedField(free.Object, "spec", "finalizers")
	free.SetNamespace("")
	_, err = g.admin.Update(ctx, namespaceKind, free, "finalize")
	return true, err
}

var namespaceKind = kinds.Kind{Version: "v1", Kind: "Namespace", Resource: "namespaces"}

func (g garbage) finalize(ctx context.Context, o *unstructured.Unstructured, finalizer string) error {
	left := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == finalizer })
	return g.merge(ctx, o, map[string]any{"finalizers": left})
}

func (s *Backend) delete(ctx context.Context, o *unstructured.Unstructured, how metav1.DeletionPropagation) error {
	k, err := s.admin.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	return s.admin.Delete(ctx, k, o.GetNamespace(), o.GetName(), how)
}

// merge patches the metadata of an object that is as it was seen.
func (s *Backend) merge(ctx context.Context, o *unstructured.Unstructured, metadata map[string]any) error {
	k, err := s.admin.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	metadata["resourceVersion"] = o.GetResourceVersion()
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	_, err = s.admin.Patch(ctx, k, o.GetNamespace(), o.GetName(), types.MergePatchType, body, "")
	return err
}
