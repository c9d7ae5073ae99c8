package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/controlplane/assets"
)

// TestMain makes this binary act, under other names, as the supervisor and as the programs
// that a supervisor starts.
func TestMain(m *testing.M) {
	switch name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); name {
	case "supervisor":
		os.Exit(fakeSupervisor())
	case etcdProgram, serverProgram, controllerProgram:
		os.Exit(fakeProgram(name))
	}
	os.Exit(m.Run())
}

// fakeSupervisor does what `operon envtest keep` does.
func fakeSupervisor() int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	home, err := Open(os.Getenv)
	if err == nil {
		err = home.Keep(ctx, os.Stdin, os.Stdout, os.Environ())
	}
	if err != nil {
		return 1
	}
	return 0
}

// fakeProgram behaves as FAKE_<name> defines:
//
//	""         run until interrupted
//	deaf       run and ignore the interrupt
//	die        print a message and exit
//	die-once   the same, but run the second time
//	die-ready  exit as soon as the control plane is ready
//	loiter     never become ready
//	bare       have no ServiceAccount
func fakeProgram(name string) int {
	mode, mark := os.Getenv("FAKE_"+name), filepath.Join(os.Getenv("FAKE_DIR"), name+".died")
	_, err := os.Stat(mark)
	switch {
	case mode == "deaf":
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	case mode == "die", mode == "die-once" && err != nil:
		fmt.Println("first word\n\n" + os.Getenv("FAKE_WORDS"))
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			return 2
		}
		return 3
	case mode == "die-ready":
		if name == serverProgram {
			go fakeServer()
		}
		for {
			if data, _ := os.ReadFile(stateFile); strings.Contains(string(data), string(Running)) {
				fmt.Println("enough" + os.Getenv("FAKE_WORDS"))
				return 4
			}
			time.Sleep(poll)
		}
	}
	if name == serverProgram && mode != "loiter" {
		go fakeServer()
	}
	time.Sleep(2 * time.Minute) // should a test forget it
	return 9
}

// fakeServer answers the supervisor's requests to an API server.
func fakeServer() {
	flags := map[string]string{}
	for _, arg := range os.Args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		flags[name] = value
	}
	http.HandleFunc("/version", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"gitVersion": "v1.2.3"}`)
	})
	if os.Getenv("FAKE_"+serverProgram) == "bare" {
		http.Handle("/api/v1/namespaces/default/serviceaccounts/default", http.NotFoundHandler())
	}
	http.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
			panic("no token")
		}
	})
	err := http.ListenAndServeTLS(flags["--bind-address"]+":"+flags["--secure-port"], flags["--tls-cert-file"], flags["--tls-private-key-file"], nil)
	fmt.Println(err)
	os.Exit(5)
}

// world is a separate Home, whose control planes consist of fakes.
type world struct {
	*testing.T
	home       *Home
	env        []string
	options    Options
	supervisor []string
	news       []string
}

// newWorld returns a world whose programs get the given variables.
func newWorld(t *testing.T, env ...string) *world {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	must(t, err)
	for _, name := range []string{"supervisor", etcdProgram, serverProgram, controllerProgram} {
		at := assets.Program(dir, name)
		if runtime.GOOS == "windows" {
			must(t, os.Link(self, at))
		} else {
			must(t, os.Symlink(self, at))
		}
	}
	w := &world{
		T:          t,
		options:    Options{Name: DefaultName, Assets: dir},
		supervisor: []string{assets.Program(dir, "supervisor")},
	}
	w.env = append(os.Environ(), append(env, "FAKE_DIR="+t.TempDir(), "XDG_STATE_HOME="+dir, "HOME="+dir, "LocalAppData="+dir)...)
	w.home, err = Open(func(string) string { return dir })
	must(t, err)
	t.Cleanup(func() {
		if _, _, err := w.home.Stop(context.Background(), w.options.Name); err != nil {
			t.Error(err)
		}
	})
	return w
}

// start starts the control plane.
func (w *world) start() (*Session, error) {
	w.Helper()
	return w.home.Start(w.Context(), w.options, w.supervisor, w.env, func(line string) { w.news = append(w.news, line) })
}

// gone checks that nothing is left of the control plane.
func (w *world) gone() {
	w.Helper()
	entries, err := os.ReadDir(w.home.dir)
	must(w.T, err)
	for _, e := range entries {
		w.Errorf("left behind: %s", e.Name())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
