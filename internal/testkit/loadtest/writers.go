package loadtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// Writers records which managers report that they reconciled objects, in the order in which
// the API server stored the reports. Managers are told apart by the names of their programs,
// with which the API server marks the fields that they write.
type Writers struct {
	watch watch.Interface
	done  chan struct{}

	mu    sync.Mutex
	turns []string            // who wrote, without repetitions
	seen  map[types.UID]int64 // the observed generations
}

// WatchWriters starts to record. The context ends it.
func WatchWriters(ctx context.Context, objects dynamic.ResourceInterface) (*Writers, error) {
	list, err := objects.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	events, err := objects.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return nil, err
	}
	w := &Writers{watch: events, done: make(chan struct{}), seen: map[types.UID]int64{}}
	go func() {
		defer close(w.done)
		for e := range events.ResultChan() {
			if o, ok := e.Object.(*unstructured.Unstructured); ok && e.Type != watch.Deleted {
				w.add(o)
			}
		}
	}()
	return w, nil
}

func (w *Writers) add(o *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, generation := ready(o)
	if generation == w.seen[o.GetUID()] {
		return
	}
	w.seen[o.GetUID()] = generation
	manager := writer(o)
	if last := len(w.turns) - 1; last < 0 || w.turns[last] != manager {
		w.turns = append(w.turns, manager)
	}
}

// writer returns who wrote the observed generation of the condition Ready last. A changed value
// belongs only to the program that wrote it.
func writer(o *unstructured.Unstructured) string {
	for _, f := range o.GetManagedFields() {
		var fields map[string]any
		if f.Subresource != "status" || f.FieldsV1 == nil || json.Unmarshal(f.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		if _, ok, _ := unstructured.NestedFieldNoCopy(fields, "f:status", "f:conditions", `k:{"type":"Ready"}`, "f:observedGeneration"); ok {
			return f.Manager
		}
	}
	return "unknown"
}

// Check returns an error unless the managers wrote in this order, each without interruption:
// no object was handled by two leaders at once. It fails if the watch ended, because turns may be missing.
func (w *Writers) Check(managers ...string) error {
	select {
	case <-w.done:
		return fmt.Errorf("the watch of the writers ended")
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.turns, managers) {
		return fmt.Errorf("the managers wrote in the order %v, want %v", w.turns, managers)
	}
	return nil
}
