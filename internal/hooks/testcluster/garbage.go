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

// serverResources are resources that the API server manages. Tests ignore them.
var serverResources = []string{
	"events", "events.events.k8s.io", "apiservices.apiregistration.k8s.io", "componentstatuses",
	"flowschemas.flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
	"ipaddresses.networking.k8s.io", "servicecidrs.networking.k8s.io",
}

// isServerOwned reports whether the control plane manages an object, such as a lease or
// its own endpoints.
func isServerOwned(o *unstructured.Unstructured) bool {
	switch o.GetKind() {
	case "Lease":
		return o.GetNamespace() == "kube-system"
	case "Endpoints", "EndpointSlice":
		return o.GetNamespace() == "default" && o.GetName() == "kubernetes"
	}
	return false
}

// listing has all objects of an API server, sorted by kind, namespace and name. The revision of its storage is from
// before the objects were listed, so some can be newer. Callers must not change the objects.
type listing struct {
	revision string
	table    *kinds.Table // the kinds that were listed
	objects  []*unstructured.Unstructured
}

// list returns all objects. Listing all kinds is slow, so it does that only if the revision or the kinds have
// changed.
func (s *Backend) list(ctx context.Context) (listing, error) {
	s.listing.Lock()
	defer s.listing.Unlock()
	revision, err := s.revision(ctx)
	if err != nil {
		return listing{}, err
	}
	table, err := s.admin.Kinds(ctx)
	if err != nil || revision == s.last.revision && table == s.last.table {
		return s.last, err
	}
	objects, err := s.listKinds(ctx, table)
	if err != nil {
		return listing{}, err
	}
	s.last = listing{revision, table, objects}
	return s.last, nil
}

// relist makes the next list read all objects again.
func (s *Backend) relist() {
	s.listing.Lock()
	defer s.listing.Unlock()
	s.last = listing{}
}

// listKinds lists the objects of each kind.
func (s *Backend) listKinds(ctx context.Context, table *kinds.Table) ([]*unstructured.Unstructured, error) {
	wanted := slices.DeleteFunc(table.Preferred(), func(k kinds.Kind) bool {
		return !k.Supports("list") || !k.Supports("delete") || slices.Contains(serverResources, k.String())
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
		case apierrors.IsNotFound(errs[i]): // its CRD was deleted
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

// collect runs one pass of garbage collection, namespace deletion and aggregation of
// ClusterRoles, as kube-controller-manager does. It reports whether it changed anything.
func (s *Backend) collect(ctx context.Context) (did bool, err error) {
	s.collecting.Lock()
	defer s.collecting.Unlock()
	l, err := s.list(ctx)
	if err != nil || l.revision == s.collected {
		return false, err
	}
	g := garbage{s, l.objects, map[types.UID]bool{}}
	for _, o := range g.all {
		g.exists[o.GetUID()] = true
	}
	for _, o := range g.all {
		done, err := g.process(ctx, o)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return did, err
		}
		did = did || done
	}
	if s.aggregates {
		done, err := g.aggregate(ctx)
		if err != nil {
			return did, err
		}
		did = did || done
	}
	if !did {
		s.collected = l.revision
	}
	return did, nil
}

// revision returns the revision of the API server's storage, which every list has.
func (s *Backend) revision(ctx context.Context) (string, error) {
	list, err := s.admin.List(ctx, namespaceKind, "", metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return list.GetResourceVersion(), nil
}

// garbage has all objects at one moment.
type garbage struct {
	*Backend
	all    []*unstructured.Unstructured
	exists map[types.UID]bool
}

// process takes the next step in the deletion of one object.
func (g garbage) process(ctx context.Context, o *unstructured.Unstructured) (did bool, err error) {
	switch finalizers := o.GetFinalizers(); {
	case o.GetDeletionTimestamp() == nil:
		if !g.orphaned(o) {
			return false, nil
		}
		return true, g.delete(ctx, o, metav1.DeletePropagationBackground)
	case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		return g.deleteForeground(ctx, o)
	case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		for _, d := range g.dependents(o) {
			left := slices.DeleteFunc(d.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() })
			if err := g.merge(ctx, d, map[string]any{"ownerReferences": left}); err != nil {
				return true, err
			}
		}
		return true, g.finalize(ctx, o, metav1.FinalizerOrphanDependents)
	case o.GetKind() == "Namespace" && o.GetAPIVersion() == "v1":
		return g.deleteNamespace(ctx, o)
	}
	return false, nil
}

// orphaned reports whether an object has owners and none of them exists.
func (g garbage) orphaned(o *unstructured.Unstructured) bool {
	refs := o.GetOwnerReferences()
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return g.exists[r.UID] })
}

func (g garbage) dependents(o *unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(g.all), func(d *unstructured.Unstructured) bool {
		return !slices.ContainsFunc(d.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() })
	})
}

// deleteForeground deletes the dependents of an object, and removes its finalizer when
// no dependent blocks the deletion.
func (g garbage) deleteForeground(ctx context.Context, o *unstructured.Unstructured) (did bool, err error) {
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

// deleteNamespace deletes the objects in a terminating namespace, and finalizes the
// namespace when it is empty.
func (g garbage) deleteNamespace(ctx context.Context, ns *unstructured.Unstructured) (did bool, err error) {
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
	if left || ns.GetName() == g.held {
		return did, nil
	}
	free := ns.DeepCopy()
	unstructured.RemoveNestedField(free.Object, "spec", "finalizers")
	free.SetNamespace("")
	_, err = g.admin.Update(ctx, namespaceKind, free, "finalize")
	return true, err
}

var (
	namespaceKind   = kinds.Kind{Version: "v1", Kind: "Namespace", Resource: "namespaces"}
	clusterRoleKind = kinds.Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Resource: "clusterroles"}
)

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

// merge patches the metadata of an object. It returns a conflict if the object changed.
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
