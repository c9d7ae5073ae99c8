package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrInterrupted is returned when the user answers a question with Ctrl-C or Ctrl-D.
var ErrInterrupted = errors.New("interrupted")

// Prompt asks questions on a terminal. It never asks the terminal itself, because some, such as those of
// editors and of CI systems, do not answer.
type Prompt struct {
	in, out *os.File
	lines   *term.Terminal // for all questions: it keeps what the user types ahead
}

// NewPrompt returns a Prompt, or nil if in or out is not a terminal. out is stderr in practice, so that
// stdout has only the result.
func NewPrompt(in io.Reader, out io.Writer) *Prompt {
	if !IsTerminal(in) || !IsTerminal(out) {
		return nil
	}
	p := &Prompt{in: fileOf(in), out: fileOf(out)}
	p.lines = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{p.in, p.out}, "")
	return p
}

// Confirm asks a yes-or-no question.
func (p *Prompt) Confirm(ctx context.Context, question string, preset bool) (bool, error) {
	choice := " (y/N) "
	if preset {
		choice = " (Y/n) "
	}
	for {
		answer, err := p.ask(ctx, question+choice)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "":
			return preset, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		p.reject("answer y or n")
	}
}

// Input asks for a line of text until valid accepts it.
func (p *Prompt) Input(ctx context.Context, question, preset string, valid func(string) error) (string, error) {
	if preset != "" {
		question += " (" + preset + ")"
	}
	for {
		answer, err := p.ask(ctx, question+" ")
		if err != nil {
			return "", err
		}
		if answer == "" {
			answer = preset
		}
		if err = valid(answer); err == nil {
			return answer, nil
		}
		p.reject(err.Error())
	}
}

// reject says why the question is asked again.
func (p *Prompt) reject(reason string) {
	_, _ = fmt.Fprintln(p.out, reason) // if the terminal is gone, the next question fails
}

// ask waits for a line or for the end of ctx. Then it restores the terminal, which is in raw mode while the
// user edits the line.
func (p *Prompt) ask(ctx context.Context, question string) (string, error) {
	if width, height, err := term.GetSize(int(p.out.Fd())); err == nil && width > 0 && height > 0 {
		_ = p.lines.SetSize(width, height) // a wrong size only affects long lines
	}
	before, err := term.MakeRaw(int(p.in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(p.in.Fd()), before) }()
	p.lines.SetPrompt(question)
	var line string
	answered := make(chan error, 1)
	go func() {
		read, err := p.lines.ReadLine()
		line = read
		answered <- err
	}()
	select {
	case err = <-answered:
		if err == nil {
			return strings.TrimSpace(line), nil
		}
		if errors.Is(err, io.EOF) {
			err = ErrInterrupted
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	_, _ = p.out.WriteString("\r\n")
	return "", err
}
