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
	// Already says that it ran before, and maybe with other options: this process
	// has no part in it.
	Already bool

	home     *Home
	keeper   *exec.Cmd
	orders   io.WriteCloser
	messages <-chan message // closed when the keeper has ended
	note     func(string)
}

// Start starts a control plane and returns when it can be used. keeper is the
// command line that calls Keep, with a command line's own streams; it runs in a
// session of its own, with the environment env. note gets news for a person.
//
// Until Detach is called the control plane depends on this process: it ends when
// this process does, however that comes. One of that name which runs already is
// returned as it is.
func (h *Home) Start(ctx context.Context, o Options, keeper, env []string, note func(string)) (*Session, error) {
	for ctx.Err() == nil {
		now, ok := h.look(o.Name)
		switch {
		case ok && now.Phase == Running:
			return &Session{State: now, Already: true}, nil
		case ok && now.Phase == Starting:
			// Another process starts it, or it ends.
			select {
			case <-time.After(poll):
			case <-ctx.Done():
			}
			continue
		}
		s := &Session{home: h, note: note}
		if err := s.launch(o, keeper, env); err != nil {
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

// Unmet says what a control plane has that the options do not ask for, or "".
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

// launch starts the keeper and gives it its options.
func (s *Session) launch(o Options, keeper, env []string) error {
	order, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.home.dir, 0o700); err != nil {
		return &fault.Error{Code: fault.CodeFailed, Err: err, Hint: "make " + s.home.dir + " a folder that you can write to"}
	}
	s.keeper = exec.Command(keeper[0], keeper[1:]...)
	s.keeper.Env = env
	s.keeper.Dir = s.home.dir // it may outlive the folder that the user works in
	process.Detach(s.keeper)
	if s.orders, err = s.keeper.StdinPipe(); err != nil {
		return err
	}
	out, err := s.keeper.StdoutPipe()
	if err != nil {
		return err
	}
	s.State.Options = o
	if err := s.keeper.Start(); err != nil {
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
	_, err = s.orders.Write(append(order, '\n'))
	return err
}

// await waits until the keeper is ready. busy says that another one has the name.
func (s *Session) await(ctx context.Context) (busy bool, err error) {
	for {
		m, err := s.next(ctx)
		switch {
		case err != nil:
			return false, err
		case m.Busy:
			return true, s.keeper.Wait()
		case m.Ready != nil:
			s.State = *m.Ready
			return false, nil
		}
	}
}

// Wait returns when the control plane has ended: nil when somebody stopped it,
// the context's cause after ctx ended and it with ctx, or why it ended by itself.
func (s *Session) Wait(ctx context.Context) error {
	for {
		if _, err := s.next(ctx); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Detach lets the control plane go on when this process has ended.
func (s *Session) Detach() error {
	_, err := io.WriteString(s.orders, detachOrder)
	return fault.In("control plane", errors.Join(err, s.orders.Close()))
}

// next returns the keeper's next message that is for this package. With an error
// the control plane is gone: io.EOF says that somebody stopped it.
func (s *Session) next(ctx context.Context) (message, error) {
	for {
		select {
		case m, ok := <-s.messages:
			switch {
			case !ok:
				return m, s.ended()
			case m.Error != nil:
				_ = s.keeper.Wait() // it has told why it ends
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

// ended tells how a keeper ended that gave no reason.
func (s *Session) ended() error {
	err := s.keeper.Wait()
	if err == nil {
		return io.EOF
	}
	name := s.State.Name
	return errors.Join(fault.Failed("", "the keeper of control plane %q ended: %v", name, err), s.home.sweep(name))
}

// abandon has the keeper end everything, and waits for it.
func (s *Session) abandon() error {
	_ = s.orders.Close()
	timeout := time.AfterFunc(stopTimeout, func() { _ = s.keeper.Process.Kill() })
	defer timeout.Stop()
	for m := range s.messages {
		if m.Note != "" {
			s.note(m.Note)
		}
	}
	if s.keeper.Wait() == nil {
		return nil
	}
	return s.home.sweep(s.State.Name)
}
