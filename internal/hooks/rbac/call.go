package rbac

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Commands that run none of their arguments.
var talks = []string{"echo", "printf", "command -v", "which", "type", "hash", "trap -", "log", ":", "[", "[[", "test", "read", "local", "export", "jq", "grep", "sed", "cat", "tee", "set", "shift", "return", "exit"}

// Commands that run the command behind their options, as a rule of thumb: the first
// argument that is a program, or one of ours.
var runs = []string{"command", "exec", "builtin", "env", "time", "timeout", "nohup", "nice", "sudo", "xargs", "stdbuf", "setsid", "flock", "watch", "parallel", "retry", "find", "busybox"}

// call looks at one form of a command.
func (p *program) call(args []string, c *syntax.CallExpr, in *script, f *frame) {
	if len(args) == 0 {
		return
	}
	name := path.Base(args[0])
	fn := p.functions[args[0]]
	if s, ours := p.script(args[0]); ours && fn == nil {
		p.start(s, f.with(args[1:]))
		return
	}
	switch {
	case strings.HasSuffix(name, "jq") && (fn == nil || fn.in.isEngineLibrary()):
		p.jq(args[1:], c, in)
	case fn != nil:
		p.function(args, c, in, f)
	case isKubectl(name):
		p.kubectl(args, c, in, f)
		return
	case name == "eval":
		p.text(name, strings.Join(args[1:], " "), c, in, f.inText(f.argumentsAt(c)))
		return
	case name == "trap" && len(args) > 1:
		p.text(name, args[1], c, in, f.inText(nil)) // it runs when the arguments may be others
		return
	case !isKnown(args[0]):
		p.dynamic(c, in, f)
	case p.interprets(name, args, c, in, f):
		return
	case isOneOf(name, talks...) || name == "command" && len(args) > 1 && args[1] == "-v":
		if isOneOf(name, "echo", "printf") {
			p.operationsIn(printedText(name, args[1:]), in.at(c), in)
		}
		return
	}
	p.passed(name, args, c, in, f)
}

func isOneOf(name string, names ...string) bool { return slices.Contains(names, name) }

// function enters a function. It may run its arguments as a command: one that is
// not seen to do so with kubectl is reported.
func (p *program) function(args []string, c *syntax.CallExpr, in *script, f *frame) {
	calls := p.calls
	ran := p.enter(args[0], f.with(args[1:]))
	if ran && p.calls == calls && slices.ContainsFunc(args[1:], isKubectl) {
		p.unseen(in.at(c), in, "kubectl is an argument of %s, which may run it or not", args[0])
	}
}

// passed looks for commands among the arguments of another one.
func (p *program) passed(name string, args []string, c *syntax.CallExpr, in *script, f *frame) {
	own := p.functions[args[0]] != nil
	for i, a := range args[1:] {
		switch {
		case !own && isOneOf(name, runs...) && p.isCommand(a):
			if isOneOf(name, "env", "sudo") {
				f = f.inEnvironment(name, args[1:i+1])
			}
			p.call(given(name, args[1:i+1], args[i+1:]), c, in, f)
			return
		case !own && isKubectl(a):
			p.unseen(in.at(c), in, "kubectl is an argument of %s, which may run it or not", shown(name))
			return
		case p.functions[a] != nil && a != args[0]:
			p.enter(a, f.unknown())
		}
	}
}

// isCommand reports whether a word is the name of a command that is looked at.
func (p *program) isCommand(word string) bool {
	if !isKnown(word) {
		return false
	}
	_, ours := p.script(word)
	name := path.Base(word)
	return ours || isKubectl(name) || p.functions[word] != nil || name == "eval" || isInterpreter(name) || isClient(name)
}

// given is a command with the arguments that the one that runs it adds.
func given(by string, options, command []string) []string {
	if !isOneOf(by, "xargs", "parallel", "find") {
		return command
	}
	stands := "{}"
	for i, o := range options {
		if by == "xargs" && strings.HasPrefix(o, "-I") {
			if stands = strings.TrimPrefix(o, "-I"); stands == "" && i+1 < len(options) {
				stands = options[i+1]
			}
		}
	}
	var all []string
	replaced := false
	for _, word := range command {
		if by == "find" && isOneOf(word, ";", "+") {
			break
		}
		replaced = replaced || strings.Contains(word, stands)
		all = append(all, strings.ReplaceAll(word, stands, hole))
	}
	switch {
	case replaced || by == "find":
	case isKubectl(command[0]): // to which one is the same as several
		all = append(all, hole)
	default:
		all = append(all, many)
	}
	return all
}

// dynamic runs all functions, for a command whose name is not known may be any.
func (p *program) dynamic(c *syntax.CallExpr, in *script, f *frame) {
	if in.isEngineLibrary() {
		return // it calls what hook::run is documented to call
	}
	if p.mentions(c.Args[0], hasKubectl) {
		var source strings.Builder
		if err := syntax.NewPrinter().Print(&source, c.Args[0]); err == nil {
			p.unseen(in.at(c), in, "%s may be any program", source.String())
		}
	}
	for _, name := range p.functionNames() {
		if !p.functions[name].in.isEngineLibrary() {
			p.enter(name, f.unknown())
		}
	}
}

// text runs commands in a text, as eval does, in a frame of the text's.
func (p *program) text(by, text string, c *syntax.CallExpr, in *script, f *frame) {
	endless := p.texts > 2*widest // ever other texts
	if endless || !isKnown(text) && isOneOf(by, "eval", "trap") || strings.HasPrefix(text, hole) {
		if hasKubectl(text) || p.mentions(c, hasKubectl) {
			p.unseen(in.at(c), in, "%s runs %s", by, shown(text))
		}
		return
	}
	file, err := parseText(strings.ReplaceAll(text, hole, standIn))
	if err != nil {
		if hasKubectl(text) {
			p.unseen(in.at(c), in, "%s runs %s", by, shown(text))
		}
		return
	}
	p.texts++
	bounded := f.deep > deepest || p.texts > widest
	if bounded {
		f = f.outer.inText(nil)
	}
	if !isOneOf(by, "eval", "trap") {
		f.by = c
	}
	f.own = newScope()
	f.own.read(file)
	if bounded { // it may run itself
		key := by + "\n" + text
		if p.ran[key] {
			return
		}
		p.ran[key] = true
	}
	p.commands(file, c, in, f)
}

func parseText(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// commands looks at those of a text, at the place of the command that runs it.
func (p *program) commands(n syntax.Node, c *syntax.CallExpr, in *script, f *frame) {
	p.follow(n, f)
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.FuncDecl: // its arguments are others
			p.commands(x.Body, c, in, f.inText(nil))
			return false
		case *syntax.CallExpr:
			for _, form := range p.forms(x, f) {
				for i := range form {
					form[i] = strings.ReplaceAll(form[i], standIn, hole)
				}
				p.call(form, c, in, f)
			}
		}
		return true
	})
}

// mentions reports whether there is a text below a node, or in what the variables there
// may be, that passes a test. The name of a variable is one, too, with its $.
func (p *program) mentions(n syntax.Node, test func(string) bool) bool {
	looked := map[string]bool{}
	found := false
	var look func(n syntax.Node) bool
	look = func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Lit:
			found = found || test(x.Value)
		case *syntax.SglQuoted:
			found = found || test(x.Value)
		case *syntax.ParamExp:
			if x.Param == nil || looked[x.Param.Value] {
				break
			}
			looked[x.Param.Value] = true
			found = found || test("$"+x.Param.Value)
			for _, w := range p.vars[x.Param.Value] {
				for _, word := range w.words {
					syntax.Walk(word, look)
				}
			}
		}
		return !found
	}
	syntax.Walk(n, look)
	return found
}

var kubectlWord = regexp.MustCompile(`(?:^|[^\w.-])(?:kubectl|oc)(?:$|[^\w.-])|(?i)\$\w*(?:kubectl)`)

// hasKubectl reports whether a text has kubectl as a word, or in the name of a variable.
func hasKubectl(text string) bool { return kubectlWord.MatchString(text) }

// unseen reports what cannot be seen, unless a marker right above says it.
func (p *program) unseen(at place, in *script, format string, args ...any) {
	if spokenFor(in.Text, at.line) {
		return
	}
	p.find(at, RuleUnseen, "declare them with a marker right above: # "+markerName+":groups=...,resources=...,verbs=...",
		unknownRequests+format, args...)
}
