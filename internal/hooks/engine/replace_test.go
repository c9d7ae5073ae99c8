package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/config"
)

// TestReplace removes a hook while it runs and other tasks wait, and adds it again.
func TestReplace(t *testing.T) {
	t.Parallel()
	newHook := func(name, text string) Hook {
		c, findings := config.Shell.Parse([]byte("configVersion: v1\n" + text))
		if c == nil {
			t.Fatal(findings)
		}
		return Hook{hooks.Hook{Name: name, Path: "/hooks/" + name}, c}
	}
	const onStartupAndTick = "onStartup: 1\nschedule:\n- {name: tick, crontab: '* * * * *'}\n"
	b := newHook("b", onStartupAndTick)
	s := New([]Hook{newHook("a", onStartupAndTick), b, newHook("c", "onStartup: 2\nkubernetes:\n- {kind: Pod}\n")})
	s.Start()
	var tasks []string
	next := func(failure error) Task {
		task, ok := s.Take(mainQueue)
		if !ok {
			return Task{}
		}
		for _, b := range task.Bindings {
			if err := s.BindingListed(b, nil); err != nil {
				t.Fatal(err)
			}
		}
		if failure == nil {
			s.Finish(task, nil)
		}
		tasks = append(tasks, fmt.Sprint(task.Hook.Name, " ", task.Kind == Enable, " ", len(task.Contexts)))
		return task
	}
	next(nil)
	running := next(errors.New("still running"))
	s.Remove("b")
	s.Remove("unknown")
	if s.Tick("* * * * *"); slices.Contains(s.Queues(), "other") {
		t.Error("a removed hook has a queue")
	}
	s.Finish(running, errors.New("killed"))
	next(nil) // c, but not b again
	s.Add(b)
	for range 4 {
		next(nil) // the last task only enables the schedules of b
	}
	if s.Tick("* * * * *"); len(s.Queues()) == 0 {
		t.Error("b has no schedule")
	}
	next(nil) // a task of a, and then one of b
	next(nil)
	want := []string{"a false 1", "b false 1", "c false 1", "c true 0", "c false 1", "b false 1", "a false 1", "b false 1"}
	if diff := cmp.Diff(want, tasks); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}
