package fakeapi

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Delete takes an object away, or marks it as about to go while it has finalizers.
// What belongs to it by owner references goes after it, or before it in the
// foreground, or stays as orphans; "" is the background. What is in a namespace, or
// of the kind of a CRD, goes with it.
func (s *Server) Delete(_ context.Context, k kinds.Kind, namespace, name string, p metav1.DeletionPropagation) error {
	defer s.deliver()
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(k, namespace, name)
	if err != nil {
		return err
	}
	s.remove(e, p)
	return nil
}

func (s *Server) remove(e *entry, p metav1.DeletionPropagation) {
	o := e.object
	if o.GetDeletionTimestamp() != nil {
		return // it is on its way
	}
	switch {
	case e.kind.Group == "" && e.kind.Resource == "namespaces":
		s.terminate(e)
		return
	case isCRD(e.kind):
		s.clean(o)
	case p == metav1.DeletePropagationOrphan:
		for _, d := range s.dependents(o.GetUID()) {
			s.disown(d, o.GetUID())
		}
	case p == metav1.DeletePropagationForeground:
		o = s.mark(e, metav1.FinalizerDeleteDependents)
		for _, d := range s.dependents(o.GetUID()) {
			s.remove(d, s.propagation(d))
		}
		s.release(o.GetUID())
		return
	}
	s.finish(e.kind, o)
}

// propagation is how something goes whose owner goes in the foreground.
func (s *Server) propagation(e *entry) metav1.DeletionPropagation {
	if len(s.dependents(e.object.GetUID())) > 0 {
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// mark stores that an object is about to go, with another finalizer or "".
func (s *Server) mark(e *entry, finalizer string) *unstructured.Unstructured {
	old := e.object
	next := old.DeepCopy()
	at := now
	next.SetDeletionTimestamp(&at)
	none := int64(0)
	next.SetDeletionGracePeriodSeconds(&none)
	if finalizer != "" {
		next.SetFinalizers(append(next.GetFinalizers(), finalizer))
	}
	if counts(e.kind) {
		next.SetGeneration(old.GetGeneration() + 1)
	}
	s.put(e.kind, old, next)
	return next
}

// finish takes an object away that has no finalizers, and marks another.
func (s *Server) finish(k kinds.Kind, o *unstructured.Unstructured) {
	e := s.objects[keyOf(k, o.GetNamespace(), o.GetName())]
	if e == nil {
		return
	}
	if len(o.GetFinalizers()) > 0 || namespaceHolds(k, o) {
		if o.GetDeletionTimestamp() == nil {
			s.mark(e, "")
		}
		return
	}
	s.drop(k, o)
	s.collect(o)
	s.emptied(o.GetNamespace())
}

// namespaceHolds reports whether a namespace has finalizers in its spec.
func namespaceHolds(k kinds.Kind, o *unstructured.Unstructured) bool {
	if k.Group != "" || k.Resource != "namespaces" {
		return false
	}
	left, _, _ := unstructured.NestedSlice(o.Object, "spec", "finalizers")
	return len(left) > 0
}

// collect is the garbage collector, once an object is gone.
func (s *Server) collect(owner *unstructured.Unstructured) {
	for _, d := range s.dependents(owner.GetUID()) {
		if s.owned(d, owner.GetUID()) {
			s.disown(d, owner.GetUID())
		} else {
			s.remove(d, metav1.DeletePropagationBackground)
		}
	}
	for _, ref := range owner.GetOwnerReferences() {
		s.release(ref.UID)
	}
}

// dependents are the objects with an owner reference to a uid.
func (s *Server) dependents(uid types.UID) []*entry {
	var all []*entry
	for _, at := range s.keys(func(key) bool { return true }) {
		if slices.ContainsFunc(s.objects[at].object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid }) {
			all = append(all, s.objects[at])
		}
	}
	return all
}

// owned reports whether something has another owner that is there.
func (s *Server) owned(e *entry, but types.UID) bool {
	return slices.ContainsFunc(e.object.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.UID != but && s.byUID(r.UID) != nil
	})
}

func (s *Server) byUID(uid types.UID) *entry {
	for _, e := range s.objects {
		if e.object.GetUID() == uid {
			return e
		}
	}
	return nil
}

// disown takes the reference to an owner away.
func (s *Server) disown(e *entry, owner types.UID) {
	next := e.object.DeepCopy()
	next.SetOwnerReferences(slices.DeleteFunc(next.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner }))
	if len(next.GetOwnerReferences()) == 0 {
		unstructured.RemoveNestedField(next.Object, "metadata", "ownerReferences")
	}
	s.put(e.kind, e.object, next)
}

// release lets an object go that is deleted in the foreground, once nothing is left
// that holds it.
func (s *Server) release(uid types.UID) {
	e := s.byUID(uid)
	if e == nil || !slices.Contains(e.object.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		return
	}
	for _, d := range s.dependents(uid) {
		for _, r := range d.object.GetOwnerReferences() {
			if r.UID == uid && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion {
				return
			}
		}
	}
	next := e.object.DeepCopy()
	next.SetFinalizers(slices.DeleteFunc(next.GetFinalizers(), func(f string) bool { return f == metav1.FinalizerDeleteDependents }))
	if len(next.GetFinalizers()) > 0 {
		s.put(e.kind, e.object, next)
	}
	s.finish(e.kind, next)
}

// terminate is the controller of namespaces: it empties one that is deleted.
func (s *Server) terminate(e *entry) {
	next := e.object.DeepCopy()
	at := now
	next.SetDeletionTimestamp(&at)
	next.Object["status"] = map[string]any{"phase": "Terminating"}
	s.put(e.kind, e.object, next)
	name := next.GetName()
	for _, at := range s.keys(func(at key) bool { return at.namespace == name }) {
		if inside := s.objects[at]; inside != nil { // the garbage collector may have been faster
			s.remove(inside, metav1.DeletePropagationBackground)
		}
	}
	s.emptied(name)
}

// emptied lets a namespace go that is deleted and has nothing in it.
func (s *Server) emptied(name string) {
	e := s.objects[key{resource: "namespaces", name: name}]
	if name == "" || e == nil || e.object.GetDeletionTimestamp() == nil {
		return
	}
	if len(s.keys(func(at key) bool { return at.namespace == name })) > 0 {
		return
	}
	last := e.object.DeepCopy()
	unstructured.RemoveNestedField(last.Object, "spec", "finalizers")
	if len(last.GetFinalizers()) > 0 && namespaceHolds(e.kind, e.object) {
		s.put(e.kind, e.object, last)
		return
	}
	s.finish(e.kind, last)
}

// clean takes away all objects of the kind of a CRD.
func (s *Server) clean(crd *unstructured.Unstructured) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	for _, at := range s.keys(func(at key) bool { return at.group == group && at.resource == plural }) {
		if e := s.objects[at]; e != nil {
			s.remove(e, metav1.DeletePropagationBackground)
		}
	}
}
