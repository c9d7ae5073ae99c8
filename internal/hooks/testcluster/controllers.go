package testcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// work starts the controllers if they have work to do, and reports whether they have. An object without an owner, one
// whose deletion waits for others, and a namespace that is being deleted are work; and aggregated roles that lack rules, if
// hooks may bind roles.
func (s *Backend) work(ctx context.Context) (pending bool, err error) {
	s.working.Lock()
	defer s.working.Unlock()
	l, err := s.mirror.list(ctx)
	if err != nil || l.revision == s.idle {
		return false, err
	}
	exists := map[types.UID]bool{}
	for _, o := range l.objects {
		exists[o.GetUID()] = true
	}
	for _, o := range l.objects {
		if !s.waits(o, l.objects, exists) {
			continue
		}
		if done, err := s.finish(ctx, o, l.objects); done || err != nil {
			return true, err
		}
		return true, s.manager.start()
	}
	if s.binds {
		lacks, err := lacksRules(l.objects)
		if err != nil {
			return false, err
		}
		if lacks {
			return true, s.manager.start()
		}
	}
	s.idle = l.revision
	return false, nil
}

// waits reports whether an object waits for a controller.
func (s *Backend) waits(o *unstructured.Unstructured, all []*unstructured.Unstructured, exists map[types.UID]bool) bool {
	// blocked reports whether all objects of a list are being deleted, and wait for finalizers of others.
	blocked := func(list []*unstructured.Unstructured) bool {
		return !slices.ContainsFunc(list, func(o *unstructured.Unstructured) bool {
			return o.GetDeletionTimestamp() == nil || len(o.GetFinalizers()) == 0
		})
	}
	owners := o.GetOwnerReferences()
	switch {
	case o.GetDeletionTimestamp() == nil:
		return len(owners) > 0 && !slices.ContainsFunc(owners, func(r metav1.OwnerReference) bool { return exists[r.UID] })
	case isPod(o):
		return len(o.GetFinalizers()) == 0
	case isNamespace(o):
		content := only(all, func(in *unstructured.Unstructured) bool { return in.GetNamespace() == o.GetName() })
		return len(content) == 0 && o.GetName() != s.held || !blocked(content)
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents):
		owned := dependents(o, all)
		blocking := slices.ContainsFunc(owned, func(d *unstructured.Unstructured) bool {
			return slices.ContainsFunc(d.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
				return r.UID == o.GetUID() && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
			})
		})
		return !blocking || !blocked(owned)
	}
	return slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents)
}

// finish continues the deletion of a Pod, for which no kubelet does, of an owner without dependents, and of a namespace: the
// namespace controller waits five seconds before it deletes the objects, for API servers that do not know of the deletion yet.
func (s *Backend) finish(ctx context.Context, o *unstructured.Unstructured, all []*unstructured.Unstructured) (done bool, err error) {
	switch {
	case o.GetDeletionTimestamp() == nil:
		return false, nil
	case isPod(o):
		err = s.admin.DeleteNow(ctx, podKind, o.GetNamespace(), o.GetName())
	case isNamespace(o):
		content := only(all, func(in *unstructured.Unstructured) bool { return in.GetNamespace() == o.GetName() })
		for _, in := range content {
			if in.GetDeletionTimestamp() == nil && (err == nil || isRace(err)) {
				err = s.delete(ctx, in, metav1.DeletePropagationBackground)
			}
		}
		if len(content) == 0 {
			err = s.finalizers(ctx, o.GetName(), func([]any) []any { return nil })
		}
	default:
		if len(dependents(o, all)) > 0 {
			return false, nil
		}
		left := slices.DeleteFunc(o.GetFinalizers(), func(f string) bool {
			return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
		})
		err = s.merge(ctx, o, map[string]any{"finalizers": left})
	}
	if isRace(err) {
		err = nil
	}
	return true, err
}

// dependents returns the objects that have an owner.
func dependents(owner *unstructured.Unstructured, all []*unstructured.Unstructured) []*unstructured.Unstructured {
	return only(all, func(d *unstructured.Unstructured) bool {
		return slices.ContainsFunc(d.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
	})
}

// only returns the objects for which keep is true.
func only(all []*unstructured.Unstructured, keep func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool { return !keep(o) })
}

func isNamespace(o *unstructured.Unstructured) bool {
	return o.GetKind() == namespaceKind.Kind && o.GetAPIVersion() == namespaceKind.Version
}

// podKind is the kind Pod.
var podKind = kubeapi.Kind{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}

func isPod(o *unstructured.Unstructured) bool {
	return o.GetKind() == podKind.Kind && o.GetAPIVersion() == podKind.Version
}

// settle waits until no controller has work.
func (s *Backend) settle(ctx context.Context) error {
	err := until(ctx, "the controllers are not done", func() (bool, error) {
		pending, err := s.work(ctx)
		for i := 0; pending && err == nil && i < 50 && !s.mirror.hasChanged(); i++ {
			err = kubeapi.Sleep(ctx, interval/2)
		}
		return !pending, err
	})
	if err != nil && ctx.Err() == nil {
		if last := s.manager.stop(); last != "" {
			return fmt.Errorf("%w; %s: %s", err, assets.ControllerManager, last)
		}
	}
	return err
}

// holder is a finalizer of a namespace.
const holder = "operon.dev/hook-test"

// HoldNamespace implements hooktest.Cluster.
func (s *Backend) HoldNamespace(ctx context.Context, name string) (release func(context.Context) error, err error) {
	if err := s.finalizers(ctx, name, func(all []any) []any { return append(all, holder) }); err != nil {
		return nil, err
	}
	hold := func(name string) {
		s.working.Lock()
		defer s.working.Unlock()
		s.held, s.idle = name, 0
	}
	hold(name)
	return func(ctx context.Context) error {
		hold("")
		return s.finalizers(ctx, name, func(all []any) []any { return slices.DeleteFunc(all, func(f any) bool { return f == holder }) })
	}, nil
}

// finalizers changes the finalizers in the spec of a namespace.
func (s *Backend) finalizers(ctx context.Context, name string, change func([]any) []any) error {
	return until(ctx, "cannot change the finalizers of namespace "+name, func() (bool, error) {
		ns, err := s.admin.Get(ctx, namespaceKind, "", name)
		if err != nil {
			return false, err
		}
		all, _, _ := unstructured.NestedSlice(ns.Object, "spec", "finalizers")
		if err := unstructured.SetNestedSlice(ns.Object, change(all), "spec", "finalizers"); err != nil {
			return false, err
		}
		_, err = s.admin.Update(ctx, namespaceKind, ns, "finalize")
		if isRace(err) && !errors.Is(err, context.Canceled) {
			return false, nil
		}
		return err == nil, err
	})
}
