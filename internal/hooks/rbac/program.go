package rbac

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/syntax"
)

// program is a shell script with the files that it sources, or a command line.
type program struct {
	*deriver
	scripts    []*script
	functions  map[string]*function
	variables  map[string][]assignment
	evaluates  bool // eval may assign any variable
	sourcesSet bool // a file that is sourced changes the positional arguments

	entered   map[string]int  // kubectl calls of functions, by name and arguments
	kubectls  int             // kubectl calls so far
	resolving map[string]bool // variables whose value is being computed
	lookups   int             // since resolving was empty
	prose     bool            // the text may be no command line at all
}

// script is a file of a program.
type script struct {
	Source
	file    *syntax.File
	parents map[syntax.Node]syntax.Node
	place   *place // of a command line inside the file; nil for the file itself
}

type function struct {
	decl *syntax.FuncDecl
	in   *script
}

const (
	// maxDepth and maxCalls limit how deep and how many calls are followed with their
	// arguments. Beyond them, as in a recursion, arguments count as unknown.
	maxDepth = 12
	maxCalls = 1000
)

// frame is a call of a function or a script.
type frame struct {
	fn    *function // nil outside of functions
	args  values    // nil when unknown
	depth int
}

// call returns the frame of a callee.
func (f *frame) call(args values) *frame { return &frame{args: args, depth: f.depth + 1} }

// limited returns a frame without arguments when too many calls are above or before it.
func (f *frame) limited(calls int) *frame {
	if f.depth > maxDepth || calls > maxCalls {
		return &frame{depth: f.depth}
	}
	return f
}

func (f *frame) key(name string) string { return fmt.Sprintf("%s %q", name, f.args) }

func newProgram(d *deriver) *program {
	return &program{deriver: d, functions: map[string]*function{}, variables: map[string][]assignment{},
		entered: map[string]int{}, resolving: map[string]bool{}}
}

// start follows a hook, or a file that one starts, once for the same arguments.
func (d *deriver) start(s Source, f *frame) {
	f = f.limited(len(d.started))
	key := f.key(s.Path)
	if d.started[key] {
		return
	}
	d.started[key] = true
	switch {
	case isPython(s):
		d.python(s)
		return
	case !isShell(s):
		d.find(place{file: s.Path}, RuleUnknown, "declare them with markers in a file below lib: "+exampleMarker, "%sit is neither a shell script nor Python", unknownRequests)
		return
	}
	p := newProgram(d)
	if !p.include(s) {
		return
	}
	p.sourcesSet = slices.ContainsFunc(p.scripts[1:], func(in *script) bool { return !in.isEngineLibrary() && p.rearranges(in.file) })
	for _, in := range p.scripts {
		own := &frame{depth: f.depth}
		if in.Path == s.Path && !p.rearranges(in.file) {
			own.args = f.args
		}
		p.walk(in.file, in, own)
	}
	for _, name := range p.functionNames() {
		if strings.HasPrefix(name, "__") && name != "__main" { // hook::run calls them
			p.enter(name, f.call(nil))
		}
	}
}

// functionNames are sorted: which call of a function comes first must not depend on
// chance.
func (p *program) functionNames() []string { return slices.Sorted(maps.Keys(p.functions)) }

func isShell(s Source) bool  { return isWritten(s, "sh", ".sh", ".bash") }
func isPython(s Source) bool { return isWritten(s, "python", ".py") }

func isWritten(s Source, interpreter string, extensions ...string) bool {
	first, _, _ := bytes.Cut(s.Text, []byte("\n"))
	if bytes.HasPrefix(first, []byte("#!")) {
		return bytes.Contains(first, []byte(interpreter))
	}
	return isOneOf(path.Ext(s.Path), extensions...)
}

func isOneOf(word string, words ...string) bool { return slices.Contains(words, word) }

func parseShell(text, name string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), name)
}

// include reads a script and what it sources.
func (p *program) include(s Source) bool {
	if slices.ContainsFunc(p.scripts, func(in *script) bool { return in.Path == s.Path }) {
		return true
	}
	file, err := parseShell(string(s.Text), s.Path)
	if err != nil {
		p.find(place{file: s.Path}, RuleUnknown, "", "%sit is not valid bash: %s", unknownRequests, strings.TrimPrefix(err.Error(), s.Path+":"))
		return false
	}
	in := &script{Source: s, file: file}
	p.declare(in)
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is && len(c.Args) > 1 && isOneOf(c.Args[0].Lit(), "source", ".") {
			p.source(in, c)
		}
		return true
	})
	return true
}

// commandLine follows a text that a command or a Python program runs in a shell. It
// knows neither arguments nor variables of what runs it.
func (p *program) commandLine(text string, at place, in Source, prose bool) error {
	file, err := parseShell(placeholders(text), "")
	if err != nil {
		return err
	}
	inner := newProgram(p.deriver)
	inner.prose = prose
	own := &script{Source: in, file: file, place: &at}
	inner.declare(own)
	inner.walk(file, own, &frame{})
	p.kubectls += inner.kubectls
	return nil
}

// source includes the file that a command names.
func (p *program) source(in *script, c *syntax.CallExpr) {
	for _, name := range p.expandText(c.Args[1], &frame{}) {
		known := name[strings.LastIndex(name, unknown)+1:]
		if path.Base(known) == engineLibrary && !slices.ContainsFunc(p.Library, func(s Source) bool { return path.Base(s.Path) == engineLibrary }) {
			continue // the engine has its own, which calls no API
		}
		if s, found := p.fileNamed(known); found {
			p.include(s)
			continue
		}
		if in.isEngineLibrary() {
			continue
		}
		p.find(in.at(c), RuleUnknown, "", "%sit sources a file that is not among the hooks' files: %s", unknownRequests, shown(name))
	}
}

const engineLibrary = "shell_lib.sh"

// isEngineLibrary reports whether a script is the library of shell hooks, which sources
// and calls what hooks name.
func (s *script) isEngineLibrary() bool { return path.Base(s.Path) == engineLibrary }

func (s *script) at(n syntax.Node) place {
	if s.place != nil {
		return *s.place
	}
	return place{s.Path, int(n.Pos().Line()), int(n.Pos().Col())}
}

// fileNamed finds a file by the end of its path: scripts name others by their path in
// an image.
func (d *deriver) fileNamed(name string) (Source, bool) {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for found := name != "" && name != "."; found; _, name, found = strings.Cut(name, "/") {
		for _, s := range d.sources() {
			if s.Path == name || strings.HasSuffix(s.Path, "/"+name) {
				return s, true
			}
		}
	}
	return Source{}, false
}

// declare records the functions and variables of a script, and the parents of nodes.
func (p *program) declare(in *script) {
	p.scripts = append(p.scripts, in)
	in.parents = map[syntax.Node]syntax.Node{}
	var stack []syntax.Node
	var fns []*function
	syntax.Walk(in.file, func(n syntax.Node) bool {
		if n == nil {
			if _, is := stack[len(stack)-1].(*syntax.FuncDecl); is {
				fns = fns[:len(fns)-1]
			}
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			in.parents[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		if d, is := n.(*syntax.FuncDecl); is {
			fn := &function{d, in}
			if d.Name != nil { // the parser accepts functions without a name, bash does not
				p.functions[d.Name.Value] = fn
			}
			fns = append(fns, fn)
		}
		if len(fns) > 0 {
			p.recordVariables(n, fns[len(fns)-1])
		} else {
			p.recordVariables(n, nil)
		}
		return true
	})
}

// rearranges reports whether commands outside of inner functions change the positional
// arguments, which are then unknown.
func (p *program) rearranges(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(inner syntax.Node) bool {
		switch x := inner.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.CallExpr:
			switch name, words := builtin(x); name {
			case "shift":
				found = true
			case "eval":
				found = found || slices.ContainsFunc(words, mentionsSet)
			case "source", ".":
				found = found || p.sourcesSet
			case "set":
				found = found || setsArguments(words)
			}
		}
		return !found
	})
	return found
}

var setWord = lazyregexp.New(`\b(?:set|shift)\b`)

// mentionsSet reports whether a word that eval runs has set or shift in it.
func mentionsSet(w *syntax.Word) bool {
	var source strings.Builder
	return syntax.NewPrinter().Print(&source, w) != nil || setWord().MatchString(source.String())
}

// setsArguments reports whether set has more arguments than options.
func setsArguments(words []*syntax.Word) bool {
	for i := 0; i < len(words); i++ {
		option := words[i].Lit()
		if len(option) < 2 || option == "--" || option[0] != '-' && option[0] != '+' {
			return true
		}
		i += strings.Count(option, "o") // each has a name
	}
	return false
}

// enter follows a function once for the same arguments, and reports whether it did.
func (p *program) enter(name string, f *frame) bool {
	fn := p.functions[name]
	if fn == nil {
		return false
	}
	f = f.limited(len(p.entered))
	own := &frame{fn: fn, args: f.args, depth: f.depth}
	if p.rearranges(fn.decl.Body) {
		own.args = nil
	}
	key := own.key(name)
	if calls, done := p.entered[key]; done {
		p.kubectls += calls
		return false
	}
	p.entered[key] = 0
	before := p.kubectls
	p.walk(fn.decl.Body, fn.in, own)
	p.entered[key] = p.kubectls - before
	return true
}

// walk follows the commands below a node, but not into functions: calls enter them.
func (p *program) walk(n syntax.Node, in *script, f *frame) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.CallExpr:
			for _, args := range p.forms(x, f) {
				p.call(invocation{args, x, in, f})
			}
		case *syntax.Stmt:
			p.writesPatch(x, in, f)
		}
		return true
	})
}

// forms are what the words of a command may expand to.
func (p *program) forms(c *syntax.CallExpr, f *frame) values {
	all := values{nil}
	for _, w := range c.Args {
		all = product(all, p.expand(w, f))
	}
	return all
}
