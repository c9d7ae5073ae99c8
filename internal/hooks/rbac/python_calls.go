package rbac

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// manyIn stands for any number of arguments where a control character would not parse.
const manyIn = standIn + "S"

// arguments handles a list that may be the arguments of kubectl, or of a program that
// runs it.
func (p *program) arguments(args []string, at place, in *script) {
	i := slices.IndexFunc(args, isKubectl)
	switch {
	case i < 0:
		p.starts(args, at, in)
	case i > 0 && !isOneOf(path.Base(args[0]), runs...):
		if isKnown(args[0]) && !strings.Contains(args[0], " ") && !isOneOf(args[0], talks...) {
			p.unseen(at, in, "kubectl is an argument of %s, which may run it or not", args[0])
		}
	case i == len(args)-1: // other code appends the arguments
		p.kubectlAt([]string{args[i], many}, at, in)
	default:
		p.kubectlAt(args[i:], at, in)
	}
}

// starts handles a list that may be a program of the hooks with its arguments.
func (p *program) starts(args []string, at place, in *script) {
	if len(args) == 0 {
		return
	}
	f := &frame{}
	if s, ours := p.script(args[0]); ours {
		p.start(s, f.with(args[1:]))
		return
	}
	name := path.Base(args[0])
	switch {
	case isOneOf(name, shells...):
		if letters, words, runs := shellOptions(args[1:]); runs && isFile(words) && !strings.ContainsAny(letters, "cs") {
			p.file(name, words[0], words[1:], at, in, f)
		}
	case pythonCommand.MatchString(name) || name == hole: // sys.executable
		_, module, words, runs := pythonOptions(args[1:])
		switch {
		case !runs:
		case module != "":
			p.pythonModule(name, module, at, in)
		case name != hole && isFile(words):
			p.file(name, words[0], words[1:], at, in, f)
		}
	}
}

// isFile reports whether the first of some words looks like a script, and not like another
// word in a list of them.
func isFile(words []string) bool {
	return len(words) > 0 && (!isKnown(words[0]) || strings.Contains(words[0], "/") || isOneOf(path.Ext(words[0]), ".sh", ".bash", ".py"))
}

// line handles a text that may be a command line.
func (p *program) line(text string, at place, in *script) {
	if apiServer.MatchString(text) {
		p.unseen(at, in, "it asks the API server on its own, and which requests it sends is not looked at")
	}
	if !hasKubectl(text) || !strings.Contains(text, " ") {
		return
	}
	file, err := parseText(strings.ReplaceAll(strings.ReplaceAll(text, many, manyIn), hole, standIn))
	if err != nil {
		if isKubectl(firstWord(strings.Fields(text))) {
			p.unseen(at, in, "%s", shown(text))
		}
		return
	}
	inner := &program{deriver: p.deriver, scope: newScope(), looking: map[string]bool{}}
	syntax.Walk(file, func(n syntax.Node) bool {
		c, is := n.(*syntax.CallExpr)
		if !is || len(c.Args) == 0 {
			return true
		}
		for _, args := range inner.forms(c, &frame{}) {
			for i := range args {
				args[i] = strings.ReplaceAll(strings.ReplaceAll(args[i], manyIn, many), standIn, hole)
			}
			if len(args) > 0 && (isKubectl(args[0]) || isOneOf(path.Base(args[0]), runs...)) {
				p.arguments(args, at, in)
			}
		}
		return true
	})
}
