package render

import (
	"cmp"
	"io/fs"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// UserFiles is implemented by a file system that has templates of the user beside operon's own.
type UserFiles interface {
	// UserFile returns where the user finds the template with that name, or "" for one of operon's.
	UserFile(name string) string
}

// explain returns an error in a template of the user as one line that starts with its position.
// Other errors are operon's own and stay.
func explain(fsys fs.FS, name string, err error) error {
	users, ok := fsys.(UserFiles)
	if !ok || users.UserFile(name) == "" {
		return err
	}
	return Explain(users.UserFile(name), name, err)
}

// Explain returns the error of a template that the user has in file.
func Explain(file, name string, err error) error {
	hint := "operon templates show --built-in " + name + " prints operon's template, with the values that it has"
	text := err.Error()
	if _, reason, found := strings.Cut(text, "output does not parse: "); found {
		return fault.Usage(hint, "%s: the output is not valid Go: line %s", file, reason)
	}
	parts := position().FindStringSubmatch(text)
	if parts == nil {
		return fault.Usage(hint, "%s: %s", file, strings.ReplaceAll(text, "\n", " "))
	}
	at, action, reason := parts[1], parts[2], parts[3]
	if field := noField().FindStringSubmatch(reason); field != nil {
		reason = "this template has no value " + cmp.Or(field[1], field[2])
	}
	reason = strings.Replace(reason, "runtime error: integer divide by zero", "it divides by zero", 1)
	if action != "" {
		reason = "{{ " + action + " }}: " + reason
	}
	return fault.Usage(hint, "%s:%s: %s", file, at, reason)
}

// position matches an error of text/template: the position, the action if it was executed, and
// the reason.
var position = lazyregexp.New(`^template: [^:]*:(\d+(?::\d+)?): (?:executing ".*" at <(.*?)>: )?(.*)`)

// noField matches the reason that a value does not exist.
var noField = lazyregexp.New(`^(?:can't evaluate field (\S+) in type .*|map has no entry for key "(.*)")`)
