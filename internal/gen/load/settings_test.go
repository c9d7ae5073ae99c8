package load

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen/store"
)

// fakeGo returns settings whose go command is a script in a GOROOT of its own. It answers go env with
// the value of the file flags for GOFLAGS, and counts its runs in the file runs.
func fakeGo(t *testing.T) (s settings, goRoot string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the go command is a script")
	}
	goRoot = t.TempDir()
	write(t, filepath.Join(goRoot, "VERSION"), "go1.26.0\n")
	write(t, filepath.Join(goRoot, "flags"), "-v")
	script := "#!/bin/sh\ncd " + goRoot + "\necho run >>runs\n[ -e broken ] && exit 1\nshift\nfor name; do case $name in\n" +
		"GOFLAGS) cat flags; echo;; GOROOT) pwd;; GOMODCACHE) echo /mod;; GOENV) echo $PWD/env;; CC) echo $PWD/cc;; *) echo;; esac; done\n"
	program := filepath.Join(goRoot, "bin", "go")
	write(t, program, script)
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	env := goEnv([]string{"HOME=/nobody", "PATH=" + filepath.Dir(program) + ":/usr/bin:/bin"})
	return settings{store: store.Open(t.TempDir()), dir: t.TempDir(), env: env}, goRoot
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runs returns how often the go command of fakeGo ran.
func runs(t *testing.T, goRoot string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(goRoot, "runs"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// TestSettingsAreKept asks for the settings again after one change each. The go command runs if, and
// only if, its answer depends on what changed.
func TestSettingsAreKept(t *testing.T) {
	changes := []struct {
		name string
		do   func(t *testing.T, s *settings, goRoot string)
		asks bool
	}{
		{"nothing", func(*testing.T, *settings, string) {}, false},
		{"another folder", func(t *testing.T, s *settings, _ string) { t.Helper(); s.dir = t.TempDir() }, false},
		{"a variable that go does not read", func(_ *testing.T, s *settings, _ string) { s.env = append(s.env, "TERM=dumb") }, false},
		{"a variable", func(_ *testing.T, s *settings, _ string) { s.env = append(s.env, "GOFLAGS=-v") }, true},
		{"a compiler", func(t *testing.T, _ *settings, goRoot string) {
			t.Helper()
			write(t, filepath.Join(goRoot, "cc"), "#!/bin/sh\n")
			if err := os.Chmod(filepath.Join(goRoot, "cc"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"the file of go env -w", func(t *testing.T, _ *settings, goRoot string) {
			t.Helper()
			write(t, filepath.Join(goRoot, "env"), "GOFLAGS=-v\n")
		}, true},
		{"the defaults of the release", func(t *testing.T, _ *settings, goRoot string) {
			t.Helper()
			write(t, filepath.Join(goRoot, "go.env"), "GOPROXY=off\n")
		}, true},
		{"the release", func(t *testing.T, _ *settings, goRoot string) {
			t.Helper()
			write(t, filepath.Join(goRoot, "VERSION"), "go1.26.1\n")
		}, true},
		{"the program", func(t *testing.T, _ *settings, goRoot string) {
			t.Helper()
			name := filepath.Join(goRoot, "bin", "go")
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, name, string(text)+"# another\n")
		}, true},
		{"a workspace", func(t *testing.T, s *settings, _ string) {
			t.Helper()
			write(t, filepath.Join(s.dir, "go.work"), "go 1.26\n")
		}, true},
		{"no store", func(_ *testing.T, s *settings, _ string) { s.store = nil }, true},
	}
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			s, goRoot := fakeGo(t)
			want, ok := s.get(t.Context())
			if !ok || want["GOFLAGS"] != "-v" || want["GOROOT"] != goRoot || len(want) != len(asked) {
				t.Fatalf("%v, %v", want, ok)
			}
			tt.do(t, &s, goRoot)
			got, ok := s.get(t.Context())
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("ok %v, settings (-first +second):\n%s", ok, diff)
			}
			if again := runs(t, goRoot) == 2; again != tt.asks {
				t.Errorf("go ran again: %v", again)
			}
		})
	}
}

// TestSettingsThatAreNotKept gets settings that must not outlive the call.
func TestSettingsThatAreNotKept(t *testing.T) {
	t.Run("the go command fails", func(t *testing.T) {
		s, goRoot := fakeGo(t)
		write(t, filepath.Join(goRoot, "broken"), "")
		if is, ok := s.get(t.Context()); ok {
			t.Errorf("%v", is)
		}
		if err := os.Remove(filepath.Join(goRoot, "broken")); err != nil {
			t.Fatal(err)
		}
		if _, ok := s.get(t.Context()); !ok {
			t.Error("the error was kept")
		}
	})
	t.Run("go is a script outside GOROOT", func(t *testing.T) {
		s, goRoot := fakeGo(t)
		outside := t.TempDir()
		if err := os.Rename(filepath.Join(goRoot, "bin", "go"), filepath.Join(outside, "go")); err != nil {
			t.Fatal(err)
		}
		s.env = append(s.env, "PATH="+outside+":/usr/bin:/bin")
		for range 2 {
			if _, ok := s.get(t.Context()); !ok {
				t.Fatal("no settings")
			}
		}
		if n := runs(t, goRoot); n != 2 {
			t.Errorf("go ran %d times", n)
		}
	})
	t.Run("no go command", func(t *testing.T) {
		s, _ := fakeGo(t)
		s.env = append(s.env, "PATH="+t.TempDir())
		if is, ok := s.get(t.Context()); ok {
			t.Errorf("%v", is)
		}
	})
}

// TestPrefetch reads settings in the background, once, and only for the module that they are for.
func TestPrefetch(t *testing.T) {
	s, goRoot := fakeGo(t)
	ctx, stop := Prefetch(t.Context(), s.dir, s.env, nil)
	defer stop()
	again, stopNothing := Prefetch(ctx, s.dir, s.env, nil)
	stopNothing()
	if again != ctx {
		t.Error("the same settings are read twice")
	}
	for range 3 {
		if is, ok := s.get(ctx); !ok || is["GOFLAGS"] != "-v" {
			t.Fatalf("%v, %v", is, ok)
		}
	}
	if n := runs(t, goRoot); n != 1 {
		t.Errorf("go ran %d times", n)
	}
	write(t, filepath.Join(goRoot, "flags"), "-race")
	s.dir = t.TempDir()
	if is, ok := s.get(ctx); !ok || is["GOFLAGS"] != "-race" {
		t.Errorf("settings of another module: %v, %v", is, ok)
	}
}

// TestPrefetchStops expects that nothing of the go command is left after the end.
func TestPrefetchStops(t *testing.T) {
	s, goRoot := fakeGo(t)
	started := filepath.Join(goRoot, "started")
	write(t, filepath.Join(goRoot, "bin", "go"), "#!/bin/sh\necho $$ >"+started+".new\nmv "+started+".new "+started+"\nexec sleep 600\n")
	_, stop := Prefetch(t.Context(), s.dir, s.env, s.store)
	var text []byte
	for deadline := time.Now().Add(time.Minute); len(text) == 0; time.Sleep(time.Millisecond) {
		if text, _ = os.ReadFile(started); time.Now().After(deadline) {
			t.Fatal("the go command does not start")
		}
	}
	stop()
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Errorf("process %d still runs", pid)
	}
}
