package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/process"
)

// Session is a control plane that this process started.
type Session struct {
	State State
	// Already reports that the control plane was running before, possibly with other
	// options. Then the other methods must not be called.
	Already bool

	home       *Home
	supervisor *exec.Cmd
	commands   io.WriteCloser
	messages   <-chan message // closed when the supervisor has ended
	note       func(string)
}

// Start starts a control plane and returns when it is ready. If one of that name is
// running, Start returns that one. supervisor is the command line that calls Keep with
// its own stdin and stdout; it runs in its own session, with the environment env. note
// prints progress.
//
// Until Detach is called, the control plane ends when this process ends for any reason.
func (h *Home) Start(ctx context.Context, o Options, supervisor, env []string, note func(string)) (*Session, error) {
	for ctx.Err() == nil {
		now, ok := h.state(o.Name)
		switch {
		case ok && now.Phase == Running:
			return &Session{State: now, Already: true}, nil
		case ok && now.Phase == Starting:
			// Another process starts it, or it is ending.
			select {
			case <-time.After(poll):
			case <-ctx.Done():
			}
			continue
		}
		s := &Session{home: h, note: note}
		if err := s.launch(o, supervisor, env); err != nil {
			return nil, fault.In("control plane", err)
		}
		busy, err := s.await(ctx)
		if err != nil {
			return nil, err
		}
		if !busy {
			return s, nil
		}
	}
	return nil, context.Cause(ctx)
}

// Unmet describes how a control plane differs from the options, or returns "".
func (o Options) Unmet(s State) string {
	switch {
	case o.Controllers && !s.Controllers:
		return "without " + controllerProgram
	case s.Controllers && !o.Controllers:
		return "with " + controllerProgram
	case o.Port != 0 && o.Port != s.Port:
		return fmt.Sprintf("on port %d", s.Port)
	case o.Assets != s.Assets:
		return "with the programs in " + s.Assets
	}
	return ""
}

// launch starts the supervisor and sends it the options.
func (s *Session) launch(o Options, supervisor, env []string) error {
	order, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.home.dir, 0o700); err != nil {
		return &fault.Error{Code: fault.CodeFailed, Err: err, Hint: "make sure that you can write to the folder " + s.home.dir}
	}
	s.supervisor = exec.Command(supervisor[0], supervisor[1:]...)
	s.supervisor.Env = env
	s.supervisor.Dir = s.home.dir // it may outlive the working folder
	process.Detach(s.supervisor)
	if s.commands, err = s.supervisor.StdinPipe(); err != nil {
		return err
	}
	out, err := s.supervisor.StdoutPipe()
	if err != nil {
		return err
	}
	s.State.Options = o
	if err := s.supervisor.Start(); err != nil {
		return err
	}
	messages := make(chan message)
	s.messages = messages
	go func() {
		defer close(messages)
		for reports := json.NewDecoder(out); ; {
			var m message
			if reports.Decode(&m) != nil {
				return
			}
			messages <- m
		}
	}()
	_, err = s.commands.Write(append(order, '\n'))
	return err
}

// await waits until the control plane is ready. busy reports that another supervisor
// uses the name.
func (s *Session) await(ctx context.Context) (busy bool, err error) {
	for {
		m, err := s.next(ctx)
		switch {
		case err != nil:
			return false, err
		case m.Busy:
			return true, s.supervisor.Wait()
		case m.Ready != nil:
			s.State = *m.Ready
			return false, nil
		}
	}
}

// Wait returns when the control plane has ended: nil if it was stopped, the cause of ctx
// if ctx ended, or the reason why it failed.
func (s *Session) Wait(ctx context.Context) error {
	for {
		if _, err := s.next(ctx); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Detach keeps the control plane running when this process ends.
func (s *Session) Detach() error {
	_, err := io.WriteString(s.commands, detachCommand)
	return fault.In("control plane", errors.Join(err, s.commands.Close()))
}

// next prints notes and returns the next other message of the supervisor. After an error
// the control plane has ended; io.EOF reports that it was stopped.
func (s *Session) next(ctx context.Context) (message, error) {
	for {
		select {
		case m, ok := <-s.messages:
			switch {
			case !ok:
				return m, s.ended()
			case m.Error != nil:
				_ = s.supervisor.Wait() // the message has the reason
				return m, &fault.Error{Code: m.Error.Code, Msg: m.Error.Msg, Hint: m.Error.Hint}
			case m.Note == "":
				return m, nil
			}
			s.note(m.Note)
		case <-ctx.Done():
			if err := s.abandon(); err != nil {
				return message{}, err
			}
			return message{}, context.Cause(ctx)
		}
	}
}

// ended returns why a supervisor ended without a message.
func (s *Session) ended() error {
	err := s.supervisor.Wait()
	if err == nil {
		return io.EOF
	}
	name := s.State.Name
	return errors.Join(fault.Failed("start the control plane again", "the supervisor of control plane %q ended: %v", name, err), s.home.removeLeftovers(name, s.supervisor.Process.Pid))
}

// abandon makes the supervisor end the control plane, and waits for it.
func (s *Session) abandon() error {
	_ = s.commands.Close()
	timeout := time.AfterFunc(stopTimeout, func() { _ = s.supervisor.Process.Kill() })
	defer timeout.Stop()
	for m := range s.messages {
		if m.Note != "" {
			s.note(m.Note)
		}
	}
	if s.supervisor.Wait() == nil {
		return nil
	}
	return s.home.removeLeftovers(s.State.Name, s.supervisor.Process.Pid)
}
