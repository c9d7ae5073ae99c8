package term

import (
	"bytes"
	"os"
	"testing"
)

func TestColour(t *testing.T) {
	t.Parallel()
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	for _, tc := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"terminal", map[string]string{"TERM": "xterm"}, true},
		{"NO_COLOR", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{"empty NO_COLOR", map[string]string{"TERM": "xterm", "NO_COLOR": ""}, true},
		{"dumb", map[string]string{"TERM": "dumb"}, false},
	} {
		env := func(name string) string { return tc.env[name] }
		if got := Colour(tty, env); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
		if Colour(&bytes.Buffer{}, env) {
			t.Errorf("%s: a buffer is coloured", tc.name)
		}
	}
	if NewPrompt(tty, &bytes.Buffer{}, os.Getenv) != nil || NewPrompt(&bytes.Buffer{}, tty, os.Getenv) != nil {
		t.Error("got a Prompt without a terminal")
	}
}
