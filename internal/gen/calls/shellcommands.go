package calls

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign sets variables, as the shell does for NAME=value.
func (s *shell) assign(list []*syntax.Assign) {
	for _, a := range list {
		if a.Name == nil || a.Naked {
			continue
		}
		value := ""
		if a.Value != nil {
			value = s.literal(a.Value)
		}
		switch {
		case a.Array != nil || a.Index != nil:
			value = s.unknown("the array $" + a.Name.Value)
		case a.Append:
			value = s.vars[a.Name.Value] + value
		}
		s.vars[a.Name.Value] = value
	}
}

// simple runs a command with arguments.
func (s *shell) simple(cmd *syntax.CallExpr, redirs []*syntax.Redirect) {
	if len(cmd.Args) == 0 {
		s.assign(cmd.Assigns)
		return
	}
	words, err := s.fields(cmd.Args)
	line := s.at(cmd)
	if err != nil {
		words = s.roughly(cmd.Args)
	}
	if len(words) == 0 {
		return
	}
	if len(cmd.Assigns) > 0 {
		s = s.copy()
		s.assign(cmd.Assigns)
	}
	s.command(words, line)
	s.changed(words, redirs, line)
}

// at returns the line of a node.
func (s *shell) at(node syntax.Node) int {
	return s.line + int(node.Pos().Line()) - 1 //nolint:gosec // a line number
}

// command runs the words of a command.
func (s *shell) command(words []string, line int) {
	if body := s.funcs[words[0]]; body != nil {
		args := s.args
		s.args = append([]string{s.arg0()}, words[1:]...)
		delete(s.funcs, words[0]) // what calls itself runs once
		s.stmt(body)
		s.funcs[words[0]], s.args = body, args
		return
	}
	switch words[0] {
	case "cd", "pushd":
		s.dir = s.folder(words[1:])
		return
	case "bash", "sh", "source", ".", "exec", "env", "command", "time", "sudo", "xargs":
		rest := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") || envAssignment().MatchString(w) })
		if i := slices.Index(words, "-c"); i > 0 && i+1 < len(words) {
			s.nested(words[i+1], line)
			return
		}
		if len(rest) > 0 {
			s.command(rest, line)
		}
		return
	case "make", "gmake":
		s.make(words[1:])
		return
	}
	if call, ok := s.callIn(words); ok {
		call.File, call.Line, call.Dir = s.file, line, s.dir
		if why := s.reason(s.dir); why != "" && call.Unclear == "" {
			call.Unclear = why
		}
		s.found(call)
		return
	}
	if file := s.abs(words[0]); strings.Contains(words[0], "/") || path.Ext(words[0]) == ".sh" {
		s.script(file, s.dir, append([]string{file}, words[1:]...))
	}
}

// nested runs the text of sh -c.
func (s *shell) nested(text string, line int) {
	inner := s.copy()
	inner.line = line
	parsed, err := parse(text)
	if err != nil {
		inner.unparsed(text)
		return
	}
	inner.stmts(parsed)
}

// make follows make -C into another folder.
func (s *shell) make(args []string) {
	dir := s.dir
	for i, arg := range args {
		if of, ok := strings.CutPrefix(arg, "-C"); ok {
			if of == "" && i+1 < len(args) {
				of = args[i+1]
			}
			dir = s.abs(of)
		}
	}
	if _, inside := Rel(dir); inside && !isUnknown(dir) {
		s.makefile(dir)
	}
}

// folder returns the folder of cd with arguments.
func (s *shell) folder(args []string) string {
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--" || arg == "-P" || arg == "-L" })
	if len(args) != 1 || args[0] == "-" {
		return s.unknown("its folder")
	}
	return s.abs(args[0])
}

// abs returns an absolute path; a relative one starts from the folder of the shell.
func (s *shell) abs(name string) string {
	if path.IsAbs(name) || strings.HasPrefix(name, unknownName) {
		return path.Clean(name)
	}
	return path.Join(s.dir, name)
}

// found adds a call to the unit.
func (s *shell) found(call Call) {
	c := s.add(call)
	for i := range s.finder.calls {
		if &s.finder.calls[i] == c && !slices.Contains(s.calls, i) {
			s.calls = append(s.calls, i)
		}
	}
}

// roughly returns the words of a command. Those that it cannot expand are unknown.
func (s *shell) roughly(args []*syntax.Word) []string {
	var words []string
	for _, arg := range args {
		part, err := s.fields([]*syntax.Word{arg})
		if err != nil {
			part = []string{s.unknown(printed(arg))}
			if name, value, ok := strings.Cut(printed(arg), "="); ok && !strings.Contains(name, "$") {
				part = []string{name + "=" + s.unknown(value)}
			}
		}
		words = append(words, part...)
	}
	return words
}
