package rbac

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Commands that run none of their arguments.
var talks = []string{"echo", "printf", "command -v", "which", "type", "hash", "trap -", "log", ":", "[", "[[", "test", "read", "local", "export", "jq", "grep", "sed", "awk", "cat", "tee", "set", "shift", "return", "exit"}

// Commands that run the command behind their options, as a rule of thumb: the first
// argument that is a program, or one of ours.
var runs = []string{"command", "exec", "builtin", "env", "time", "timeout", "nohup", "nice", "sudo", "xargs", "stdbuf", "setsid", "flock", "watch", "parallel", "retry", "find"}

// call looks at one form of a command.
func (p *program) call(args []string, c *syntax.CallExpr, in *script, f *frame) {
	if len(args) == 0 {
		return
	}
	name := path.Base(args[0])
	fn := p.functions[args[0]]
	switch {
	case strings.HasSuffix(name, "jq") && (fn == nil || fn.in.isEngineLibrary()):
		p.jq(args[1:], c, in)
	case fn != nil:
		p.enter(args[0], &frame{args: args[1:], known: !slices.Contains(args[1:], many), deep: f.deep})
	case name == "kubectl":
		p.kubectl(args[1:], c, in, f)
		return
	case name == "eval" || isOneOf(name, "bash", "sh") && len(args) > 2 && args[1] == "-c":
		p.text(args, c, in, f)
		return
	case name == "trap" && len(args) > 1:
		p.text(args[:2], c, in, f)
		return
	case !isKnown(args[0]):
		p.dynamic(c, in)
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

// passed looks for commands among the arguments of another one.
func (p *program) passed(name string, args []string, c *syntax.CallExpr, in *script, f *frame) {
	for i, a := range args[1:] {
		switch {
		case path.Base(a) == "kubectl" && p.functions[args[0]] == nil:
			if !isOneOf(name, runs...) {
				p.unseen(in.at(c), in, "kubectl is an argument of %s, which may run it or not", name)
				return
			}
			rest := args[i+2:]
			if name == "xargs" || name == "parallel" {
				rest = append(rest[:len(rest):len(rest)], hole)
			}
			p.kubectl(rest, c, in, f)
			return
		case p.functions[a] != nil && a != args[0]:
			p.enter(a, &frame{deep: f.deep})
		}
	}
}

// dynamic runs all functions, for a command whose name is not known may be any.
func (p *program) dynamic(c *syntax.CallExpr, in *script) {
	if in.isEngineLibrary() {
		return // it calls what hook::run is documented to call
	}
	var source strings.Builder
	if err := syntax.NewPrinter().Print(&source, c.Args[0]); err == nil && strings.Contains(strings.ToLower(source.String()), "kubectl") {
		p.unseen(in.at(c), in, "%s may be any program", source.String())
	}
	for name, fn := range p.functions {
		if !fn.in.isEngineLibrary() {
			p.enter(name, &frame{})
		}
	}
}

// text runs commands in an argument, as eval does.
func (p *program) text(args []string, c *syntax.CallExpr, in *script, f *frame) {
	text := strings.Join(args[1:], " ")
	if args[0] != "eval" && args[0] != "trap" {
		text = args[2]
	}
	if !isKnown(text) {
		if strings.Contains(text, "kubectl") {
			p.unseen(in.at(c), in, "%s runs %s", path.Base(args[0]), shown(text))
		}
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), in.Path)
	if err != nil {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, is := n.(*syntax.CallExpr); is && len(call.Args) > 0 {
			for _, form := range p.forms(call, f) {
				p.call(form, c, in, f) // at the place of the command that runs the text
			}
		}
		return true
	})
}

// unseen reports what cannot be seen, unless a marker right above says it.
func (p *program) unseen(at place, in *script, format string, args ...any) {
	if spokenFor(in.Text, at.line) {
		return
	}
	p.find(at, RuleUnseen, "say what it needs with a marker right above: # "+markerName+":groups=...,resources=...,verbs=...",
		"what this does cannot be seen: "+format, args...)
}

// input returns the texts that a command may read, and whether they are known.
func (p *program) input(c syntax.Node, in *script, f *frame) (texts []string, known bool) {
	for n := in.parents[c]; n != nil; n = in.parents[n] {
		switch x := n.(type) {
		case *syntax.Stmt:
			for _, r := range x.Redirs {
				switch r.Op {
				case syntax.Hdoc, syntax.DashHdoc:
					return p.hereDocument(r, f), true
				case syntax.WordHdoc:
					return p.expandText(r.Word, f), true
				case syntax.RdrIn:
					return nil, false
				}
			}
		case *syntax.BinaryCmd:
			if (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) && within(c, x.Y) {
				return p.output(x.X, in, f)
			}
		case *syntax.FuncDecl, *syntax.File, *syntax.CmdSubst:
			return nil, false
		}
	}
	return nil, false
}

func within(n, outer syntax.Node) bool {
	return outer.Pos().Offset() <= n.Pos().Offset() && n.End().Offset() <= outer.End().Offset()
}

// hereDocument returns what a here-document may be.
func (p *program) hereDocument(r *syntax.Redirect, f *frame) []string {
	if r.Hdoc == nil {
		return []string{""}
	}
	texts := p.expandText(r.Hdoc, f)
	if r.Op == syntax.DashHdoc {
		for i, t := range texts {
			var b strings.Builder
			for line := range strings.Lines(t) {
				b.WriteString(strings.TrimLeft(line, "\t"))
			}
			texts[i] = b.String()
		}
	}
	return texts
}

// output returns what a statement may print, if that is known.
func (p *program) output(s *syntax.Stmt, in *script, f *frame) (texts []string, known bool) {
	c, is := s.Cmd.(*syntax.CallExpr)
	if !is || len(c.Args) == 0 {
		return nil, false
	}
	switch c.Args[0].Lit() {
	case "cat":
		if len(c.Args) > 1 && c.Args[1].Lit() != "-" {
			return nil, false
		}
		return p.input(c, in, f)
	case "echo", "printf":
		forms := values{nil}
		for _, w := range c.Args[1:] {
			forms = product(forms, p.expand(w, f))
		}
		for _, args := range forms {
			texts = append(texts, printedText(c.Args[0].Lit(), args))
		}
		return texts, true
	}
	return nil, false
}

// printedText is what echo and printf print.
func printedText(name string, args []string) string {
	for len(args) > 0 && isOneOf(args[0], "-e", "-n", "-en", "-ne", "--") {
		args = args[1:]
	}
	if name == "echo" || len(args) == 0 {
		return strings.Join(args, " ")
	}
	format := args[0]
	for _, a := range args[1:] {
		format = strings.Replace(format, "%s", a, 1)
	}
	return strings.NewReplacer(`\n`, "\n", "%s", hole, "%d", hole).Replace(format)
}
