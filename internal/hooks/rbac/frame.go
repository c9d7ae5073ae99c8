package rbac

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// frame is a run of a function, of a script's own commands, or of a text.
type frame struct {
	fn   *function              // nil in none
	args values                 // that it may begin with; nil when nobody knows
	at   map[syntax.Node]values // the arguments at each place, when they change
	deep int                    // calls above it

	// Of a text that a command runs:
	outer *frame           // of the command, whose variables the text may have; nil for no text
	by    *syntax.CallExpr // the command, when the text runs in a process of its own
	own   scope            // of the text

	// What env gives to what it starts: variables, and whether there are no others.
	env   map[string]string
	alone bool
}

const (
	// deepest is how many calls deep a program is followed with their arguments, and
	// widest how many of them there may be. Others may be a circle with ever other
	// arguments, and count as calls with arguments that are not known.
	deepest = 12
	widest  = 1000
)

// anyArguments are those that nobody knows.
var anyArguments = values{{many}}

// with is the frame of what a command calls with arguments.
func (f *frame) with(args []string) *frame { return &frame{args: values{args}, deep: f.deep + 1} }

// unknown is the frame of what is called with arguments that nobody knows.
func (f *frame) unknown() *frame { return &frame{deep: f.deep + 1} }

// inText is the frame of a text that a command runs, which has arguments of its own.
func (f *frame) inText(args values) *frame {
	return &frame{args: args, deep: f.deep + 1, outer: f}
}

// inEnvironment is the frame for what env or sudo starts with the variables among their
// arguments.
func (f *frame) inEnvironment(by string, options []string) *frame {
	inner := *f
	inner.alone = f.alone || by == "sudo" // which hands on what its policy names
	inner.env = maps.Clone(f.env)
	if inner.env == nil {
		inner.env = map[string]string{}
	}
	for i, o := range options {
		name, value, is := strings.Cut(o, "=")
		switch {
		case is && syntax.ValidName(name):
			inner.env[name] = value
		case o == "-u" && i+1 < len(options):
			inner.env[options[i+1]] = hole
		case name == "--unset":
			inner.env[value] = hole
		case isOneOf(o, "-", "-i", "--ignore-environment") || !isKnown(o):
			inner.alone = true
		}
	}
	return &inner
}

// around is the frame of the script's own command that a text is run by.
func (f *frame) around() *frame {
	for f.outer != nil {
		f = f.outer
	}
	return f
}

// bounded is the frame for a call after a number of others.
func (f *frame) bounded(calls int) *frame {
	if f.deep > deepest || calls > widest {
		return &frame{deep: f.deep}
	}
	return f
}

// key tells calls of something with other arguments apart.
func (f *frame) key(name string) string {
	if f.args == nil {
		return name
	}
	return fmt.Sprintf("%s %q", name, f.args)
}

// argumentsAt are the arguments that there may be at a place.
func (f *frame) argumentsAt(n syntax.Node) values {
	args := f.args
	if f.at != nil {
		args = f.at[n]
	}
	if args == nil {
		return anyArguments
	}
	return args
}

// argument returns what an argument may be, from 1.
func (f *frame) argument(n syntax.Node, number int) values {
	var v values
	for _, args := range f.argumentsAt(n) {
		switch {
		case slices.Contains(args[:min(number, len(args))], many):
			v = append(v, []string{hole})
		case number <= len(args):
			v = append(v, []string{args[number-1]})
		default:
			v = append(v, []string{""})
		}
	}
	return v.limited(true)
}
