package term

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/termtest"
	"golang.org/x/sys/unix"
)

// TestPrompt answers questions on a terminal that only shows what the program prints, and answers no request
// for the position of the cursor.
func TestPrompt(t *testing.T) {
	t.Parallel()
	short := func(s string) error {
		if len(s) > 3 {
			return errors.New("too long")
		}
		return nil
	}
	confirm := func(preset bool) func(*Prompt) (string, error) {
		return func(p *Prompt) (string, error) {
			yes, err := p.Confirm(t.Context(), "Sail?", preset)
			return fmt.Sprint(yes), err
		}
	}
	input := func(p *Prompt) (string, error) { return p.Input(t.Context(), "Name?", "Kit", short) }
	for _, tc := range []struct {
		name    string
		columns uint16
		ask     func(*Prompt) (string, error)
		typed   string
		want    string
		screen  string
		err     error
	}{
		{"yes", 80, confirm(false), "y\r", "true", "Sail? (y/N) y\r\n", nil},
		{"no", 80, confirm(true), "No\r", "false", "Sail? (Y/n) No\r\n", nil},
		{"preset no", 80, confirm(false), "\r", "false", "Sail? (y/N) \r\n", nil},
		{"preset yes", 80, confirm(true), "\n", "true", "Sail? (Y/n) \r\n", nil},
		{"neither", 80, confirm(false), "x\ry\r", "true", "Sail? (y/N) x\r\nanswer y or n\r\nSail? (y/N) y\r\n", nil},
		{"text", 80, input, " Ann \r", "Ann", "Name? (Kit)  Ann \r\n", nil},
		{"no size", 0, input, "Ann\r", "Ann", "Name? (Kit) Ann\r\n", nil},
		{"preset text", 80, input, "\r", "Kit", "Name? (Kit) \r\n", nil},
		{"invalid", 80, input, "Anna\rAnn\r", "Ann", "Name? (Kit) Anna\r\ntoo long\r\nName? (Kit) Ann\r\n", nil},
		{"cursor keys", 80, input, "Ax\x1b[Dn\x1b[C\x7fn\r", "Ann", "Name? (Kit) ", nil},
		{"Ctrl-C", 80, input, "\x03", "", "Name? (Kit) \r\n", ErrInterrupted},
		{"Ctrl-D", 80, confirm(true), "\x04", "false", "Sail? (Y/n) \r\n", ErrInterrupted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			person, program := termtest.Open(t, tc.columns)
			before := modes(t, program)
			prompt := NewPrompt(program, program)
			type answer struct {
				text string
				err  error
			}
			answers := make(chan answer, 1)
			go func() {
				text, err := tc.ask(prompt)
				answers <- answer{text, err}
			}()
			question := strings.Index(tc.screen, ") ") + 2
			screen := read(t, person, question) // before that, the terminal would print what the person types
			if _, err := person.WriteString(tc.typed); err != nil {
				t.Fatal(err)
			}
			screen += read(t, person, len(tc.screen)-len(screen))
			if got := <-answers; got.text != tc.want || !errors.Is(got.err, tc.err) {
				t.Errorf("%q, %v; want %q, %v", got.text, got.err, tc.want, tc.err)
			}
			if screen != tc.screen {
				t.Errorf("screen %q, want %q", screen, tc.screen)
			}
			if modes(t, program) != before {
				t.Error("the terminal has other modes than before")
			}
		})
	}
}

// TestPromptEnd ends a command during a question, as a signal does.
func TestPromptEnd(t *testing.T) {
	t.Parallel()
	person, program := termtest.Open(t, 80)
	before := modes(t, program)
	signal := errors.New("signal")
	ctx, end := context.WithCancelCause(t.Context())
	go func() {
		read(t, person, len("Sail? (y/N) "))
		end(signal)
	}()
	if _, err := NewPrompt(program, program).Confirm(ctx, "Sail?", false); !errors.Is(err, signal) {
		t.Errorf("%v, want %v", err, signal)
	}
	if modes(t, program) != before {
		t.Error("the terminal has other modes than before")
	}
}

// modes returns the modes of a terminal, such as raw mode.
func modes(t *testing.T, terminal *os.File) unix.Termios {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *state
}
