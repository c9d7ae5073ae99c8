package term

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/termtest"
	"golang.org/x/sys/unix"
)

// dumb is the environment of a terminal that only shows what the program prints.
func dumb(name string) string { return map[string]string{"TERM": "dumb"}[name] }

// TestLines answers questions on a dumb terminal.
func TestLines(t *testing.T) {
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
	one := func(p *Prompt) (string, error) { return p.Select(t.Context(), "Which? ()", []string{"Ann", "Kit"}, "") }
	some := func(p *Prompt) (string, error) {
		all, err := p.MultiSelect(t.Context(), "Which? ()", []string{"Ann", "Kit"})
		return fmt.Sprint(all), err
	}
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
		{"one of several", 80, one, "Bob\rKit\r", "Kit", "Ann\r\nKit\r\nWhich? () Bob\r\n\"Bob\" is none of Ann, Kit\r\nWhich? () Kit\r\n", nil},
		{"several", 80, some, "Kit, Ann\r", "[Kit Ann]", "Ann\r\nKit\r\nWhich? () Kit, Ann\r\n", nil},
		{"none", 80, some, "\r", "[]", "Ann\r\nKit\r\nWhich? () \r\n", nil},
		{"Ctrl-C", 80, input, "\x03", "", "Name? (Kit) \r\n", ErrInterrupted},
		{"Ctrl-D", 80, confirm(true), "\x04", "false", "Sail? (Y/n) \r\n", ErrInterrupted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			person, program := termtest.Open(t, tc.columns)
			before := modes(t, program)
			prompt := NewPrompt(program, program, dumb)
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
	if _, err := NewPrompt(program, program, dumb).Confirm(ctx, "Sail?", false); !errors.Is(err, signal) {
		t.Errorf("%v, want %v", err, signal)
	}
	if modes(t, program) != before {
		t.Error("the terminal has other modes than before")
	}
}

// TestPromptWithoutCursor answers a question on a terminal that reports its cursor too late.
func TestPromptWithoutCursor(t *testing.T) {
	t.Parallel()
	person, program := termtest.Open(t, 80)
	before := modes(t, program)
	answers := make(chan string, 1)
	go func() {
		answer, err := NewPrompt(program, program, xterm).Input(t.Context(), "Name?", "", func(string) error { return nil })
		answers <- fmt.Sprint(answer, err)
	}()
	const screen = "\x1b[6nName? "
	if got := read(t, person, len(screen)); got != screen {
		t.Errorf("screen %q, want %q", got, screen)
	}
	for _, typed := range []string{"\x1b[24;", "80RAn", "n\r"} {
		if _, err := person.WriteString(typed); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-answers; got != "Ann<nil>" {
		t.Errorf("answer %q", got)
	}
	if modes(t, program) != before {
		t.Error("the terminal has other modes than before")
	}
}

func xterm(name string) string { return map[string]string{"TERM": "xterm"}[name] }

// TestSurvey answers questions on a terminal that reports its cursor. What the user types before that is not lost.
func TestSurvey(t *testing.T) {
	t.Parallel()
	short := func(s string) error {
		if len(s) > 3 {
			return errors.New("too long")
		}
		return nil
	}
	ships := []string{"brig", "frigate", "sloop"}
	for _, tc := range []struct {
		name  string
		ask   func(*Prompt) (any, error)
		typed []string // each of them once the screen shows the text before it
		want  string
		err   error
	}{
		{"confirm", func(p *Prompt) (any, error) { return p.Confirm(t.Context(), "Sail?", false) }, []string{"(y/N)", "y\r"}, "true", nil},
		{"preset", func(p *Prompt) (any, error) { return p.Confirm(t.Context(), "Sail?", true) }, []string{"(Y/n)", "\r"}, "true", nil},
		{"input", func(p *Prompt) (any, error) { return p.Input(t.Context(), "Name?", "Kit", short) }, []string{"(Kit)", "Anna\r", "too long", " Ann \r"}, "Ann", nil},
		{"ahead", func(p *Prompt) (any, error) { return p.Input(t.Context(), "Name?", "Kit", short) }, []string{"", "Bo", "(Kit)", "b\r"}, "Bob", nil},
		{"select", func(p *Prompt) (any, error) { return p.Select(t.Context(), "Ship?", ships, "brig") }, []string{"sloop", "fri\r"}, "frigate", nil},
		{"preset choice", func(p *Prompt) (any, error) { return p.Select(t.Context(), "Ship?", ships, "frigate") }, []string{"sloop", "\r"}, "frigate", nil},
		{"select some", func(p *Prompt) (any, error) { return p.MultiSelect(t.Context(), "Ships?", ships) }, []string{"sloop", " \x1b[B\x1b[B \r"}, "[brig sloop]", nil},
		{"none", func(p *Prompt) (any, error) { return p.MultiSelect(t.Context(), "Ships?", ships) }, []string{"sloop", "\r"}, "[]", nil},
		{"Ctrl-C", func(p *Prompt) (any, error) { return p.Confirm(t.Context(), "Sail?", true) }, []string{"(Y/n)", "\x03"}, "", ErrInterrupted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			person, program := termtest.Open(t, 80)
			before := modes(t, program)
			go answer(person, program, tc.typed)
			got, err := tc.ask(NewPrompt(program, program, xterm))
			if !errors.Is(err, tc.err) || tc.err == nil && fmt.Sprint(got) != tc.want {
				t.Errorf("%v, %v; want %v, %v", got, err, tc.want, tc.err)
			}
			if modes(t, program) != before {
				t.Error("the terminal has other modes than before")
			}
		})
	}
}

// answer plays a terminal that reports its cursor, and the person, who types texts when the screen shows others and the
// program reads single keys.
func answer(person, program *os.File, typed []string) {
	const question = "\x1b[6n"
	_ = person.SetReadDeadline(time.Now().Add(time.Minute))
	screen := ""
	for part := make([]byte, 1024); ; {
		n, err := person.Read(part)
		if err != nil {
			return
		}
		screen += string(part[:n])
		if len(typed) > 0 && strings.Contains(screen, typed[0]) {
			for end := time.Now().Add(time.Minute); typed[0] != "" && readsLines(program) && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			_, _ = person.WriteString(typed[1])
			_, screen, _ = strings.Cut(screen, typed[0])
			typed = typed[2:]
		}
		for strings.Contains(screen, question) {
			_, _ = person.WriteString("\x1b[1;1R")
			screen = strings.Replace(screen, question, "", 1)
		}
	}
}

// readsLines reports whether a terminal is not in raw mode.
func readsLines(terminal *os.File) bool {
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	return err == nil && state.Lflag&unix.ICANON != 0
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
