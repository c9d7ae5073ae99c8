package external

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/process"
)

// maxLine limits a line of output.
const maxLine = 64 << 20

// endWithin is how long a program may take to end after its last response.
const endWithin = 5 * time.Second

// session is the process of a plugin for operon: it gets lines and prints one line for each.
type session struct {
	program Program
	stdin   io.WriteCloser
	lines   <-chan line // of stdout; closed after the process has ended
	kill    func()
	ended   chan struct{} // closed when the process has ended
	err     error         // the result of the process, once it has ended
}

// line is a line of output, or the reason why there are no more.
type line struct {
	text []byte
	err  error
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
	lines := make(chan line)
	go readLines(out, lines)
	s := &session{program: p, stdin: stdin, lines: lines, kill: kill, ended: make(chan struct{})}
	go func() {
		s.err = wait()
		close(s.ended)
		_ = in.Close()
	}()
	return s, nil
}

// readLines sends the lines that are not blank, until the output ends.
func readLines(out io.Reader, lines chan<- line) {
	defer close(lines)
	reader := bufio.NewReaderSize(out, 64<<10)
	for {
		text, err := readLine(reader)
		if errors.Is(err, process.ErrTooMuchOutput) {
			lines <- line{err: err}
			_, _ = io.Copy(io.Discard, out)
			return
		}
		if len(bytes.TrimSpace(text)) > 0 {
			lines <- line{text: text}
		}
		if err != nil {
			return
		}
	}
}

// readLine returns the next line. It looks at each byte once: bufio.Scanner searches a long line from its
// start after each read, which takes seconds.
func readLine(r *bufio.Reader) (text []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxLine:
			return nil, process.ErrTooMuchOutput
		case !errors.Is(err, bufio.ErrBufferFull):
			return text, err
		}
	}
}

// request sends a line and returns the line of the response.
func (s *session) request(ctx context.Context, text []byte) ([]byte, error) {
	go func() { _, _ = s.stdin.Write(text) }() // if the program does not read, it does not respond either
	limit := time.NewTimer(s.program.Limit)
	defer limit.Stop()
	select {
	case l, ok := <-s.lines:
		switch {
		case !ok:
			return nil, s.silent()
		case l.err != nil:
			s.kill()
			return nil, s.program.tooMuch(l.err)
		}
		return l.text, nil
	case <-limit.C:
		s.kill()
		return nil, s.program.timeout()
	case <-ctx.Done():
		s.kill()
		return nil, ctx.Err()
	}
}

// oneLine is the rule of the protocol that programs break most easily.
const oneLine = "it must print one line of JSON for each line of its input"

// silent returns the error of a program that ended without a response.
func (s *session) silent() error {
	<-s.ended
	if s.err != nil {
		return s.program.explain(s.err)
	}
	return fault.Failed(oneLine, "the plugin %s ended without a response", s.program.Key())
}

// end tells the program that no event follows, and waits for it.
func (s *session) end() error {
	defer s.kill()
	_ = s.stdin.Close()
	limit := time.AfterFunc(endWithin, s.kill)
	more := false
	for range s.lines {
		more = true
		s.kill() // it may print without end
	}
	<-s.ended
	switch {
	case !limit.Stop():
		return fault.Failed("it must end when its input ends", "the plugin %s did not end", s.program.Key())
	case more:
		return fault.Failed(oneLine, "the plugin %s printed more than one response", s.program.Key())
	case s.err != nil && !errors.Is(s.err, exec.ErrWaitDelay): // the responses of a program whose child goes on arrived
		return s.program.explain(s.err)
	}
	return nil
}
