// Package command is the code that the commands of operon share: the App, which holds
// streams, environment and clock; functions that open a project, plan, show and apply
// changes; reports, flags, completion and errors. A package of commands, such as
// createcmd, imports this package and no other package of commands.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/resultcache"
	"github.com/operon-dev/operon/internal/term"
)

// HintTemp is the hint if a temporary folder cannot be used.
const HintTemp = "make the folder for temporary files writable, or set TMPDIR to another one"

// Prompter asks a person questions. It is nil if nobody can answer.
type Prompter interface {
	Confirm(ctx context.Context, question string, preset bool) (bool, error)
	Input(ctx context.Context, question, preset string, valid func(string) error) (string, error)
	// Select asks for one of several texts, MultiSelect for some of them.
	Select(ctx context.Context, question string, choices []string, preset string) (string, error)
	MultiSelect(ctx context.Context, question string, choices []string) ([]string, error)
}

// App holds the streams, environment and clock of a command.
type App struct {
	In       io.Reader
	Out, Err io.Writer // results; progress, questions and errors
	Dir      string    // the working folder, absolute
	Environ  []string  // in the form of os.Environ
	Program  string    // the path of operon, to run it again
	// Process is this process, if all of the above is its own. Without it, no result is cached: see CacheResult.
	Process *resultcache.Process

	Now       func() time.Time
	Prompt    Prompter
	Catalogue plugin.Catalogue

	changed  bool     // the command has changed files
	noted    []string // notes of plans
	external externalPlugins
}

// ExitStatus is the exit code of a command that has already printed its error.
type ExitStatus int

func (c ExitStatus) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// Finish prints err and returns the exit code of the command.
func (a *App) Finish(ctx context.Context, err error) int {
	if err == nil {
		return fault.CodeOK
	}
	if exit, printed := errors.AsType[ExitStatus](err); printed {
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
	a.Notef("%s %s", paint(term.Red, "error:"), cut(strings.TrimRight(err.Error(), "\n")))
	if hint := cmp.Or(fault.HintOf(err), tempHint(err)); hint != "" {
		a.Notef("%s %s", paint(term.Yellow, "hint: "), IndentRest(hint, "       "))
	}
}

// tempHint returns [HintTemp] if a folder for temporary files cannot be made, and otherwise "".
func tempHint(err error) string {
	at, is := errors.AsType[*fs.PathError](err)
	temp := filepath.Clean(os.TempDir())
	if is && (at.Path == temp || filepath.Dir(at.Path) == temp && strings.HasPrefix(filepath.Base(at.Path), "operon-")) {
		return HintTemp
	}
	return ""
}

// At returns the App in another working folder.
func (a *App) At(dir string) *App {
	other := *a
	other.Dir = dir
	return &other
}

// Path returns a path that is relative to the working folder as an absolute one.
func (a *App) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.Dir, name)
}

// Notef prints a text and a line break on stderr. What could act on a terminal is made visible, and a line of the text does not look
// like another message. It ignores errors.
func (a *App) Notef(format string, args ...any) {
	_ = a.printTo(a.Err, term.Indent(fmt.Sprintf(format, args...))+"\n")
}

// Print prints a text for people on stdout. What could act on a terminal is made visible.
func (a *App) Print(text string) error { return a.printTo(a.Out, text) }

func (a *App) printTo(out io.Writer, text string) error {
	_, err := io.WriteString(out, term.Visible(text, term.Colour(out, a.Getenv)))
	return err
}

// longest is the length of the longest value in an error, in bytes.
const longest = 400

var longValue = lazyregexp.New(`[!-~]{400,}`) // longest; other scripts have no spaces

// cut shortens long values, such as what a flag was given by mistake.
func cut(text string) string {
	return longValue().ReplaceAllStringFunc(text, func(value string) string {
		return fmt.Sprintf("%s...(%d bytes)", strings.ToValidUTF8(value[:longest/4], ""), len(value))
	})
}

// NoteOnce is Notef for functions that plan, which can run again: see Ask.
func (a *App) NoteOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(a.noted, text) {
		return
	}
	a.noted = append(a.noted, text)
	a.Notef("%s", text)
}

// NextStep suggests what to do after a command that changed files, if a person reads its
// output: if stdout and stderr are a terminal. Otherwise the line could come before the output.
func (a *App) NextStep(what string) {
	if a.changed && term.IsTerminal(a.Err) && term.IsTerminal(a.Out) {
		a.Notef("%s%s", Painter(a.Err, a.Getenv)(term.Faint, "next: "), what)
	}
}

// Warnf prints a warning on stderr.
func (a *App) Warnf(format string, args ...any) {
	a.Notef("%s %s", Painter(a.Err, a.Getenv)(term.Yellow, "warning:"), fmt.Sprintf(format, args...))
}

// Progress prints a line about long-running work.
func (a *App) Progress(line string) { a.Notef("%s", line) }

// Version returns the version of operon: a tag, or "devel". The go command records
// the version of `go install` and of a tagged checkout.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
