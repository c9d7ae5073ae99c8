package rbac

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// program is a shell script with the files that it sources, or a command line.
type program struct {
	*deriver
	scripts    []*script
	functions  map[string]function
	variables  map[string][]assignment
	evaluates  bool // a command assigns variables that are unknown
	rearranged bool // a file that is sourced changes the positional arguments

	called    map[syntax.Node][]*syntax.FuncDecl
	entered   map[string]int  // kubectl calls of functions, by name and arguments
	kubectls  int             // kubectl calls so far
	resolving map[string]bool // variables whose value is being computed
	lookups   int             // since resolving was empty
	prose     bool            // the text may be no command line at all
}

// script is a file of a program.
type script struct {
	Source
	file  *syntax.File
	place *place // of a command line inside the file; nil for the file itself
}

type function struct {
	*syntax.FuncDecl
	in *script
}

// scope is where a command runs.
type scope struct {
	*program
	*script
	fn         *syntax.FuncDecl                    // nil outside of functions
	positional []string                            // the arguments of the function or script
	depth      int                                 // of calls
	input      func() (texts []string, known bool) // the standard input; nil when unknown
	sender     *syntax.Stmt                        // writes the input; nil outside of pipes
	edited     bool                                // another program may change what commands print
}

// anyArguments are arguments that are unknown.
var anyArguments = []string{wildcard}

const (
	// maxDepth and maxCalls limit how deep and how many calls are followed with their
	// arguments. Beyond them, as in a recursion, arguments count as unknown.
	maxDepth = 12
	// maxScript and maxNesting limit the shell scripts that are parsed: the stack of a
	// parser grows with each level. Larger scripts are reported.
	maxScript  = 1 << 18
	maxNesting = 1000
)

// limited returns arguments, or unknown ones when too many calls are above or before it.
func limited(args []string, depth, calls int) []string {
	if depth > maxDepth || calls > maxCalls {
		return anyArguments
	}
	return args
}

// at returns the place of a node.
func (s *scope) at(n syntax.Node) place {
	at := s.script.at(n)
	if s.fn == nil || s.place != nil {
		return at
	}
	at.heads = []int{int(s.fn.Pos().Line())}
	if block, is := s.fn.Body.Cmd.(*syntax.Block); is && len(block.Stmts) > 0 {
		at.heads = append(at.heads, int(block.Stmts[0].Pos().Line()))
	}
	return at
}

// placed returns a scope for what is at a place.
func (s *scope) placed(at place) *scope {
	inner := *s
	inner.script = &script{Source: s.Source, place: &at}
	return &inner
}

func newProgram(d *deriver) *program {
	return &program{deriver: d, functions: map[string]function{}, variables: map[string][]assignment{},
		called: map[syntax.Node][]*syntax.FuncDecl{}, entered: map[string]int{}, resolving: map[string]bool{}}
}

// start follows a hook, or a file that one starts, once for the same arguments.
func (d *deriver) start(s Source, args []string, depth int) {
	args = limited(args, depth, len(d.started))
	key := fmt.Sprintf("%s %q", s.Path, args)
	if d.started[key] {
		return
	}
	d.started[key] = true
	switch {
	case isPython(s):
		d.python(s)
		return
	case !isShell(s):
		d.find(place{file: s.Path}, ruleUnknown, "declare them with markers in a file below lib: "+exampleMarker, "%sit is neither a shell script nor Python", unknownRequests)
		return
	}
	p := newProgram(d)
	if !p.include(s) {
		return
	}
	p.rearranged = slices.ContainsFunc(p.scripts[1:], func(in *script) bool { return !in.isEngineLibrary() && rearranges(in.file) })
	for i, in := range p.scripts {
		own := &scope{program: p, script: in, positional: anyArguments, depth: depth}
		if i == 0 && !p.rearranged && !rearranges(in.file) {
			own.positional = args
		}
		own.walk(in.file)
	}
	for _, name := range p.functionNames() {
		if isHandler(name) {
			p.enter(name, anyArguments, depth)
		}
	}
}

// isHandler reports whether hook::run calls a function.
func isHandler(name string) bool { return strings.HasPrefix(name, "__") && name != "__main" }

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

func isOneOf[T comparable](value T, values ...T) bool { return slices.Contains(values, value) }

func parseShell(text, name string) (*syntax.File, error) {
	depth, deepest := 0, 0
	for _, r := range text {
		switch r {
		case '(', '{':
			depth++
			deepest = max(depth, deepest)
		case ')', '}':
			depth = max(0, depth-1)
		}
	}
	if len(text) > maxScript || deepest > maxNesting {
		return nil, fmt.Errorf("it is larger than %d KiB or nested deeper than %d levels", maxScript>>10, maxNesting)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), name)
	if err != nil {
		return nil, fmt.Errorf("it is not valid bash: %s", strings.TrimPrefix(err.Error(), name+":"))
	}
	return file, nil
}

// include reads a script and the files that it sources.
func (p *program) include(s Source) bool {
	if slices.ContainsFunc(p.scripts, func(in *script) bool { return in.Path == s.Path }) {
		return true
	}
	file, err := parseShell(string(s.Text), s.Path)
	if err != nil {
		p.find(place{file: s.Path}, ruleUnknown, "", "%s%v", unknownRequests, err)
		return false
	}
	in := &script{Source: s, file: file}
	p.scripts = append(p.scripts, in)
	p.declare(file, in, nil)
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is && len(c.Args) > 1 && isOneOf(c.Args[0].Lit(), "source", ".") {
			p.source(in, c)
		}
		return true
	})
	return true
}

// source includes the file that a command names.
func (p *program) source(in *script, c *syntax.CallExpr) {
	for _, name := range (&scope{program: p, script: in, positional: anyArguments}).texts(c.Args[1], expand.Literal) {
		if s, found := p.fileNamed(name); found {
			p.include(s)
		} else if path.Base(name) != engineLibrary && !in.isEngineLibrary() { // the engine has its own, which calls no API
			p.find(in.at(c), ruleUnknown, "", "%sit sources a file that is not among the hooks' files: %s", unknownRequests, shown(name))
		}
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
	return place{file: s.Path, line: int(n.Pos().Line()), column: int(n.Pos().Col())}
}

// fileNamed finds a file by the end of its path that is known: scripts name others by
// their path in an image.
func (d *deriver) fileNamed(name string) (Source, bool) {
	if i := strings.LastIndexAny(name, unknown+wildcard); i >= 0 {
		name = name[i+len(unknown):]
	}
	if name == "" || strings.HasSuffix(name, "/") {
		return Source{}, false
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for found := name != ""; found; _, name, found = strings.Cut(name, "/") {
		for _, s := range d.sources() {
			if s.Path == name || strings.HasSuffix(s.Path, "/"+name) {
				return s, true
			}
		}
	}
	return Source{}, false
}

var (
	rearranging = lazyregexp.New(`\b(?:set|shift)\b`)
	setOptions  = lazyregexp.New(`^set(?: [-+][a-zA-Z]*o [a-z]+| [-+][a-np-zA-Z]+)*$`)
)

// rearranges reports whether commands outside of inner functions change the positional
// arguments, which are then unknown.
func rearranges(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(inner syntax.Node) bool {
		switch x := inner.(type) {
		case *syntax.FuncDecl:
			return false
		case *syntax.CallExpr:
			if len(x.Args) > 0 && isOneOf(x.Args[0].Lit(), "set", "shift", "eval", "builtin", "command") {
				text := source(x)
				found = found || rearranging().MatchString(text) && !setOptions().MatchString(text)
			}
		}
		return !found
	})
	return found
}
