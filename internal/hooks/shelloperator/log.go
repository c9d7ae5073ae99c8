package shelloperator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

// logWriter turns the log of shell-operator, a JSON object per line, into lines for people: when a hook
// runs and why, what it prints, warnings and errors. Steps of the engine itself are left out. It passes
// on lines of other forms.
type logWriter struct {
	out     io.Writer
	mu      sync.Mutex // stdout and stderr share a writer
	partial []byte
	usage   bool // since the help of the program began, which follows an error at the start
}

// entry is a line of the log. Other keys are details.
type entry struct {
	Level, Msg, Hook, Binding, Event string
	Output                           string // stdout or stderr, if Msg is a line that a hook prints
	Error, Err                       string
}

// Write implements io.Writer.
func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.partial = append(w.partial, p...)
	for {
		line, rest, found := bytes.Cut(w.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		w.usage = w.usage || string(line) == "Usage:"
		if text := format(line); text != "" && !w.usage {
			if _, err := io.WriteString(w.out, text+"\n"); err != nil {
				return 0, err
			}
		}
		w.partial = rest
	}
}

// format returns the line for people, or "" for a step of the engine.
func format(line []byte) string {
	var e entry
	if json.Unmarshal(line, &e) != nil || e.Msg == "" {
		return string(line)
	}
	var of []string // the prefix
	if e.Hook != "" {
		of = append(of, e.Hook)
	}
	switch {
	case e.Output != "":
		return strings.Join(append(of, e.Msg), "  ")
	case e.Msg == "Execute hook":
		what := cmp.Or(e.Binding, e.Event)
		if e.Event != "" && e.Event != what {
			what = fmt.Sprintf("%s (%s)", what, e.Event)
		}
		return strings.Join(append(of, "runs for "+what), "  ")
	case e.Level != "error" && e.Level != "fatal" && e.Level != "warn":
		return ""
	}
	text := e.Level + ": " + strings.TrimSuffix(e.Msg, ".")
	if detail := cmp.Or(e.Error, e.Err); detail != "" {
		text += ": " + detail
	}
	return strings.Join(append(of, text), "  ")
}
