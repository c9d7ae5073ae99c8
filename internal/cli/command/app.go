// Package command holds what the commands of operon share: the App, which is the
// outside world as fields; opening a project, planning, showing and applying changes
// to it; reports and their JSON frame; flags, completion and errors. A package of
// commands (createcmd, projectcmd and so on) imports this one and no other of them.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/term"
)

// Prompter asks a person. It is nil when nobody is there to answer.
type Prompter interface {
	Confirm(ctx context.Context, question string, preset bool) (bool, error)
	Input(ctx context.Context, question, preset string, valid func(string) error) (string, error)
}

// App is the world a command lives in.
type App struct {
	In       io.Reader
	Out, Err io.Writer // the result; progress, questions and errors
	Dir      string    // the working folder, absolute
	Environ  []string  // in the form of os.Environ
	Now      func() time.Time
	Prompt   Prompter
	Layouts  plugin.Catalogue
}

// ExitStatus is how a command ends that has said on stderr what is wrong.
type ExitStatus int

func (c ExitStatus) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// Finish prints err for a person and returns the exit code.
func (a *App) Finish(ctx context.Context, err error) int {
	if err == nil {
		return fault.CodeOK
	}
	if exit, told := errors.AsType[ExitStatus](err); told {
		return int(exit)
	}
	if errors.Is(err, term.ErrInterrupted) {
		err = &fault.Error{Code: fault.CodeInterrupted, Msg: "interrupted"}
	}
	if cause := context.Cause(ctx); cause != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, cause)) {
		err = &fault.Error{Code: fault.Code(cause), Msg: "interrupted", Hint: fault.HintOf(err)}
	}
	a.PrintError(err)
	return fault.Code(err)
}

// PrintError prints err and its hint.
func (a *App) PrintError(err error) {
	paint := Painter(a.Err, a.Getenv)
	a.Notef("%s %s", paint(Red, "error:"), strings.TrimRight(err.Error(), "\n"))
	if hint := fault.HintOf(err); hint != "" {
		a.Notef("%s %s", paint(Yellow, "hint: "), IndentRest(hint, "       "))
	}
}

// At returns the App in another working folder.
func (a *App) At(dir string) *App {
	other := *a
	other.Dir = dir
	return &other
}

// Notef prints a line on stderr. Nothing is left to be done when that fails.
func (a *App) Notef(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Err, format+"\n", args...)
}

// NextStep tells a person, and no script, what to do after a command.
func (a *App) NextStep(what string) {
	if term.IsTerminal(a.Err) {
		a.Notef("%s%s", Painter(a.Err, a.Getenv)(Faint, "next: "), what)
	}
}

// Progress shows what a long piece of work does.
func (a *App) Progress(line string) { a.Notef("%s", line) }
