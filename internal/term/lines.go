package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/term"
)

// lines asks questions as plain lines. It asks the terminal nothing: some, such as the terminals of editors and of CI systems,
// do not answer.
type lines struct {
	tty
	editor *term.Terminal // for all questions: it keeps what the user types ahead
}

func newLines(t tty) *lines {
	return &lines{t, term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{t.in, t.out}, "")}
}

// Confirm asks a yes-or-no question.
func (l *lines) Confirm(ctx context.Context, question string, preset bool) (bool, error) {
	choice := " (y/N) "
	if preset {
		choice = " (Y/n) "
	}
	for {
		answer, err := l.ask(ctx, question+choice)
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
		l.print("answer y or n")
	}
}

// Input asks for a line of text until valid accepts it.
func (l *lines) Input(ctx context.Context, question, preset string, valid func(string) error) (string, error) {
	if preset != "" {
		question += " (" + preset + ")"
	}
	for {
		answer, err := l.ask(ctx, question+" ")
		if err != nil {
			return "", err
		}
		if answer == "" {
			answer = preset
		}
		if err = valid(answer); err == nil {
			return answer, nil
		}
		l.print(err.Error())
	}
}

// Select asks for one of several texts.
func (l *lines) Select(ctx context.Context, question string, choices []string, preset string) (string, error) {
	l.print(strings.Join(choices, "\n"))
	return l.Input(ctx, question, preset, func(answer string) error { return oneOf(answer, choices) })
}

// MultiSelect asks for some of several texts, which the answer separates by commas.
func (l *lines) MultiSelect(ctx context.Context, question string, choices []string) ([]string, error) {
	l.print(strings.Join(choices, "\n"))
	answer, err := l.Input(ctx, question, "", func(answer string) error {
		for _, item := range items(answer) {
			if err := oneOf(item, choices); err != nil {
				return err
			}
		}
		return nil
	})
	return items(answer), err
}

func items(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func oneOf(answer string, choices []string) error {
	if slices.Contains(choices, answer) {
		return nil
	}
	return fmt.Errorf("%q is none of %s", answer, strings.Join(choices, ", "))
}

// print prints a text, such as why the question is asked again.
func (l *lines) print(text string) {
	_, _ = fmt.Fprintln(l.out, text) // if the terminal is gone, the next question fails
}

// ask waits for a line or for the end of ctx. Then it restores the terminal, which is in raw mode while the
// user edits the line.
func (l *lines) ask(ctx context.Context, question string) (string, error) {
	if width, height, err := term.GetSize(int(l.out.Fd())); err == nil && width > 0 && height > 0 {
		_ = l.editor.SetSize(width, height) // a wrong size only affects long lines
	}
	before, err := term.MakeRaw(int(l.in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(l.in.Fd()), before) }()
	l.editor.SetPrompt(question)
	line, err := until(ctx, l.editor.ReadLine)
	if err == nil {
		return strings.TrimSpace(line), nil
	}
	if errors.Is(err, io.EOF) {
		err = ErrInterrupted
	}
	_, _ = l.out.WriteString("\r\n")
	return "", err
}
