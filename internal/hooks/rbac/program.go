package rbac

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// program is a hook with all that it sources, as far as it can be known without
// running it.
type program struct {
	*deriver
	scripts   []*script
	functions map[string]*function
	scope
	looking map[string]bool // variables that are being looked up
	lookups int             // since none was
	ran     map[string]bool // functions with their arguments, and texts
	calling map[string]bool // of these functions, those in which kubectl was called
	calls   int             // of kubectl, as yet
	texts   int             // that were run, as yet
}

// script is a file of a program.
type script struct {
	Source
	file    *syntax.File
	parents map[syntax.Node]syntax.Node
}

type function struct {
	decl   *syntax.FuncDecl
	in     *script
	filled map[string]bool // its locals that a bare declaration leaves without a value for nobody to see
}

// program allows what a hook does when it runs.
func (d *deriver) program(s Source) { d.start(s, &frame{}) }

// start is program for one that is called with arguments. It is looked at once with the
// same.
func (d *deriver) start(s Source, f *frame) {
	f = f.bounded(len(d.started))
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
		d.find(place{file: s.Path}, RuleUnseen, "say what it needs with markers in a file below lib, such as # "+markerName+":groups=...",
			"it is neither a shell script nor Python, so what it does cannot be seen")
		return
	}
	p := &program{deriver: d, functions: map[string]*function{}, scope: newScope(), looking: map[string]bool{}, ran: map[string]bool{}, calling: map[string]bool{}}
	if !p.include(s) {
		return
	}
	for _, in := range p.scripts {
		own := &frame{deep: f.deep}
		if in.Path == s.Path {
			own.args = f.args
		}
		p.run(in.file, in, own)
	}
	for _, name := range p.functionNames() {
		if strings.HasPrefix(name, "__") && name != "__main" { // hook::run calls them
			p.enter(name, f.unknown())
		}
	}
}

// functionNames are those of all functions, in order: which call of a function comes
// first must not be up to chance.
func (p *program) functionNames() []string { return slices.Sorted(maps.Keys(p.functions)) }

func isShell(s Source) bool {
	first, _, _ := bytes.Cut(s.Text, []byte("\n"))
	if bytes.HasPrefix(first, []byte("#!")) {
		return bytes.Contains(first, []byte("sh"))
	}
	return slices.Contains([]string{".sh", ".bash"}, path.Ext(s.Path))
}

func isPython(s Source) bool {
	first, _, _ := bytes.Cut(s.Text, []byte("\n"))
	if bytes.HasPrefix(first, []byte("#!")) {
		return bytes.Contains(first, []byte("python"))
	}
	return path.Ext(s.Path) == ".py"
}

// include reads a script, and what it sources.
func (p *program) include(s Source) bool {
	if slices.ContainsFunc(p.scripts, func(in *script) bool { return in.Path == s.Path }) {
		return true
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(bytes.NewReader(s.Text), s.Path)
	if err != nil {
		p.find(place{file: s.Path}, RuleUnseen, "", "it does not parse as bash, so what it does cannot be seen: %s", strings.TrimPrefix(err.Error(), s.Path+":"))
		return false
	}
	in := &script{Source: s, file: file, parents: map[syntax.Node]syntax.Node{}}
	p.scripts = append(p.scripts, in)
	p.declare(in)
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is && len(c.Args) > 1 && slices.Contains([]string{"source", "."}, c.Args[0].Lit()) {
			p.source(in, c)
		}
		return true
	})
	return true
}

// source includes the file that a command names.
func (p *program) source(in *script, c *syntax.CallExpr) {
	for _, name := range p.expandText(c.Args[1], &frame{}) {
		known := name[strings.LastIndex(name, hole)+1:]
		if path.Base(known) == "shell_lib.sh" && !slices.ContainsFunc(p.Library, func(s Source) bool { return path.Base(s.Path) == "shell_lib.sh" }) {
			continue // the engine's own, which changes nothing on a cluster
		}
		if s, found := p.fileNamed(known); found {
			p.include(s)
			continue
		}
		if in.isEngineLibrary() {
			continue
		}
		p.find(in.at(c), RuleUnseen, "", "what it sources is not among the hooks' files, so what that does cannot be seen: %s", shown(name))
	}
}

// isEngineLibrary reports whether a script is the library of hooks, which sources
// and calls what it is told to.
func (s *script) isEngineLibrary() bool { return path.Base(s.Path) == "shell_lib.sh" }

// fileNamed finds a file by the end of its path: scripts name others relative to
// where they are in an image.
func (p *program) fileNamed(name string) (Source, bool) {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for name != "" && name != "." {
		for _, s := range p.sources() {
			if s.Path == name || strings.HasSuffix(s.Path, "/"+name) {
				return s, true
			}
		}
		_, rest, found := strings.Cut(name, "/")
		if !found {
			break
		}
		name = rest
	}
	return Source{}, false
}

// declare notes the functions and variables of a script, and what is in what.
func (p *program) declare(in *script) {
	visit(in.file, func(n syntax.Node, stack []syntax.Node) {
		if len(stack) > 0 {
			in.parents[n] = stack[len(stack)-1]
		}
		fn := p.functionOf(stack)
		switch x := n.(type) {
		case *syntax.FuncDecl:
			if x.Name != nil { // the parser lets some without a name pass, bash none
				p.functions[x.Name.Value] = &function{x, in, map[string]bool{}}
			}
		case *syntax.Block:
			if fn != nil {
				fn.fill(x)
			}
		}
		p.note(n, fn)
	})
}

// visit calls for all nodes, with those on the way.
func visit(n syntax.Node, call func(n syntax.Node, stack []syntax.Node)) {
	var stack []syntax.Node
	syntax.Walk(n, func(n syntax.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		call(n, stack)
		stack = append(stack, n)
		return true
	})
}

// functionOf is the innermost function on the way to a node.
func (p *program) functionOf(stack []syntax.Node) *function {
	for _, n := range slices.Backward(stack) {
		if f, is := n.(*syntax.FuncDecl); is && f.Name != nil {
			return p.functions[f.Name.Value]
		}
	}
	return nil
}

func (s *script) at(n syntax.Node) place {
	return place{s.Path, int(n.Pos().Line()), int(n.Pos().Col())}
}

// enter runs a function once for each list of arguments, and reports whether it did.
// A call of kubectl in it counts each time.
func (p *program) enter(name string, f *frame) bool {
	fn := p.functions[name]
	f = f.bounded(len(p.ran))
	key := f.key(name)
	if p.calling[key] {
		p.calls++
	}
	if fn == nil || p.ran[key] {
		return false
	}
	p.ran[key] = true
	before := p.calls
	p.run(fn.decl.Body, fn.in, &frame{fn: fn, args: f.args, deep: f.deep})
	p.calling[key] = p.calls > before
	return true
}

// run looks at every command below a node, but not into functions: these are
// entered when something calls them.
func (p *program) run(n syntax.Node, in *script, f *frame) {
	p.follow(n, f)
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.CallExpr:
			p.simple(x, in, f)
		case *syntax.Stmt:
			p.writesPatch(x, in, f)
		}
		return true
	})
}

// simple looks at a command in all its forms.
func (p *program) simple(c *syntax.CallExpr, in *script, f *frame) {
	if len(c.Args) == 0 {
		return
	}
	for _, args := range p.forms(c, f) {
		p.call(args, c, in, f)
	}
}

// forms are what the words of a command may become.
func (p *program) forms(c *syntax.CallExpr, f *frame) values {
	all := values{nil}
	for _, w := range c.Args {
		all = product(all, p.expand(w, f))
	}
	return all
}

// shown is a value for a person: what is not known is dots.
func shown(value string) string {
	return strings.ReplaceAll(strings.ReplaceAll(value, many, "..."), hole, "...")
}
