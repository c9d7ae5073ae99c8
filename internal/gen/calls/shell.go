package calls

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unit is a recipe or a script: commands that run one after the other.
type unit struct {
	*finder
	calls []int // indexes of the calls so far
	steps int
	depth int // of scripts that run scripts
}

// shell is the state of a shell: its folder and its variables.
type shell struct {
	*unit
	file  string // relative to the root
	line  int    // of the start of the text
	dir   string // absolute; it has an unknown part if the shell changed to an unknown folder
	vars  map[string]string
	args  []string // $0, $1 and so on; nil if they are unknown
	funcs map[string]*syntax.Stmt
}

// mayCall reports whether a text may run controller-gen, or a file that does.
func mayCall(text string) bool {
	for _, sign := range []string{program, ".sh", "hack/", "make "} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// newShell returns a shell for a text that starts in a line of a file.
func (u *unit) newShell(file string, line int, dir string, args []string) *shell {
	return &shell{unit: u, file: file, line: line, dir: dir, args: args, vars: map[string]string{}, funcs: map[string]*syntax.Stmt{}}
}

// parse parses a text of the shell.
func parse(text string) ([]*syntax.Stmt, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	return file.Stmts, nil
}

// run adds the calls in a text that one shell runs, which starts in a folder.
func (u *unit) run(text, file string, line int, dir string) {
	if !mayCall(text) && len(u.calls) == 0 {
		return
	}
	s := u.newShell(file, line, dir, []string{"sh"})
	parsed, err := parse(text)
	if err != nil {
		s.unparsed(text)
		return
	}
	s.stmts(parsed)
}

// unparsed adds an unclear call if a text that is not valid seems to have one.
func (s *shell) unparsed(text string) {
	if words := strings.Fields(text); strings.Contains(text, program) && slices.ContainsFunc(words, argLike().MatchString) {
		s.found(Call{File: s.file, Line: s.line, Dir: s.dir, Unclear: "the syntax of the command"})
	}
}

// script adds the calls in a script of the project. args are $0, $1 and so on.
func (u *unit) script(name, dir string, args []string) {
	key := name + "\x00" + dir + "\x00" + strings.Join(args, "\x00")
	text, ok := u.read(name)
	if !ok || u.ran[key] || u.depth > maxDepth || !mayCall(text) || isBinary(text) {
		return
	}
	u.ran[key], u.ran[name] = true, true
	for i, line := range strings.Split(text, "\n") {
		u.pinned(command{file: rel(name), line: i + 1, text: line})
	}
	s := u.newShell(rel(name), 1, dir, args)
	parsed, err := parse(text)
	if err != nil {
		for i, line := range strings.Split(text, "\n") {
			s.line = i + 1
			s.unparsed(line)
		}
		return
	}
	u.depth++
	s.stmts(parsed)
	u.depth--
}

func isBinary(text string) bool { return strings.ContainsRune(text[:min(len(text), 512)], 0) }

// scripts adds the calls in those scripts that nothing else runs.
func (f *finder) scripts(names []string) {
	for _, name := range names {
		file := path.Join(Root, name)
		if path.Ext(name) == ".sh" && !f.ran[file] {
			u := &unit{finder: f}
			u.script(file, Root, nil)
		}
	}
}

func (s *shell) stmts(list []*syntax.Stmt) {
	for _, stmt := range list {
		s.stmt(stmt)
	}
}

func (s *shell) stmt(stmt *syntax.Stmt) {
	if s.steps++; s.steps > 10*limit {
		return
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		s.simple(cmd, stmt.Redirs)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
			s.copy().stmt(cmd.X)
			s.copy().stmt(cmd.Y)
			break
		}
		s.stmt(cmd.X)
		s.stmt(cmd.Y)
	case *syntax.Block:
		s.stmts(cmd.Stmts)
	case *syntax.Subshell:
		s.copy().stmts(cmd.Stmts)
	case *syntax.IfClause:
		for c := cmd; c != nil; c = c.Else {
			s.stmts(c.Cond)
			s.maybe(c.Then)
		}
	case *syntax.WhileClause:
		s.maybe(cmd.Do)
	case *syntax.ForClause:
		s.loop(cmd)
	case *syntax.CaseClause:
		for _, item := range cmd.Items {
			s.maybe(item.Stmts)
		}
	case *syntax.FuncDecl:
		s.funcs[cmd.Name.Value] = cmd.Body
	case *syntax.DeclClause:
		s.assign(cmd.Args)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			s.stmt(cmd.Stmt)
		}
	}
	if _, isSimple := stmt.Cmd.(*syntax.CallExpr); !isSimple {
		s.redirected(stmt)
	}
}

// copy returns the state of a subshell.
func (s *shell) copy() *shell {
	c := *s
	c.vars, c.funcs = maps.Clone(s.vars), maps.Clone(s.funcs)
	return &c
}

// maybe runs commands that may or may not run. Variables that they change are unknown.
func (s *shell) maybe(list []*syntax.Stmt) {
	c := s.copy()
	c.stmts(list)
	for name, value := range c.vars {
		if was, set := s.vars[name]; !set || was != value {
			if !set && (name == "" || value == "") {
				continue
			}
			s.vars[name] = s.unknown("$" + name + ", which is set in a condition")
		}
	}
	maps.Copy(s.funcs, c.funcs)
	if c.dir != s.dir {
		s.dir = s.unknown("its folder, which is set in a condition")
	}
}

// loop runs the body for each word of a list. If the list is unknown or empty, the variable is
// unknown.
func (s *shell) loop(cmd *syntax.ForClause) {
	iter, ok := cmd.Loop.(*syntax.WordIter)
	if !ok {
		s.maybe(cmd.Do)
		return
	}
	items, err := s.fields(iter.Items)
	if err != nil || len(items) == 0 {
		items = []string{s.unknown("$" + iter.Name.Value)}
	}
	for _, item := range items {
		s.vars[iter.Name.Value] = item
		s.stmts(cmd.Do)
	}
}
