package controlplane

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
)

// message is what the keeper tells the process that started it, as a line of
// JSON. One of the fields is set.
type message struct {
	Note  string   `json:"note,omitempty"`  // progress, for a person
	Busy  bool     `json:"busy,omitempty"`  // another keeper has the name
	Ready *State   `json:"ready,omitempty"` // the control plane can be used
	Error *failure `json:"error,omitempty"` // it ended, and why
}

// failure is a fault.Error on its way to another process.
type failure struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Hint string `json:"hint,omitempty"`
}

// detachOrder is the line after which the keeper no longer depends on the
// process that started it.
const detachOrder = "detach\n"

// errAbandoned is why a keeper ends whose starter is gone.
var errAbandoned = errors.New("the process that started the control plane ended")

// keeper runs one control plane.
type keeper struct {
	Options
	home     *Home
	env      []string
	tell     func(message)
	detached atomic.Bool
}

// Keep is the keeper. It reads its Options from in, as a line of JSON, starts
// the control plane and reports to out. It ends, with all programs, when ctx
// does, when a program ends again and again, and when in ends before it said
// that the keeper is to go on by itself: the system closes it when the process
// at its other end dies in any way. The programs get the environment env.
func (h *Home) Keep(ctx context.Context, in io.Reader, out io.Writer, env []string) error {
	orders := bufio.NewReader(in)
	line, err := orders.ReadBytes('\n')
	if err != nil {
		return errAbandoned
	}
	// News for a starter that is gone must not end the keeper. (Unlike a handler,
	// signal.Ignore would reach the programs.)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	var mu sync.Mutex
	k := &keeper{home: h, env: environment(env), tell: func(m message) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(out).Encode(m)
	}}
	if err := json.Unmarshal(line, &k.Options); err != nil {
		return err
	}
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	go func() {
		if line, _ := orders.ReadString('\n'); line == detachOrder {
			k.detached.Store(true)
			return
		}
		abandon(errAbandoned)
	}()
	if err := k.advise(k.keep(ctx)); err != nil {
		k.tell(message{Error: &failure{fault.Code(err), err.Error(), fault.HintOf(err)}})
		return err
	}
	return nil
}

// advise says what to do about a full disk, whoever met it.
func (k *keeper) advise(err error) error {
	if err == nil || fault.HintOf(err) != "" || !assets.DiskFull(err.Error()) {
		return err
	}
	return &fault.Error{Code: fault.Code(err), Err: err, Hint: "make room on the disk that holds " + k.home.dir}
}

// keep holds the lock of the name from beginning to end.
func (k *keeper) keep(ctx context.Context) error {
	unlock, err := k.home.acquire(k.Name)
	if err != nil {
		return err
	}
	if unlock == nil {
		k.tell(message{Busy: true})
		return nil
	}
	defer unlock()
	const tries = 5
	for try := 1; ; try++ {
		err := k.run(ctx)
		if !errors.Is(err, errPortTaken) || k.Port != 0 || try == tries {
			return err
		}
	}
}

// run runs the control plane once, from an empty folder, and removes it again:
// all but what tells why one failed that nobody watched.
func (k *keeper) run(outer context.Context) (err error) {
	dir := k.home.folder(k.Name)
	if err := wipe(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fault.In("control plane", err)
	}
	state := State{
		Options: k.Options, Phase: Starting, PID: os.Getpid(), Since: time.Now().Truncate(time.Second),
		Kubeconfig: filepath.Join(dir, kubeconfigFile),
	}
	ctx, end := context.WithCancelCause(outer)
	c := &crew{dir: dir, env: k.env, options: k.Options, end: end, note: func(line string) { k.note(dir, line) }}
	defer func() {
		end(nil)
		c.wait()
		if errors.Is(err, errLost) {
			return // what is there now is somebody else's
		}
		if err != nil && k.detached.Load() {
			state.Phase, state.Message = Failed, err.Error()
			err = errors.Join(err, k.home.write(state))
			return
		}
		err = errors.Join(err, fault.In("control plane", os.RemoveAll(dir)))
	}()
	err = k.start(ctx, c, &state)
	if err == nil {
		k.tell(message{Ready: &state})
		err = k.upkeep(ctx)
	}
	switch {
	case errors.Is(err, errLost):
		return err
	case outer.Err() != nil && err != nil:
		return fault.Failed("", "control plane %q was stopped before it was ready", k.Name)
	case outer.Err() != nil:
		return nil
	case ctx.Err() != nil: // a program ended
		return context.Cause(ctx)
	}
	return err
}

// note tells a person, and whoever looks later, what happened.
func (k *keeper) note(dir, line string) {
	k.tell(message{Note: line})
	f, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return // the programs matter more
	}
	defer func() { _ = f.Close() }()
	_, _ = fmt.Fprintf(f, "%s %s\n", time.Now().Format(time.RFC3339), line)
}

// start returns when the control plane can be used; state then is complete.
func (k *keeper) start(ctx context.Context, c *crew, state *State) error {
	if err := k.home.write(*state); err != nil {
		return fault.In("control plane", err)
	}
	port := k.Port
	if port == 0 {
		free, err := choosePort()
		if err != nil {
			return err
		}
		port = free
	}
	if err := checkPort(port); err != nil {
		return err
	}
	creds, err := newCredentials()
	if err != nil {
		return err
	}
	for name, content := range creds.files(k.Options, port) {
		if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
			return fault.In("control plane", err)
		}
	}
	// The API server waits for etcd, and both for the processor: together they
	// are ready soonest.
	c.add(ctx, etcd(c.dir))
	c.add(ctx, apiServer(c.dir, k.Options, port))
	server := newClient(creds, port)
	// It makes the namespaces of the system beside getting ready.
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
		if err := server.until(ctx, path); err != nil {
			return fault.In(serverProgram, err)
		}
	}
	if k.Controllers {
		c.add(ctx, controllerManager(c.dir))
		// The first thing that its controllers do for a user.
		if err := server.until(ctx, "/api/v1/namespaces/default/serviceaccounts/default"); err != nil {
			return fault.In(controllerProgram, err)
		}
	}
	if state.Version, err = server.version(ctx); err != nil {
		return fault.In(serverProgram, err)
	}
	c.ready.Store(true)
	state.Phase, state.Port, state.URL = Running, port, serverURL(port)
	return fault.In("control plane", k.home.write(*state))
}
