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

// TestReplace removes a hook while it runs and others wait, and adds it again.
func TestReplace(t *testing.T) {
	t.Parallel()
	named := func(name, text string) Hook {
		c, findings := config.Parse([]byte("configVersion: v1\n" + text))
		if c == nil {
			t.Fatal(findings)
		}
		return Hook{hooks.Hook{Name: name, Path: "/hooks/" + name}, c}
	}
	const clock = "onStartup: 1\nschedule:\n- {name: tick, crontab: '* * * * *'}\n"
	b := named("b", clock)
	s := New([]Hook{named("a", clock), b, named("c", "onStartup: 2\nkubernetes:\n- {kind: Pod}\n")})
	s.Start()
	var did []string
	next := func(failure error) Task {
		task, due := s.Take(Main)
		if !due {
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
		did = append(did, fmt.Sprint(task.Hook.Name, " ", task.Kind == Enable, " ", len(task.Contexts)))
		return task
	}
	next(nil)
	atWork := next(errors.New("it is at work"))
	s.Remove("b")
	s.Remove("nobody")
	if s.Tick("* * * * *"); slices.Contains(s.Queues(), "other") {
		t.Error("a queue of nobody")
	}
	s.Finish(atWork, errors.New("it was killed"))
	next(nil) // c, but not b again
	s.Add(b)
	for range 4 {
		next(nil) // the last task only enables the schedules of b
	}
	if s.Tick("* * * * *"); len(s.Queues()) == 0 {
		t.Error("no schedule of b")
	}
	next(nil) // one of a and one of b
	next(nil)
	want := []string{"a false 1", "b false 1", "c false 1", "c true 0", "c false 1", "b false 1", "a false 1", "b false 1"}
	if diff := cmp.Diff(want, did); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}
