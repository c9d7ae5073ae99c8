package term

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"
	"golang.org/x/term"
)

// surveys asks questions with survey. Typing filters the choices of Select and MultiSelect.
type surveys struct{ tty }

// Confirm asks a yes-or-no question.
func (s surveys) Confirm(ctx context.Context, question string, preset bool) (answer bool, err error) {
	err = s.ask(ctx, &survey.Confirm{Message: question, Default: preset}, &answer)
	return answer, err
}

// Input asks for a line of text until valid accepts it.
func (s surveys) Input(ctx context.Context, question, preset string, valid func(string) error) (answer string, err error) {
	check := func(v any) error {
		text, _ := v.(string)
		return valid(strings.TrimSpace(text))
	}
	err = s.ask(ctx, &survey.Input{Message: question, Default: preset}, &answer, survey.WithValidator(check))
	return strings.TrimSpace(answer), err
}

// Select asks for one of several texts.
func (s surveys) Select(ctx context.Context, question string, choices []string, preset string) (answer string, err error) {
	q := &survey.Select{Message: question, Options: choices}
	if preset != "" {
		q.Default = preset
	}
	err = s.ask(ctx, q, &answer)
	return answer, err
}

// MultiSelect asks for some of several texts.
func (s surveys) MultiSelect(ctx context.Context, question string, choices []string) (answers []string, err error) {
	err = s.ask(ctx, &survey.MultiSelect{Message: question, Options: choices}, &answers)
	return answers, err
}

// ask waits for the answer or for the end of ctx. Then it restores the terminal, because survey knows no contexts.
func (s surveys) ask(ctx context.Context, q survey.Prompt, answer any, options ...survey.AskOpt) error {
	before, err := term.GetState(int(s.in.Fd()))
	if err != nil {
		return err
	}
	_, err = until(ctx, func() (any, error) {
		return nil, survey.AskOne(q, answer, append(options, survey.WithStdio(s.in, s.out, s.out))...)
	})
	if ctx.Err() != nil {
		_ = term.Restore(int(s.in.Fd()), before) // the process ends, so an error has no effect
		_, _ = s.out.WriteString("\r\n")
	}
	if errors.Is(err, terminal.InterruptErr) || errors.Is(err, io.EOF) {
		return ErrInterrupted
	}
	return err
}
