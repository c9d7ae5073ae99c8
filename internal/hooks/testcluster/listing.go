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

// revision returns the revision of the API server's storage, which every list has.
func (s *Backend) revision(ctx context.Context) (string, error) {
	list, err := s.admin.List(ctx, namespaceKind, "", metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	return list.GetResourceVersion(), nil
}

// namespaceKind is the kind Namespace.
var namespaceKind = kinds.Kind{Version: "v1", Kind: "Namespace", Resource: "namespaces"}

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
