package term

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/AlecAivazis/survey/v2/core"
)

// ErrInterrupted is returned when the user answers a question with Ctrl-C, or with Ctrl-D in plain lines. In survey,
// Ctrl-D is like the enter key.
var ErrInterrupted = errors.New("interrupted")

// Prompt asks questions on a terminal: with survey, or as plain lines if the terminal does not say where its cursor is,
// because survey would wait for that.
type Prompt struct {
	asker func() asker
}

// asker asks questions in one of the ways.
type asker interface {
	Confirm(ctx context.Context, question string, preset bool) (bool, error)
	Input(ctx context.Context, question, preset string, valid func(string) error) (string, error)
	Select(ctx context.Context, question string, choices []string, preset string) (string, error)
	MultiSelect(ctx context.Context, question string, choices []string) ([]string, error)
}

// tty is the terminal.
type tty struct {
	in  *keyboard
	out *os.File
}

// keyboard reads what the user types. It returns first what was typed before the first question.
type keyboard struct {
	*os.File
	ahead []byte
}

// Read implements io.Reader.
func (k *keyboard) Read(p []byte) (int, error) {
	if len(k.ahead) > 0 {
		n := copy(p, k.ahead)
		k.ahead = k.ahead[n:]
		return n, nil
	}
	return k.File.Read(p)
}

// cursorWithin is how long a terminal has to report its cursor. Remote ones need some time.
const cursorWithin = 300 * time.Millisecond

// NewPrompt returns a Prompt, or nil if in or out is not a terminal. out is stderr in practice, so that
// stdout has only the result.
func NewPrompt(in io.Reader, out io.Writer, env func(string) string) *Prompt {
	if !IsTerminal(in) || !IsTerminal(out) {
		return nil
	}
	t := tty{&keyboard{File: fileOf(in)}, fileOf(out)}
	return &Prompt{sync.OnceValue(func() asker {
		if env("TERM") != "dumb" && t.reportsCursor(cursorWithin) {
			core.DisableColor = core.DisableColor || !Colour(t.out, env)
			return surveys{t}
		}
		return newLines(t)
	})}
}

// Confirm asks a yes-or-no question.
func (p *Prompt) Confirm(ctx context.Context, question string, preset bool) (bool, error) {
	return p.asker().Confirm(ctx, question, preset)
}

// Input asks for a line of text until valid accepts it.
func (p *Prompt) Input(ctx context.Context, question, preset string, valid func(string) error) (string, error) {
	return p.asker().Input(ctx, question, preset, valid)
}

// Select asks for one of several texts.
func (p *Prompt) Select(ctx context.Context, question string, choices []string, preset string) (string, error) {
	return p.asker().Select(ctx, question, choices, preset)
}

// MultiSelect asks for some of several texts.
func (p *Prompt) MultiSelect(ctx context.Context, question string, choices []string) ([]string, error) {
	return p.asker().MultiSelect(ctx, question, choices)
}

// until returns the result of a function, or the cause of the end of ctx. The function then goes on until the process
// ends: reading a terminal cannot be stopped.
func until[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		value, err := f()
		results <- result{value, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
