//go:build testall

package loadtest

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
)

var fleets = schema.GroupVersionResource{Group: "load.example.org", Version: "v1", Resource: "fleets"}

func fleet() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "load.example.org/v1", "kind": "Fleet", "metadata": map[string]any{"namespace": "default"},
	}}
}

// TestWriters checks that a manager that writes after its successor has begun is detected.
func TestWriters(t *testing.T) {
	t.Parallel()
	report := func(w *Writers, name, manager string, generation int64) {
		o := fleet()
		o.SetUID(types.UID(name))
		o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "observedGeneration": generation}}}
		fields := func(condition string) map[string]any {
			return map[string]any{"f:status": map[string]any{"f:conditions": map[string]any{
				fmt.Sprintf(`k:{"type":%q}`, condition): map[string]any{"f:observedGeneration": map[string]any{}},
			}}}
		}
		o.Object["metadata"].(map[string]any)["managedFields"] = []any{
			map[string]any{"manager": "other", "operation": "Update", "subresource": "status", "fieldsV1": fields("Other")},
			map[string]any{"manager": manager, "operation": "Update", "subresource": "status", "fieldsV1": fields("Ready")},
		}
		w.add(o)
	}
	w := &Writers{done: make(chan struct{}), seen: map[types.UID]int64{}}
	report(w, "a", "first", 1)
	report(w, "b", "first", 1)
	report(w, "a", "second", 2)
	report(w, "a", "first", 2) // the same report: not a new write
	if err := w.Check("first", "second"); err != nil {
		t.Error(err)
	}
	report(w, "b", "first", 2)
	if err := w.Check("first", "second"); err == nil {
		t.Error("two managers that take turns are not detected")
	}
	close(w.done)
	if err := w.Check("first", "second", "first"); err == nil {
		t.Error("the end of the watch is not detected")
	}
}

// TestStream checks that objects that are not reconciled, lost or not deleted are detected.
func TestStream(t *testing.T) {
	t.Parallel()
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{fleets: "FleetList"})
	objects := client.Resource(fleets).Namespace("default")
	s := StartStream(objects, fleet(), 2, time.Millisecond)
	for s.Changes() < 50 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err == nil {
		t.Error("objects that nobody reconciled are not detected")
	}
	names := reconcile(t, objects)
	if err := s.Check(t.Context()); err != nil || len(names) != len(s.Wanted()) {
		t.Errorf("%d objects: %v", len(names), err)
	}
	s.wanted["load-9-9"] = "1"
	if err := s.Check(t.Context()); err == nil {
		t.Error("a lost object is not detected")
	}
	delete(s.wanted, "load-9-9")
	delete(s.wanted, names[0])
	if err := s.Check(t.Context()); err == nil {
		t.Error("an object that was not deleted is not detected")
	}
}

// reconcile reports all objects as ready, and returns their names.
func reconcile(t *testing.T, objects dynamic.ResourceInterface) (names []string) {
	t.Helper()
	list, err := objects.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		o.Object["status"] = map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": "True", "observedGeneration": o.GetGeneration()},
		}}
		if _, err := objects.Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		names = append(names, o.GetName())
	}
	return names
}
