package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/internal/fault"
)

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long until %s", what)
		}
	}
}

func TestForeground(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Controllers = true
	s, err := w.start()
	must(t, err)
	list, err := w.home.List()
	must(t, err)
	if diff := cmp.Diff([]State{s.State}, list); diff != "" {
		t.Errorf("list (-started +listed):\n%s", diff)
	}
	w.options.Port = s.State.Port
	if s.State.Phase != Running || s.State.Version != "v1.2.3" || s.State.Options != w.options || !strings.HasPrefix(s.State.URL, "https://127.0.0.1:") {
		t.Errorf("state %+v", s.State)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := s.Wait(ctx); !errors.Is(err, cause) {
		t.Errorf("wait: %v", err)
	}
	w.gone()
}

func TestDetached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, err := w.start()
	must(t, err)
	must(t, s.Detach())
	must(t, s.supervisor.Process.Release()) // as when this process ended
	again, err := w.start()
	must(t, err)
	if !again.Already {
		t.Error("a second start does not report that the control plane was running")
	}
	if diff := cmp.Diff(s.State, again.State); diff != "" {
		t.Errorf("the second start (-first +second):\n%s", diff)
	}
	state, there, err := w.home.Stop(t.Context(), DefaultName)
	if err != nil || !there || state.Phase != Running {
		t.Errorf("stop: %v, %v, %+v", there, err, state)
	}
	w.gone()
	if _, there, err := w.home.Stop(t.Context(), DefaultName); there || err != nil {
		t.Errorf("a second stop: %v, %v", there, err)
	}
}

// TestStopped stops a control plane while another process waits for it.
func TestStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "FAKE_kube-apiserver=deaf", "FAKE_etcd=deaf")
	s, err := w.start()
	must(t, err)
	_, there, err := w.home.Stop(t.Context(), DefaultName)
	if err != nil || !there {
		t.Errorf("stop: %v, %v", there, err)
	}
	if err := s.Wait(t.Context()); err != nil {
		t.Errorf("wait: %v", err)
	}
	w.gone()
}

// TestAbandoned abandons a supervisor that is starting.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "FAKE_kube-apiserver=loiter")
	s := &Session{home: w.home}
	must(t, s.launch(w.options, w.supervisor, w.env))
	until(t, "it starts", func() bool { return w.home.alive(DefaultName) })
	if err := s.abandon(); err != nil {
		t.Error(err)
	}
	w.gone()
}

// TestStoppedEarly stops a control plane that is starting.
func TestStoppedEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "FAKE_kube-apiserver=loiter")
	started := make(chan error)
	go func() {
		_, err := w.start()
		started <- err
	}()
	until(t, "it starts", func() bool { return w.home.alive(DefaultName) })
	state, there, err := w.home.Stop(t.Context(), DefaultName)
	if err != nil || !there || state.Phase != Starting {
		t.Errorf("stop: %v, %v, %+v", there, err, state)
	}
	if err := <-started; err == nil || err.Error() != `control plane "default" was stopped before it was ready` {
		t.Errorf("start: %v", err)
	}
	w.gone()
}

func TestStartTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all sync.WaitGroup
	var first int
	var mu sync.Mutex
	for range 5 {
		all.Go(func() {
			s, err := w.home.Start(t.Context(), w.options, w.supervisor, w.env, func(string) {})
			if err != nil {
				t.Error(err)
				return
			}
			if !s.Already {
				mu.Lock()
				first++
				mu.Unlock()
				if err := s.Detach(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if first != 1 {
		t.Errorf("%d calls started it", first)
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	w := newWorld(t)
	w.options.Port = l.Addr().(*net.TCPAddr).Port
	_, err = w.start()
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("port %d: ", w.options.Port)) || fault.HintOf(err) == "" {
		t.Errorf("port taken: %v", err)
	}
	w.gone()
	must(t, l.Close())
	s, err := w.start()
	must(t, err)
	if want := fmt.Sprintf("https://127.0.0.1:%d", w.options.Port); s.State.URL != want {
		t.Errorf("url %s, want %s", s.State.URL, want)
	}
}

// TestPortLost lets another program take the port before the API server does.
func TestPortLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "FAKE_kube-apiserver=die-once", "FAKE_WORDS=listen tcp 127.0.0.1:2: bind: address already in use")
	if _, err := w.start(); err != nil {
		t.Error(err)
	}
}

// TestPortLostLater lets another program take the port while the API server restarts. The
// control plane keeps the port and its data, and tries again.
func TestPortLostLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "FAKE_kube-apiserver=die-ready", "FAKE_WORDS= bind: address already in use")
	s, err := w.start()
	must(t, err)
	if err := s.Wait(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "kube-apiserver exited: exit status 4\n") {
		t.Errorf("wait: %v", err)
	}
	w.gone()
}

func TestDeathAtStart(t *testing.T) {
	t.Parallel()
	// The API server never becomes ready, so the exit comes first.
	for program, server := range map[string]string{etcdProgram: "loiter", serverProgram: "die", controllerProgram: "bare"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "FAKE_"+program+"=die", "FAKE_"+serverProgram+"="+server, "FAKE_WORDS=last word")
			w.options.Controllers = true
			_, err := w.start()
			want := program + " exited: exit status 3\n  first word\n  last word"
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			w.gone()
		})
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "FAKE_etcd=die", "FAKE_kube-apiserver=loiter", "FAKE_WORDS=write wal: no space left on device")
	_, err := w.start()
	if hint := fault.HintOf(err); !strings.HasPrefix(hint, "free space on the disk that holds ") {
		t.Errorf("%v: hint %q", err, hint)
	}
	w.gone()
}

// TestRestart kills a running program.
func TestRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, err := w.start()
	must(t, err)
	before := pidOf(t, w, serverProgram)
	p, err := os.FindProcess(before)
	must(t, err)
	must(t, p.Kill())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		until(t, "it is started again", func() bool {
			now := pidOf(t, w, serverProgram)
			return now != 0 && now != before
		})
	}()
	_ = s.Wait(ctx)
	if want := []string{"kube-apiserver exited (signal: killed): restarting it"}; !cmp.Equal(w.news, want) {
		t.Errorf("news %q", w.news)
	}
	w.gone()
}

// TestGivesUp starts a program that always exits.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	const want = "etcd exited: exit status 4\n  enough\n  enough\n  enough\n  enough\n  enough"
	t.Run("watched", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "FAKE_etcd=die-ready")
		s, err := w.start()
		must(t, err)
		if err := s.Wait(t.Context()); err == nil || err.Error() != want {
			t.Errorf("wait: %v", err)
		}
		w.gone()
	})
	t.Run("detached", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "FAKE_etcd=die-ready")
		s, err := w.start()
		must(t, err)
		must(t, s.Detach())
		until(t, "it gives up", func() bool { return !w.home.alive(DefaultName) })
		list, err := w.home.List()
		must(t, err)
		if len(list) != 1 || list[0].Phase != Failed || list[0].Message != want {
			t.Errorf("list: %+v", list)
		}
		log, err := os.ReadFile(filepath.Join(w.home.folder(DefaultName), logFile))
		if err != nil || strings.Count(string(log), " etcd exited (exit status 4): restarting it\n") != maxQuickExits-1 {
			t.Errorf("log, %v:\n%s", err, log)
		}
		state, there, err := w.home.Stop(t.Context(), DefaultName)
		if !there || err != nil || state.Phase != Failed {
			t.Errorf("stop: %v, %v, %+v", there, err, state)
		}
		w.gone()
	})
}

// TestSupervisorKilled kills the supervisor, which then cannot remove its files.
func TestSupervisorKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, err := w.start()
	must(t, err)
	must(t, s.supervisor.Process.Kill())
	err = s.Wait(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), `the supervisor of control plane "default" ended: `) {
		t.Errorf("wait: %v", err)
	}
	w.gone()

	if s, err = w.start(); err != nil {
		t.Fatal(err)
	}
	must(t, s.Detach())
	must(t, s.supervisor.Process.Kill())
	until(t, "it is dead", func() bool { return !w.home.alive(DefaultName) })
	list, err := w.home.List()
	must(t, err)
	if len(list) != 1 || list[0].Phase != Dead {
		t.Errorf("list: %+v", list)
	}
	if _, err := w.start(); err != nil {
		t.Errorf("start after a kill: %v", err)
	}
}

func pidOf(t *testing.T, w *world, program string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.home.folder(DefaultName), program+pidSuffix))
	must(t, err)
	var pid int
	_, _ = fmt.Sscan(string(data), &pid)
	return pid
}
