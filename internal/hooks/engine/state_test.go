package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hookOf returns a hook with a configuration.
func hookOf(t *testing.T, name, conf string) Hook {
	t.Helper()
	c, findings := config.Shell.Parse([]byte(conf))
	if c == nil {
		t.Fatal(findings)
	}
	return Hook{hooks.Hook{Name: name, Path: name}, c}
}

// started returns a state whose bindings are enabled and whose hooks have run.
func started(t *testing.T, found ...Hook) *State {
	t.Helper()
	s := New(found)
	s.Start()
	for {
		task, ok := s.Take(mainQueue)
		if !ok {
			return s
		}
		for _, b := range task.Bindings {
			if err := s.BindingListed(b, nil); err != nil {
				t.Fatal(err)
			}
		}
		s.Finish(task, nil)
	}
}

func configMap(name string, data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "default"}, "data": data}}
}

// namesOf returns the bindings and objects of the contexts of a task.
func namesOf(t Task) string {
	var all []string
	for _, c := range t.Contexts {
		name := fmt.Sprint(c["binding"])
		if o, hasObject := c["object"].(*unstructured.Unstructured); hasObject {
			name += "/" + o.GetName()
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// TestCompact checks that a queue combines all tasks of a hook that has a hundred of them. Contexts
// without a group come first, and of each group only the last context remains.
func TestCompact(t *testing.T) {
	t.Parallel()
	const conf = `configVersion: v1
kubernetes:
- {name: alone, kind: ConfigMap}
- {name: member, kind: ConfigMap, group: g}`
	s := started(t, hookOf(t, "a", conf), hookOf(t, "b", conf))
	observe := func(hook string, index int, name string) {
		t.Helper()
		if err := s.ObjectChanged(Ref{hook, index}, "Added", configMap(name, nil)); err != nil {
			t.Fatal(err)
		}
	}
	observe("b", 0, "first")
	for i := range 99 {
		observe("a", i%2, fmt.Sprint(i))
	}
	observe("b", 0, "second")
	if tasks := len(s.queue(mainQueue).tasks); tasks != 101 {
		t.Fatalf("%d tasks, want 101: each hook has fewer than a hundred", tasks)
	}
	observe("a", 0, "last")
	if tasks := len(s.queue(mainQueue).tasks); tasks != 3 {
		t.Fatalf("%d tasks, want 3: one of a between two of b", tasks)
	}
	for _, want := range []int{1, 52, 1} {
		task, _ := s.Take(mainQueue)
		if len(task.Contexts) != want {
			t.Errorf("%d contexts, want %d", len(task.Contexts), want)
		}
		if want > 1 && (task.Contexts[0]["binding"] != "alone" || task.Contexts[want-1]["binding"] != "member") {
			t.Errorf("%v, want the group at the end", namesOf(task))
		}
		s.Finish(task, nil)
	}
}

// TestQueues checks that each queue runs one task at a time.
func TestQueues(t *testing.T) {
	t.Parallel()
	s := started(t, hookOf(t, "a", `configVersion: v1
kubernetes:
- {name: one, kind: ConfigMap}
- {name: two, kind: ConfigMap, queue: two}`))
	for index := range 2 {
		for range 2 {
			o := configMap(fmt.Sprint(len(s.Queues())), map[string]any{"n": time.Duration(index).String()})
			if err := s.ObjectChanged(Ref{"a", index}, "Deleted", o); err != nil {
				t.Fatal(err)
			}
		}
	}
	if q := s.Queues(); len(q) != 2 || q[0] != mainQueue || q[1] != "two" {
		t.Fatalf("queues %v", q)
	}
	if h, ok := s.NextHook(mainQueue); !ok || h.Name != "a" {
		t.Errorf("the next hook of main is %q", h.Name)
	}
	first, _ := s.Take(mainQueue)
	if _, ok := s.Take(mainQueue); ok {
		t.Error("a queue runs two tasks at the same time")
	}
	if _, ok := s.NextHook(mainQueue); ok {
		t.Error("a busy queue has a next hook")
	}
	if _, ok := s.Take("two"); !ok {
		t.Error("a queue waits for another queue")
	}
	s.Finish(first, errors.New("no"))
	again, ok := s.Take(mainQueue)
	if !ok || again.Failures != 1 || namesOf(again) != namesOf(first) {
		t.Errorf("%t %+v, want the failed task", ok, again)
	}
}

// TestEnable checks that enabling bindings is retried until it succeeds.
func TestEnable(t *testing.T) {
	t.Parallel()
	s := New([]Hook{hookOf(t, "a", `configVersion: v1
kubernetes:
- {name: cms, kind: ConfigMap, jqFilter: .data.k.x}`)})
	s.Start()
	task, _ := s.Take(mainQueue)
	err := s.BindingListed(task.Bindings[0], []*unstructured.Unstructured{configMap("x", map[string]any{"k": "v"})})
	if task.Kind != Enable || err == nil || !strings.Contains(err.Error(), "jqFilter of cms for ConfigMap default/x") {
		t.Fatalf("%v: %v", task, err)
	}
	s.Finish(task, err)
	if err := s.ObjectChanged(task.Bindings[0], "Added", configMap("y", nil)); err != nil {
		t.Errorf("an event before the binding is enabled: %v", err)
	}
	task, _ = s.Take(mainQueue)
	if task.Kind != Enable || task.Failures != 1 {
		t.Fatalf("%+v, want the same task again", task)
	}
	if err := s.BindingListed(task.Bindings[0], nil); err != nil {
		t.Fatal(err)
	}
	s.Finish(task, nil)
	task, _ = s.Take(mainQueue)
	if len(task.Contexts) != 1 || task.Contexts[0]["type"] != "Synchronization" {
		t.Errorf("%v, want the synchronization", task.Contexts)
	}
}

// TestRetryDelay checks the retry delay, without its random part.
func TestRetryDelay(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{1: 5, 2: 6, 3: 7, 4: 9, 5: 13, 6: 21, 7: 32, 90: 32} {
		if got := RetryDelay(failures); got != want*time.Second {
			t.Errorf("after %d failures %v, want %d s", failures, got, want)
		}
	}
}

// TestStartOrder checks that hooks start by order, then by path.
func TestStartOrder(t *testing.T) {
	t.Parallel()
	var found []Hook
	for _, h := range []string{"a 10", "b 2", "c -1", "d 2", "e 0"} {
		name, order, _ := strings.Cut(h, " ")
		found = append(found, hookOf(t, name, "configVersion: v1\nonStartup: "+order))
	}
	s := New(found)
	s.Start()
	var order []string
	for {
		task, ok := s.Take(mainQueue)
		if !ok {
			break
		}
		order = append(order, task.Hook.Name)
		if task.AllowFailure || namesOf(task) != "onStartup" {
			t.Errorf("%s: %v, allowFailure: %t", task.Hook.Name, task.Contexts, task.AllowFailure)
		}
		s.Finish(task, nil)
	}
	if got := strings.Join(order, " "); got != "c e b d a" {
		t.Errorf("the order is %s", got)
	}
}
