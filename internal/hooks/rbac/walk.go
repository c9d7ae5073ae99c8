package rbac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// enter follows a function once for the same arguments, and reports whether it did.
func (p *program) enter(name string, args []string, depth int) bool {
	fn, found := p.functions[name]
	if !found {
		return false
	}
	args = limited(args, depth, len(p.entered))
	if p.rearranged || rearranges(fn.Body) {
		args = anyArguments
	}
	key := fmt.Sprintf("%s %q", name, args)
	if calls, done := p.entered[key]; done {
		p.kubectls += calls
		return false
	}
	p.entered[key] = 0
	before := p.kubectls
	(&scope{program: p, script: fn.in, fn: fn.FuncDecl, positional: args, depth: depth}).walk(fn.Body)
	p.entered[key] = p.kubectls - before
	return true
}

// walk follows the commands below a node, but not into functions: calls enter them.
func (s *scope) walk(n syntax.Node) {
	syntax.Walk(n, func(inner syntax.Node) bool {
		switch x := inner.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.CmdSubst:
			for _, stmt := range x.Stmts {
				s.withInput(nil).walk(stmt)
			}
			return false
		case *syntax.BinaryCmd:
			if x.Op != syntax.Pipe && x.Op != syntax.PipeAll {
				return true
			}
			sender := *s
			sender.edited = s.edited || s.edits(x.Y)
			sender.walk(x.X)
			inner := s.withInput(func() ([]string, bool) { return s.output(x.X) })
			inner.sender = x.X
			inner.walk(x.Y)
			return false
		case *syntax.Stmt:
			s.patches(x)
			if len(x.Redirs) > 0 {
				s.redirected(x)
				return false
			}
		case *syntax.CallExpr:
			for _, args := range s.fields(x.Args...) {
				invocation{s, x, args}.call()
			}
		}
		return true
	})
}

func (s *scope) withInput(input func() ([]string, bool)) *scope {
	inner := *s
	inner.input, inner.sender = input, nil
	return &inner
}

// redirected follows a statement whose input may be a here-document.
func (s *scope) redirected(stmt *syntax.Stmt) {
	inner := s
	for _, r := range stmt.Redirs {
		switch {
		case isHereDocument(r):
			inner = s.withInput(func() ([]string, bool) { return s.hereDocument(r), true })
		case r.Op == syntax.RdrIn:
			inner = s.withInput(nil)
		}
		s.walk(r.Word)
		if r.Hdoc != nil {
			s.walk(r.Hdoc)
		}
	}
	if stmt.Cmd != nil {
		inner.walk(stmt.Cmd)
	}
}

func isHereDocument(r *syntax.Redirect) bool {
	return isOneOf(r.Op, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc)
}

// hereDocument returns what a here-document or a here-string may be.
func (s *scope) hereDocument(r *syntax.Redirect) []string {
	switch {
	case r.Op == syntax.WordHdoc:
		return s.texts(r.Word, expand.Literal)
	case r.Hdoc == nil:
		return []string{""}
	}
	texts := s.texts(r.Hdoc, expand.Document)
	if r.Op == syntax.DashHdoc {
		for i, t := range texts {
			texts[i] = indentation().ReplaceAllString(t, "")
		}
	}
	return texts
}

var indentation = lazyregexp.New(`(?m)^\t+`)

// output returns what a statement may print, and whether that is known.
func (s *scope) output(stmt *syntax.Stmt) (texts []string, known bool) {
	c, is := stmt.Cmd.(*syntax.CallExpr)
	if !is {
		return nil, false
	}
	for _, args := range s.fields(c.Args...) {
		text, known := "", len(args) > 0
		switch {
		case !known:
		case isKubectl(args[0]):
			text, known = s.printedByKubectl(args)
		case args[0] == "cat" && (len(args) == 1 || args[1] == "-"):
			for _, r := range stmt.Redirs {
				if isHereDocument(r) {
					return s.hereDocument(r), true
				}
			}
			if s.input != nil && len(stmt.Redirs) == 0 {
				return s.input()
			}
			return nil, false
		case args[0] == "echo" || args[0] == "printf":
			text = printedText(args)
		case (invocation{s, c, args}).isJQ():
			printed, all := (invocation{s, c, args}).printedByJQ()
			if texts = append(texts, printed...); !all {
				return texts, false
			}
			continue
		default:
			known = false
		}
		if !known {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

// verb is a verb of printf.
var verb = lazyregexp.New(`%(?:%|[-+ #0-9.]*[a-zA-Z*])`)

// printedText is what echo and printf print. printf repeats its format while it has
// arguments.
func printedText(args []string) string {
	name, args := args[0], args[1:]
	for len(args) > 0 && isOneOf(args[0], "-e", "-n", "-en", "-ne", "--") {
		args = args[1:]
	}
	if name == "echo" || len(args) == 0 {
		return strings.Join(args, " ")
	}
	format, args, used := args[0], args[1:], 0
	var text strings.Builder
	for more := true; more; more = used > 0 && used < len(args) {
		before := used
		text.WriteString(verb().ReplaceAllStringFunc(format, func(v string) string {
			if v == "%%" {
				return "%"
			}
			used++
			switch {
			case slices.Contains(args[:min(used, len(args))], wildcard):
				return wildcard
			case v == "%s" && used <= len(args):
				return args[used-1]
			}
			return unknown
		}))
		if used == before || text.Len() > maxLength || slices.Contains(args[:min(used, len(args))], wildcard) {
			break
		}
	}
	if used > 0 && (used < len(args) || slices.Contains(args, wildcard)) {
		text.WriteString(wildcard)
	}
	return strings.ReplaceAll(text.String(), `\n`, "\n")
}

// mentions reports whether a text passes a test: one below a node, in the variables
// there, or in the functions that are called. The name of a variable counts, too, with
// its $.
func (p *program) mentions(n syntax.Node, test func(string) bool) bool {
	return p.mentionsUnseen(n, test, map[string]bool{})
}

func (p *program) mentionsUnseen(n syntax.Node, test func(string) bool, seen map[string]bool) bool {
	found := false
	first := func(name string) bool {
		was := seen[name]
		seen[name] = true
		return !was
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Lit:
			found = found || test(x.Value)
		case *syntax.SglQuoted:
			found = found || test(x.Value)
		case *syntax.CallExpr:
			if len(x.Args) > 0 {
				name := x.Args[0].Lit()
				if fn, is := p.functions[name]; is && first(name) {
					found = found || p.mentionsUnseen(fn.Body, test, seen)
				}
			}
		case *syntax.ParamExp:
			if x.Param != nil && first("$"+x.Param.Value) {
				found = found || test("$"+x.Param.Value)
				for _, a := range p.variables[x.Param.Value] {
					found = found || slices.ContainsFunc(a.words, func(w *syntax.Word) bool { return p.mentionsUnseen(w, test, seen) })
				}
			}
		}
		return !found
	})
	return found
}

// patchPath is the environment variable with the path of the file for patch operations.
const patchPath = "KUBERNETES_PATCH_PATH"

// patches allows the patch operations in the here-documents of a statement; commands
// that print others are followed themselves. It reports a statement that writes the
// file for patch operations and shows none.
func (s *scope) patches(stmt *syntax.Stmt) {
	var targets []*syntax.Word
	for _, r := range stmt.Redirs {
		if isHereDocument(r) {
			for _, text := range s.hereDocument(r) {
				invocation{s.placed(s.at(r)), nil, nil}.operationsIn(text)
			}
		} else if r.Op != syntax.RdrIn {
			targets = append(targets, r.Word)
		}
	}
	if c, is := stmt.Cmd.(*syntax.CallExpr); is && len(c.Args) > 0 && !isOneOf(c.Args[0].Lit(), printers...) {
		targets = append(targets, c.Args[1:]...)
	}
	isPath := func(text string) bool { return text == "$"+patchPath }
	for _, w := range targets {
		if s.mentions(w, isPath) && !s.mentions(stmt, hasOperation) && (s.sender == nil || !s.mentions(s.sender, hasOperation)) {
			s.reportUnknown(s.Source, s.at(stmt), "the script does not show the patch operations")
			return
		}
	}
}
