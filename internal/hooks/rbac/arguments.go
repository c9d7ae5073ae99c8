package rbac

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// flow follows the commands below a node in their order, for the arguments that they
// have: set and shift change them.
type flow struct {
	*program
	f     *frame
	steps int
}

// most steps of a flow: with loops in loops that change the arguments there may be any
// number, and then they are not known.
const mostSteps = 10 * widest

var (
	rearranges = regexp.MustCompile(`(?:^|[\s;&|(){}])(?:set|shift|eval|source|\.)(?:$|[\s;&|(){}])`)
	// The conditions of loops over arguments, as they are printed.
	anyLeft  = regexp.MustCompile(`^(?:(?:test|\[\[?) "?\$(?:#|\{#\})"? (?:-gt 0|-ne 0|-ge 1|!= 0)(?: \]\]?)?|\(\(\$#(?: (?:>|!=) 0)?\)\))$`)
	someNext = regexp.MustCompile(`^(?:test|\[\[?) (?:-n )?"?\$(?:1|\{1:?-?\})"?(?: \]\]?)?$`)
	dashNext = regexp.MustCompile(`^\[\[ "?\$(?:1|\{1:?-?\})"? ==? -\* \]\]$`)
)

// follow notes in a frame which arguments there are at each place below a node, when
// something there changes them.
func (p *program) follow(n syntax.Node, f *frame) {
	if !p.changes(n, map[string]bool{}) {
		return
	}
	w := &flow{program: p, f: f}
	in := f.args
	if in == nil {
		in = anyArguments
	}
	f.at = map[syntax.Node]values{}
	switch x := n.(type) {
	case *syntax.File:
		w.stmts(x.Stmts, in)
	case *syntax.Stmt:
		w.stmt(x, in)
	}
	if w.steps > mostSteps {
		f.at = map[syntax.Node]values{}
	}
}

// changes reports whether something below a node may change the arguments there.
func (p *program) changes(n syntax.Node, looked map[string]bool) bool {
	found := false
	syntax.Walk(n, func(inner syntax.Node) bool {
		switch x := inner.(type) {
		case *syntax.FuncDecl:
			return found // has arguments of its own
		case *syntax.CallExpr:
			switch name, words := builtin(x); {
			case isOneOf(name, "set", "shift", "eval"):
				found = true
			case isOneOf(name, "source", ".") && len(words) > 0:
				found = found || p.sourced(words[0], looked)
			}
		}
		return !found
	})
	return found
}

// sourced reports whether a file that is sourced may change the arguments.
func (p *program) sourced(name *syntax.Word, looked map[string]bool) bool {
	for _, name := range p.expandText(name, &frame{}) {
		s, _ := p.fileNamed(name[strings.LastIndex(name, hole)+1:])
		i := slices.IndexFunc(p.scripts, func(in *script) bool { return in.Path == s.Path })
		if i < 0 || looked[s.Path] || p.scripts[i].isEngineLibrary() {
			continue
		}
		looked[s.Path] = true
		if p.changes(p.scripts[i].file, looked) {
			return true
		}
	}
	return false
}

// builtin is the name of a command with the words behind it, without what makes it be
// looked for among the shell's own.
func builtin(c *syntax.CallExpr) (name string, words []*syntax.Word) {
	words = c.Args
	for len(words) > 1 && isOneOf(words[0].Lit(), "builtin", "command") {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", nil
	}
	return words[0].Lit(), words[1:]
}

// note keeps the arguments of all below a node that asks for them.
func (w *flow) note(n syntax.Node, in values) {
	syntax.Walk(n, func(inner syntax.Node) bool {
		switch x := inner.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.CmdSubst: // a process of its own
			w.stmts(x.Stmts, in)
			return false
		case *syntax.ProcSubst:
			w.stmts(x.Stmts, in)
			return false
		case *syntax.ParamExp, *syntax.CallExpr:
			w.f.at[inner] = in
		}
		return true
	})
}

func (w *flow) stmts(all []*syntax.Stmt, in values) values {
	for _, s := range all {
		in = w.stmt(s, in)
	}
	return in
}

// stmt returns the arguments after a statement.
func (w *flow) stmt(s *syntax.Stmt, in values) values {
	if w.steps++; w.steps > mostSteps {
		return anyArguments
	}
	for _, r := range s.Redirs {
		w.note(r, in)
	}
	if s.Cmd == nil {
		return in
	}
	out := w.command(s.Cmd, in)
	if s.Background || s.Coprocess {
		return in
	}
	return out
}

func (w *flow) command(c syntax.Command, in values) values {
	switch x := c.(type) {
	case *syntax.CallExpr:
		w.note(x, in)
		return w.call(x, in)
	case *syntax.Block:
		return w.stmts(x.Stmts, in)
	case *syntax.Subshell:
		w.stmts(x.Stmts, in)
	case *syntax.IfClause:
		return w.branches(x, in)
	case *syntax.WhileClause:
		return w.while(x, in)
	case *syntax.ForClause:
		w.note(x.Loop, in)
		return w.unless(in, func(in values) values { return w.stmts(x.Do, in) })
	case *syntax.CaseClause:
		w.note(x.Word, in)
		out := in
		for _, item := range x.Items {
			for _, p := range item.Patterns {
				w.note(p, in)
			}
			out = either(out, w.stmts(item.Stmts, in))
		}
		return out
	case *syntax.BinaryCmd:
		first := w.stmt(x.X, in)
		if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
			w.stmt(x.Y, in)
			return in
		}
		return either(first, w.stmt(x.Y, first))
	case *syntax.TimeClause:
		if x.Stmt != nil {
			return w.stmt(x.Stmt, in)
		}
	default:
		w.note(x, in)
	}
	return in
}

func (w *flow) branches(x *syntax.IfClause, in values) values {
	in = w.stmts(x.Cond, in)
	out := w.stmts(x.Then, in)
	switch {
	case x.Else != nil:
		return either(out, w.branches(x.Else, in))
	case len(x.Cond) == 0: // it is an else itself
		return out
	}
	return either(in, out)
}

// while goes round as long as a condition on the arguments tells.
func (w *flow) while(x *syntax.WhileClause, in values) values {
	holds := overArguments(x)
	if holds == nil {
		return w.unless(in, func(in values) values { return w.stmts(x.Do, w.stmts(x.Cond, in)) })
	}
	var out values
	for all := in; ; {
		w.stmts(x.Cond, all)
		var entered values
		for _, args := range all {
			if len(args) > 0 && !isKnown(args[0]) {
				return w.unless(anyArguments, func(in values) values { return w.stmts(x.Do, in) })
			}
			if holds(args) {
				entered = append(entered, args)
				continue
			}
			out = append(out, args)
		}
		if len(entered) == 0 {
			return out
		}
		next := either(all, w.stmts(x.Do, entered))
		if len(next) == len(all) {
			return out.limited(false)
		}
		all, out = next, nil
	}
}

// unless is what comes of a loop of which nobody knows how often it goes round: any
// arguments, unless it leaves them alone.
func (w *flow) unless(in values, round func(values) values) values {
	if len(either(in, round(in))) == len(in) {
		return in
	}
	round(anyArguments)
	return anyArguments
}

// overArguments is the condition of a loop, when it is one on the arguments.
func overArguments(x *syntax.WhileClause) func(args []string) bool {
	var source strings.Builder
	if x.Until || len(x.Cond) != 1 || slices.ContainsFunc(x.Do, breaks) || syntax.NewPrinter().Print(&source, x.Cond[0]) != nil {
		return nil
	}
	switch text := source.String(); {
	case anyLeft.MatchString(text):
		return func(args []string) bool { return len(args) > 0 }
	case someNext.MatchString(text):
		return func(args []string) bool { return len(args) > 0 && args[0] != "" }
	case dashNext.MatchString(text):
		return func(args []string) bool { return len(args) > 0 && strings.HasPrefix(args[0], "-") }
	}
	return nil
}

// breaks reports whether a statement may end a loop, whatever the condition.
func breaks(s *syntax.Stmt) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		c, is := n.(*syntax.CallExpr)
		found = found || is && len(c.Args) > 0 && c.Args[0].Lit() == "break"
		return !found
	})
	return found
}

// either is what one of two may be.
func either(a, b values) values { return slices.Concat(a, b).limited(false) }

// call returns the arguments after a command.
func (w *flow) call(c *syntax.CallExpr, in values) values {
	name, words := builtin(c)
	switch name {
	case "set":
		var out values
		for _, form := range w.all(words) {
			given, changed := setTo(form)
			if !changed {
				out = append(out, in...)
				continue
			}
			out = append(out, given)
		}
		return out.limited(false)
	case "shift":
		return shifted(in, words)
	case "eval":
		for _, form := range w.all(words) {
			if text := strings.Join(form, " "); !isKnown(text) || rearranges.MatchString(text) {
				return anyArguments
			}
		}
	case "source", ".":
		if len(words) > 0 && w.sourced(words[0], map[string]bool{}) {
			return anyArguments
		}
	}
	return in
}

// all is what words may become. What is unknown and not in quotes may be any number.
func (w *flow) all(words []*syntax.Word) values {
	all := values{nil}
	for _, word := range words {
		v := w.expand(word, w.f)
		if slices.ContainsFunc(word.Parts, splits) {
			for i := range v {
				if !isKnown(strings.Join(v[i], "")) {
					v[i] = []string{many}
				}
			}
		}
		all = product(all, v)
	}
	return all
}

// splits reports whether a part of a word may become several.
func splits(part syntax.WordPart) bool {
	switch part.(type) {
	case *syntax.ParamExp, *syntax.CmdSubst:
		return true
	}
	return false
}

// setTo returns what set gives, or that it changes options only.
func setTo(words []string) (args []string, changed bool) {
	for len(words) > 0 {
		word := words[0]
		switch {
		case strings.HasPrefix(word, hole), strings.HasPrefix(word, "-") && !isKnown(word):
			return []string{many}, true
		case word == "--":
			return words[1:], true
		case word == "-":
			return words[1:], len(words) > 1
		case !strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "+"):
			return words, true
		}
		words = words[min(1+strings.Count(word, "o"), len(words)):] // each with a name
	}
	return nil, false
}

// shifted takes arguments away. Of fewer, none goes.
func shifted(in values, words []*syntax.Word) values {
	by := 1
	if len(words) > 0 {
		n, err := strconv.Atoi(words[0].Lit())
		if err != nil || n < 0 {
			return anyArguments
		}
		by = n
	}
	var out values
	for _, args := range in {
		switch i := slices.Index(args, many); {
		case i >= 0 && i < by:
			out = append(out, []string{many}) // it may have been none
		case by <= len(args):
			out = append(out, args[by:])
		default:
			out = append(out, args)
		}
	}
	return out.limited(false)
}
