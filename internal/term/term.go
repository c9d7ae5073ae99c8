// Package term is the terminal: what kind of stream a stream is, whether to
// colour, and questions to a person. Commands see it through small interfaces
// of their own, so it can be replaced in tests and when survey is.
package term

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"
	"golang.org/x/term"
)

// ErrInterrupted is returned when a person answers a question with Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// IsTerminal reports whether stream, a reader or a writer, is a terminal.
func IsTerminal(stream any) bool {
	f := fileOf(stream)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// fileOf returns the file that a stream is, or that it writes to and names, as
// one does that keeps a copy of what is written; nil for any other.
func fileOf(stream any) *os.File {
	switch s := stream.(type) {
	case *os.File:
		return s
	case interface{ File() *os.File }:
		return s.File()
	}
	return nil
}

// Colour reports whether out is to be coloured: it is a terminal, NO_COLOR is
// empty or unset (no-color.org) and TERM is not dumb.
func Colour(out io.Writer, env func(string) string) bool {
	return IsTerminal(out) && env("NO_COLOR") == "" && env("TERM") != "dumb"
}

// Survey asks questions on a terminal. Questions are drawn on out, which is
// stderr in practice, so that stdout stays a result.
type Survey struct {
	in, out *os.File
}

// NewSurvey returns a prompter, or nil when in or out is not a terminal:
// nobody is there to answer.
func NewSurvey(in io.Reader, out io.Writer) *Survey {
	if !IsTerminal(in) || !IsTerminal(out) {
		return nil
	}
	return &Survey{in: in.(*os.File), out: out.(*os.File)}
}

// Confirm asks a yes-or-no question.
func (s *Survey) Confirm(ctx context.Context, question string, preset bool) (bool, error) {
	answer := preset
	err := s.ask(ctx, &survey.Confirm{Message: question, Default: preset}, &answer)
	return answer, err
}

// Input asks for a line of text until valid accepts it.
func (s *Survey) Input(ctx context.Context, question, preset string, valid func(string) error) (string, error) {
	var answer string
	check := func(v any) error { return valid(v.(string)) }
	err := s.ask(ctx, &survey.Input{Message: question, Default: preset}, &answer, survey.WithValidator(check))
	return answer, err
}

// ask waits for the answer or for the end of ctx, after which the terminal is as
// it was before: survey itself knows no context and would leave it raw.
func (s *Survey) ask(ctx context.Context, p survey.Prompt, answer any, opts ...survey.AskOpt) error {
	fd := int(s.in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return err
	}
	answered := make(chan error, 1)
	go func() {
		answered <- survey.AskOne(p, answer, append(opts, survey.WithStdio(s.in, s.out, s.out))...)
	}()
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = context.Cause(ctx)
		_ = term.Restore(fd, before) // the process ends; nothing better can be done
		_, _ = s.out.WriteString("\n")
	}
	if errors.Is(err, terminal.InterruptErr) {
		return ErrInterrupted
	}
	return err
}
