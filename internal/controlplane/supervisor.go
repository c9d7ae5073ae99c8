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

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gobuild"
)

// message is what the supervisor reports to the process that started it, as a line
// of JSON. One of the fields is set.
type message struct {
	Note  string   `json:"note,omitempty"`  // progress, for a person
	Busy  bool     `json:"busy,omitempty"`  // another supervisor uses the name
	Ready *State   `json:"ready,omitempty"` // the control plane is ready
	Error *failure `json:"error,omitempty"` // why the control plane ended
}

// failure is a fault.Error in a message.
type failure struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Hint string `json:"hint,omitempty"`
}

// detachCommand is the line that tells the supervisor to keep running when the process
// that started it ends.
const detachCommand = "detach\n"

// errStarterGone ends a supervisor that is not detached when its starter has ended.
var errStarterGone = errors.New("the process that started the control plane ended")

// supervisor runs one control plane.
type supervisor struct {
	Options
	home     *Home
	env      []string
	send     func(message)
	detached atomic.Bool
}

// Keep is the supervisor process. It reads its Options from in, as a line of JSON,
// starts the control plane and writes messages to out. It ends with all its programs
// when ctx ends, when a program exits too often, or when in ends without
// detachCommand: the system closes in when the starting process dies. env is the
// environment of the programs.
func (h *Home) Keep(ctx context.Context, in io.Reader, out io.Writer, env []string) error {
	commands := bufio.NewReader(in)
	line, err := commands.ReadBytes('\n')
	if err != nil {
		return errStarterGone
	}
	// A message to a starter that has ended must not end the supervisor. (The programs
	// would inherit signal.Ignore, but not a handler.)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	var mu sync.Mutex
	k := &supervisor{home: h, env: environment(env), send: func(m message) {
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
		if line, _ := commands.ReadString('\n'); line == detachCommand {
			k.detached.Store(true)
			return
		}
		abandon(errStarterGone)
	}()
	if err := k.withDiskHint(k.supervise(ctx)); err != nil {
		k.send(message{Error: &failure{fault.Code(err), err.Error(), fault.HintOf(err)}})
		return err
	}
	return nil
}

// withDiskHint adds a hint to an error that a full disk caused.
func (k *supervisor) withDiskHint(err error) error {
	if err == nil || fault.HintOf(err) != "" || !gobuild.DiskFull(err.Error()) {
		return err
	}
	return &fault.Error{Code: fault.Code(err), Err: err, Hint: "free space on the disk that holds " + k.home.dir}
}

// supervise runs the control plane while it holds the lock of the name.
func (k *supervisor) supervise(ctx context.Context) error {
	unlock, ok, err := k.home.acquire(k.Name)
	if err != nil {
		return err
	}
	if !ok {
		k.send(message{Busy: true})
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

// run runs the control plane once in an empty folder, and then removes the folder. A
// detached control plane that failed keeps its folder, which has the reason.
func (k *supervisor) run(outer context.Context) (err error) {
	dir := k.home.folder(k.Name)
	if err := removeFolder(dir); err != nil {
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
	c := &processes{dir: dir, env: k.env, options: k.Options, end: end, note: func(line string) { k.note(dir, line) }}
	defer func() {
		end(nil)
		c.wait()
		if errors.Is(err, errFolderRemoved) {
			return // another supervisor may own the folder now
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
		k.send(message{Ready: &state})
		err = k.maintain(ctx)
	}
	switch {
	case errors.Is(err, errFolderRemoved):
		return err
	case outer.Err() != nil && err != nil:
		return fault.Failed("start it again", "control plane %q was stopped before it was ready", k.Name)
	case outer.Err() != nil:
		return nil
	case ctx.Err() != nil: // a program ended
		return context.Cause(ctx)
	}
	return err
}

// note reports a line to the starter and appends it to the log.
func (k *supervisor) note(dir, line string) {
	k.send(message{Note: line})
	f, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return // a log that cannot be written must not end the programs
	}
	defer func() { _ = f.Close() }()
	_, _ = fmt.Fprintf(f, "%s %s\n", time.Now().Format(time.RFC3339), line)
}

// start returns when the control plane is ready, and completes state.
func (k *supervisor) start(ctx context.Context, c *processes, state *State) error {
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
	// The API server waits for etcd itself. Starting both at once takes the least time.
	c.add(ctx, etcd(c.dir))
	c.add(ctx, apiServer(c.dir, k.Options, port))
	server := newClient(creds, port)
	// The API server creates the system namespaces independently of its readiness.
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
		if err := server.until(ctx, path); err != nil {
			return fault.In(serverProgram, err)
		}
	}
	if k.Controllers {
		c.add(ctx, controllerManager(c.dir))
		// The controllers create this before anything that a user notices.
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
