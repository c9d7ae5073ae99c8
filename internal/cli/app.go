// Package cli is the command line: one file per command, each of which turns
// flags into an Event and hands the rest to plugins and the plan. It is the
// only package that knows every other one, and the only one that prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/term"
	"github.com/operon-dev/operon/plugins/addon"
	"github.com/operon-dev/operon/plugins/golang"
	"github.com/operon-dev/operon/plugins/kustomize"
	"github.com/operon-dev/operon/plugins/shell"
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

// layouts is the list of what PROJECT's layout may hold, with the plugins that
// each key stands for, in the order in which they plan.
func layouts() plugin.Catalogue {
	return plugin.Catalogue{
		{Key: golang.Key, Plugins: plugin.Set{kustomize.Plugin{}, golang.Plugin{}}},
		{Key: addon.Key, Plugins: plugin.Set{addon.Plugin{}}},
		{Key: shell.Key, Plugins: plugin.Set{shell.Plugin{}, kustomize.Plugin{KindsOnly: true}}},
	}
}

// defaultLayout is what init uses without --plugins.
const defaultLayout = golang.Key

// Main runs one command line in the real world and returns its exit code.
func Main(ctx context.Context, args []string) int {
	a := &App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Environ: os.Environ(), Now: time.Now, Layouts: layouts(),
	}
	if s := term.NewSurvey(os.Stdin, os.Stderr); s != nil {
		a.Prompt = s
	}
	dir, err := os.Getwd()
	if err != nil {
		return a.report(ctx, fault.Failed("cd to a folder that exists", "working folder: %v", err))
	}
	a.Dir = dir
	return a.Run(ctx, args)
}

// Run runs one command line and returns its exit code.
func (a *App) Run(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetFlagErrorFunc(flagError(args))
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	return a.report(ctx, root.ExecuteContext(ctx))
}

// exitCode is how a command ends that has said on stderr what is wrong.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// report prints err for a person and returns the exit code.
func (a *App) report(ctx context.Context, err error) int {
	if err == nil {
		return fault.CodeOK
	}
	if exit, told := errors.AsType[exitCode](err); told {
		return int(exit)
	}
	if errors.Is(err, term.ErrInterrupted) {
		err = &fault.Error{Code: fault.CodeInterrupted, Msg: "interrupted"}
	}
	if cause := context.Cause(ctx); cause != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, cause)) {
		err = &fault.Error{Code: fault.Code(cause), Msg: "interrupted", Hint: fault.HintOf(err)}
	}
	a.complain(err)
	return fault.Code(err)
}

// complain prints err and its hint.
func (a *App) complain(err error) {
	paint := painter(a.Err, a.getenv)
	a.note("%s %s", paint(red, "error:"), strings.TrimRight(err.Error(), "\n"))
	if hint := fault.HintOf(err); hint != "" {
		a.note("%s %s", paint(yellow, "hint: "), indentRest(hint, "       "))
	}
}

// note prints a line on stderr. Nothing is left to be done when that fails.
func (a *App) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Err, format+"\n", args...)
}

// next tells a person, and no script, what to do after a command.
func (a *App) next(what string) {
	if term.IsTerminal(a.Err) {
		a.note("%s%s", painter(a.Err, a.getenv)(faint, "next: "), what)
	}
}

// indentRest puts indent before every line of text but the first.
func indentRest(text, indent string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+indent)
}

// getenv returns the value of an environment variable, or "".
func (a *App) getenv(name string) string {
	for _, line := range slices.Backward(a.Environ) {
		if k, v, ok := strings.Cut(line, "="); ok && k == name {
			return v
		}
	}
	return ""
}
