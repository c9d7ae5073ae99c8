// Package loadtest puts an operator under load: it changes objects in a stream while managers
// start and end, and measures a manager with many objects.
package loadtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// prefix begins the names of the objects.
const prefix = "load-"

// patience is how long a change is repeated while no webhook answers.
const patience = time.Minute

// Stream creates, updates and deletes objects of one kind until it is stopped. The kind has the
// field spec.foo, which operon scaffolds. Stream remembers what each object must be in the
// end.
type Stream struct {
	objects dynamic.ResourceInterface
	kind    *unstructured.Unstructured
	stop    context.CancelFunc
	workers sync.WaitGroup

	mu      sync.Mutex
	wanted  map[string]string // spec.foo by name, without deleted objects
	changes int
	err     error
}

// StartStream starts workers, each of which makes one change per interval. kind has the
// apiVersion, kind and namespace of the objects.
func StartStream(objects dynamic.ResourceInterface, kind *unstructured.Unstructured, workers int, interval time.Duration) *Stream {
	ctx, stop := context.WithCancel(context.Background())
	s := &Stream{objects: objects, kind: kind, stop: stop, wanted: map[string]string{}}
	for worker := range workers {
		s.workers.Go(func() { s.work(ctx, worker, interval) })
	}
	return s
}

// Stop waits for the last changes and returns the first failure.
func (s *Stream) Stop() error {
	s.stop()
	s.workers.Wait()
	return s.err
}

// Changes returns how many changes the API server has accepted.
func (s *Stream) Changes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// Wanted returns spec.foo of the objects that must exist, by name. Call it after Stop.
func (s *Stream) Wanted() map[string]string { return s.wanted }

// work changes objects that no other worker changes. Of five changes, two create an object, two
// update one, and one deletes one.
func (s *Stream) work(ctx context.Context, worker int, interval time.Duration) {
	random := rand.New(rand.NewPCG(1, uint64(worker)))
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var live []string
	for n := 0; ctx.Err() == nil; n++ {
		value, choice := fmt.Sprint(n), random.IntN(5)
		if len(live) == 0 || choice < 2 {
			name := fmt.Sprintf("%s%d-%d", prefix, worker, n)
			live = append(live, name)
			s.change(name, value, func() error { return s.create(name, value) })
		} else if i := random.IntN(len(live)); choice < 4 {
			s.change(live[i], value, func() error { return s.update(live[i], value) })
		} else {
			s.change(live[i], "", func() error { return s.remove(live[i]) })
			live = append(live[:i], live[i+1:]...)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// change repeats a request until the API server accepts it. A request whose response was lost
// counts once.
func (s *Stream) change(name, value string, request func() error) {
	deadline := time.Now().Add(patience)
	err := request()
	for err != nil && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		err = request()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("change %s: %w", name, err))
		s.stop()
		return
	}
	s.changes++
	if s.wanted[name] = value; value == "" {
		delete(s.wanted, name)
	}
}

func (s *Stream) create(name, value string) error {
	o := s.kind.DeepCopy()
	o.SetName(name)
	o.Object["spec"] = map[string]any{"foo": value}
	_, err := s.objects.Create(context.Background(), o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (s *Stream) update(name, value string) error {
	patch := fmt.Appendf(nil, `{"spec":{"foo":%q}}`, value)
	_, err := s.objects.Patch(context.Background(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (s *Stream) remove(name string) error {
	background := metav1.DeletePropagationBackground
	err := s.objects.Delete(context.Background(), name, metav1.DeleteOptions{PropagationPolicy: &background})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Check returns an error unless each wanted object exists and is reconciled as its last spec
// says, and deleted objects are gone. Call it after Stop.
func (s *Stream) Check(ctx context.Context) error {
	list, err := s.objects.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for i := range list.Items {
		o := &list.Items[i]
		want, ok := s.wanted[o.GetName()]
		switch {
		case !strings.HasPrefix(o.GetName(), prefix):
			continue
		case !ok:
			return fmt.Errorf("%s was deleted and still exists", o.GetName())
		}
		have[o.GetName()] = true
		foo, _, _ := unstructured.NestedString(o.Object, "spec", "foo")
		if status, generation := ready(o); foo != want || status != "True" || generation != o.GetGeneration() {
			return fmt.Errorf("%s has foo %q, want %q; Ready is %q for generation %d of %d",
				o.GetName(), foo, want, status, generation, o.GetGeneration())
		}
	}
	for name := range s.wanted {
		if !have[name] {
			return fmt.Errorf("%s is lost", name)
		}
	}
	return nil
}

// ready returns the status and the observed generation of the condition Ready.
func ready(o *unstructured.Unstructured) (status string, generation int64) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Ready" {
			status, _ = m["status"].(string)
			generation, _ = m["observedGeneration"].(int64)
		}
	}
	return status, generation
}
