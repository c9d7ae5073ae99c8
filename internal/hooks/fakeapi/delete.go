package fakeapi

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Delete deletes an object, or sets its deletionTimestamp while it has finalizers. The
// propagation decides about its dependents: background ("" too) deletes them afterwards,
// foreground before, and orphan keeps them. Deleting a namespace or a CRD deletes its
// objects.
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
		return // it is being deleted already
	}
	switch {
	case e.kind.Group == "" && e.kind.Resource == "namespaces":
		s.terminate(e)
		return
	case isCRD(e.kind):
		s.deleteCustomResources(o)
	case p == metav1.DeletePropagationOrphan:
		for _, d := range s.dependents(o.GetUID()) {
			s.disown(d, o.GetUID())
		}
	case p == metav1.DeletePropagationForeground:
		o = s.markDeleted(e, metav1.FinalizerDeleteDependents)
		for _, d := range s.dependents(o.GetUID()) {
			s.remove(d, s.propagation(d))
		}
		s.release(o.GetUID())
		return
	}
	s.finish(e.kind, o)
}

// propagation returns the propagation for a dependent of an object that is deleted in the
// foreground.
func (s *Server) propagation(e *entry) metav1.DeletionPropagation {
	if len(s.dependents(e.object.GetUID())) > 0 {
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// markDeleted sets deletionTimestamp, and adds a finalizer unless it is "".
func (s *Server) markDeleted(e *entry, finalizer string) *unstructured.Unstructured {
	old := e.object
	next := old.DeepCopy()
	at := now
	next.SetDeletionTimestamp(&at)
	none := int64(0)
	next.SetDeletionGracePeriodSeconds(&none)
	if finalizer != "" {
		next.SetFinalizers(append(next.GetFinalizers(), finalizer))
	}
	if hasGeneration(e.kind) {
		next.SetGeneration(old.GetGeneration() + 1)
	}
	s.put(e.kind, old, next)
	return next
}

// finish removes an object without finalizers. It marks any other one as deleted.
func (s *Server) finish(k kinds.Kind, o *unstructured.Unstructured) {
	e := s.objects[keyOf(k, o.GetNamespace(), o.GetName())]
	if e == nil {
		return
	}
	if len(o.GetFinalizers()) > 0 || hasSpecFinalizers(k, o) {
		if o.GetDeletionTimestamp() == nil {
			s.markDeleted(e, "")
		}
		return
	}
	s.drop(k, o)
	s.collect(o)
	s.finishNamespace(o.GetNamespace())
}

// hasSpecFinalizers reports whether an object is a namespace with finalizers in its spec.
func hasSpecFinalizers(k kinds.Kind, o *unstructured.Unstructured) bool {
	if k.Group != "" || k.Resource != "namespaces" {
		return false
	}
	left, _, _ := unstructured.NestedSlice(o.Object, "spec", "finalizers")
	return len(left) > 0
}

// collect runs the garbage collector after an object was removed.
func (s *Server) collect(owner *unstructured.Unstructured) {
	for _, d := range s.dependents(owner.GetUID()) {
		if s.hasOtherOwner(d, owner.GetUID()) {
			s.disown(d, owner.GetUID())
		} else {
			s.remove(d, metav1.DeletePropagationBackground)
		}
	}
	for _, ref := range owner.GetOwnerReferences() {
		s.release(ref.UID)
	}
}

// dependents returns the objects with an owner reference to a uid.
func (s *Server) dependents(uid types.UID) []*entry {
	var all []*entry
	for _, at := range s.keys(func(key) bool { return true }) {
		if slices.ContainsFunc(s.objects[at].object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid }) {
			all = append(all, s.objects[at])
		}
	}
	return all
}

// hasOtherOwner reports whether an object has another owner that exists.
func (s *Server) hasOtherOwner(e *entry, but types.UID) bool {
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

// disown removes the reference to an owner.
func (s *Server) disown(e *entry, owner types.UID) {
	next := e.object.DeepCopy()
	next.SetOwnerReferences(slices.DeleteFunc(next.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner }))
	if len(next.GetOwnerReferences()) == 0 {
		unstructured.RemoveNestedField(next.Object, "metadata", "ownerReferences")
	}
	s.put(e.kind, e.object, next)
}

// release removes an object that is being deleted in the foreground, once no dependent
// blocks its deletion.
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

// terminate runs the namespace controller: it deletes the objects of a namespace.
func (s *Server) terminate(e *entry) {
	next := e.object.DeepCopy()
	at := now
	next.SetDeletionTimestamp(&at)
	next.Object["status"] = map[string]any{"phase": "Terminating"}
	s.put(e.kind, e.object, next)
	name := next.GetName()
	for _, at := range s.keys(func(at key) bool { return at.namespace == name }) {
		if inside := s.objects[at]; inside != nil { // the garbage collector may have removed it
			s.remove(inside, metav1.DeletePropagationBackground)
		}
	}
	s.finishNamespace(name)
}

// HoldNamespace keeps a namespace while it is being deleted, but not its objects: the namespace
// controller deletes these first. "" ends it.
func (s *Server) HoldNamespace(name string) {
	defer s.deliver()
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.held
	s.held = name
	s.finishNamespace(before)
}

// finishNamespace removes a namespace that is being deleted and has no objects.
func (s *Server) finishNamespace(name string) {
	e := s.objects[key{resource: "namespaces", name: name}]
	if name == "" || name == s.held || e == nil || e.object.GetDeletionTimestamp() == nil {
		return
	}
	if len(s.keys(func(at key) bool { return at.namespace == name })) > 0 {
		return
	}
	last := e.object.DeepCopy()
	unstructured.RemoveNestedField(last.Object, "spec", "finalizers")
	if len(last.GetFinalizers()) > 0 && hasSpecFinalizers(e.kind, e.object) {
		s.put(e.kind, e.object, last)
		return
	}
	s.finish(e.kind, last)
}

// deleteCustomResources deletes all objects of the kind of a CRD.
func (s *Server) deleteCustomResources(crd *unstructured.Unstructured) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	for _, at := range s.keys(func(at key) bool { return at.group == group && at.resource == plural }) {
		if e := s.objects[at]; e != nil {
			s.remove(e, metav1.DeletePropagationBackground)
		}
	}
}
