package external

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/process"
)

// maxLine limits a line of an answer.
const maxLine = 64 << 20

// endWithin is how long a program may take to end after its last answer.
const endWithin = 5 * time.Second

// session is the process of a plugin for operon: it gets lines and prints one line for each.
type session struct {
	program Program
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	kill    func()
	ended   chan error // the result of the process
}

// start starts the program.
func (p Program) start(ctx context.Context) (*session, error) {
	if err := p.allow(ctx); err != nil {
		return nil, err
	}
	running, kill := context.WithCancel(context.WithoutCancel(ctx)) // end decides when it stops
	cmd := p.command(running)
	out, in := io.Pipe()
	cmd.Stdout = in
	stdin, err := cmd.StdinPipe()
	if err != nil {
		kill()
		return nil, err
	}
	wait, err := process.Start(cmd)
	if err != nil {
		kill()
		return nil, p.explain(err)
	}
	s := &session{program: p, stdin: stdin, stdout: bufio.NewReader(out), kill: kill, ended: make(chan error, 1)}
	go func() {
		err := wait()
		_ = in.Close()
		s.ended <- err
	}()
	return s, nil
}

// ask sends a line and returns the line of the answer.
func (s *session) ask(ctx context.Context, line []byte) ([]byte, error) {
	type result struct {
		line []byte
		err  error
	}
	answered := make(chan result, 1)
	go func() {
		_, _ = s.stdin.Write(line) // if the program does not read, it does not answer either
		text, err := s.readLine()
		answered <- result{text, err}
	}()
	limit := time.NewTimer(s.program.Limit)
	defer limit.Stop()
	select {
	case r := <-answered:
		if errors.Is(r.err, io.EOF) {
			return nil, s.silent()
		}
		return r.line, r.err
	case <-limit.C:
		s.kill()
		return nil, s.program.timeout()
	case <-ctx.Done():
		s.kill()
		return nil, ctx.Err()
	}
}

// readLine reads the next line that is not blank.
func (s *session) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := s.stdout.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			s.kill()
			return nil, fault.Failed("", "the plugin %s %v", s.program.Key(), process.ErrTooMuchOutput)
		case errors.Is(err, bufio.ErrBufferFull):
		case len(bytes.TrimSpace(line)) > 0:
			return line, nil
		case err != nil:
			return nil, io.EOF
		}
	}
}

// silent returns the error of a program that ended without an answer.
func (s *session) silent() error {
	err := <-s.ended
	s.ended <- nil
	if err != nil {
		return s.program.explain(err)
	}
	return fault.Failed("it must print one line of JSON for each line of its input", "the plugin %s ended without an answer", s.program.Key())
}

// end tells the program that no event follows, and waits for it.
func (s *session) end() error {
	defer s.kill()
	_ = s.stdin.Close()
	rest := make(chan []byte, 1)
	go func() {
		line, _ := s.readLine()
		rest <- line
		_, _ = io.Copy(io.Discard, s.stdout)
	}()
	limit := time.NewTimer(endWithin)
	defer limit.Stop()
	select {
	case err := <-s.ended:
		if err != nil {
			return s.program.explain(err)
		}
	case <-limit.C:
		s.kill()
		<-s.ended
		return fault.Failed("it must end when its input ends", "the plugin %s did not end", s.program.Key())
	}
	if more := <-rest; len(more) > 0 {
		return fault.Failed("it must print one line of JSON for each line of its input", "the plugin %s gave more than one answer", s.program.Key())
	}
	return nil
}
