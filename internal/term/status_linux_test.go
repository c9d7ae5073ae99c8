package term

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/termtest"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, env, value, want string
	}{
		{"colours", "TERM", "xterm", "\r\x1b[2mreading\x1b[0m\x1b[K\r\x1b[2mgenerati\x1b[0m\x1b[K\r\x1b[Kdone"},
		{"no colours", "NO_COLOR", "1", "\rreading\x1b[K\rgenerati\x1b[K\r\x1b[Kdone"},
		{"dumb", "TERM", "dumb", "done"},
	} {
		person, program := termtest.Open(t, 9)
		env := func(name string) string {
			if name == tc.env {
				return tc.value
			}
			return ""
		}
		s := NewStatus(program, env)
		s.Clear()
		s.Show("reading")
		s.Show("generating crd 12/600")
		s.Clear()
		s.Clear()
		if _, err := program.WriteString("done"); err != nil {
			t.Fatal(err)
		}
		if got := read(t, person, len(tc.want)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		if s := NewStatus(&bytes.Buffer{}, env); s != nil {
			t.Errorf("%s: a buffer has a status line", tc.name)
		}
	}
}

// read returns what a person sees. It waits for at least that many bytes.
func read(t *testing.T, person *os.File, least int) string {
	t.Helper()
	if err := person.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var seen []byte
	for part := make([]byte, 256); len(seen) < least; {
		n, err := person.Read(part)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, part[:n]...)
	}
	return string(seen)
}
