// Package term detects terminals, decides about colour, and asks questions.
// Commands use it through their own small interfaces, so that tests can replace
// it, and survey can be replaced.
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

// ErrInterrupted is returned when the user answers a question with Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// IsTerminal reports whether stream, a reader or a writer, is a terminal.
func IsTerminal(stream any) bool {
	f := fileOf(stream)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// fileOf returns the file of a stream: the stream itself, or the result of its
// File method, as for a writer that keeps a copy of its output. It returns nil
// for other streams.
func fileOf(stream any) *os.File {
	switch s := stream.(type) {
	case *os.File:
		return s
	case interface{ File() *os.File }:
		return s.File()
	}
	return nil
}

// Colour reports whether output to out is coloured: out is a terminal, NO_COLOR
// is empty or unset (no-color.org), and TERM is not dumb.
func Colour(out io.Writer, env func(string) string) bool {
	return IsTerminal(out) && env("NO_COLOR") == "" && env("TERM") != "dumb"
}

// Survey asks questions on a terminal. out is stderr in practice, so that
// stdout has only the result.
type Survey struct {
	in, out *os.File
}

// NewSurvey returns a Survey, or nil if in or out is not a terminal.
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

// ask waits for the answer or for the end of ctx. Then it restores the
// terminal, because survey does not support contexts and would leave the
// terminal in raw mode.
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
		_ = term.Restore(fd, before) // the process ends, so an error has no effect
		_, _ = s.out.WriteString("\n")
	}
	if errors.Is(err, terminal.InterruptErr) {
		return ErrInterrupted
	}
	return err
}
