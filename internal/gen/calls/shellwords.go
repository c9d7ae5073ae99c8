package calls

import (
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

var envAssignment = lazyregexp.New(`^\w+=`)

var errTooManyWords = errors.New("too many words")

// config returns how the shell expands words: without reading folders, and without running
// commands other than those that only name folders.
func (s *shell) config() *expand.Config {
	substituted := func(p *syntax.ProcSubst) (string, error) { return s.unknown(printed(p)), nil }
	return &expand.Config{NoUnset: true, Env: variables{s}, ProcSubst: substituted, CmdSubst: func(w io.Writer, c *syntax.CmdSubst) error {
		inner := s.copy()
		value, ok := inner.outputOf(c.Stmts)
		if !ok {
			value = s.unknown(printed(c))
		}
		_, err := io.WriteString(w, value)
		return err
	}}
}

// printed returns the text of a node.
func printed(node syntax.Node) string {
	var text strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&text, node); err != nil {
		return "the output of a command"
	}
	return strings.TrimSpace(text.String())
}

// fields returns the words after all expansions.
func (s *shell) fields(words []*syntax.Word) ([]string, error) {
	var all []string
	for field, err := range expand.FieldsSeq(s.config(), words...) {
		switch {
		case err != nil:
			return nil, err
		case len(all) >= limit:
			return nil, errTooManyWords
		}
		all = append(all, field)
	}
	return all, nil
}

// literal returns a word that the shell does not split, such as a value.
func (s *shell) literal(word *syntax.Word) string {
	value, err := expand.Literal(s.config(), word)
	if err != nil {
		return s.unknown(printed(word))
	}
	return value
}

// variables are the variables and parameters of a shell.
type variables struct{ *shell }

// Get implements expand.Environ. A variable that nothing sets comes from the environment, so
// its expansion is an error, unless the script has a default for it.
func (v variables) Get(name string) expand.Variable {
	known := func(value string) expand.Variable {
		return expand.Variable{Set: true, Kind: expand.String, Str: value}
	}
	if strings.HasPrefix(name, unknownName) {
		return known(name)
	}
	if value, ok := v.vars[name]; ok {
		return known(value)
	}
	switch name {
	case "PWD":
		return known(v.dir)
	case "BASH_SOURCE", "0":
		return known(v.arg0())
	case "@", "*":
		if v.args == nil {
			return known(v.unknown("$" + name))
		}
		return expand.Variable{Set: true, Kind: expand.Indexed, List: v.args[1:]}
	case "#":
		return known(strconv.Itoa(max(len(v.args)-1, 0)))
	}
	if n, err := strconv.Atoi(name); err == nil && v.args != nil {
		if n < len(v.args) {
			return known(v.args[n])
		}
		return expand.Variable{}
	}
	return expand.Variable{}
}

// Set implements expand.WriteEnviron, for ${NAME:=value}.
func (v variables) Set(name string, value expand.Variable) error {
	v.vars[name] = value.String()
	return nil
}

// Each implements expand.Environ.
func (v variables) Each(func(string, expand.Variable) bool) {}

// arg0 returns the path of the script.
func (s *shell) arg0() string {
	if s.args == nil {
		return path.Join(Root, s.file)
	}
	return s.args[0]
}

// output returns what a command prints that only names folders.
func (u *unit) output(text, dir string) (value string, ok bool) {
	parsed, err := parse(text)
	if err != nil {
		return "", false
	}
	return u.newShell("", 1, dir, []string{"sh"}).outputOf(parsed)
}

// outputOf returns what commands print that only name folders: pwd, cd, dirname and the like.
// ok is false for all other commands.
func (s *shell) outputOf(list []*syntax.Stmt) (value string, ok bool) {
	for _, stmt := range list {
		switch cmd := stmt.Cmd.(type) {
		case *syntax.BinaryCmd:
			if cmd.Op != syntax.AndStmt {
				return "", false
			}
			value, ok = s.outputOf([]*syntax.Stmt{cmd.X, cmd.Y})
		case *syntax.CallExpr:
			value, ok = s.outputOfCommand(cmd, value)
		default:
			return "", false
		}
		if !ok {
			return "", false
		}
	}
	return value, ok
}

// outputOfCommand returns what a command prints, after what others printed.
func (s *shell) outputOfCommand(cmd *syntax.CallExpr, before string) (value string, ok bool) {
	words, err := s.fields(cmd.Args)
	if err != nil || len(words) == 0 || slices.ContainsFunc(words, isUnknown) {
		return "", false
	}
	last := words[len(words)-1]
	switch strings.Join(words[:len(words)-1], " ") {
	case "cd", "cd --", "cd -P":
		s.dir = s.abs(last)
		return before, true
	case "pwd", "git rev-parse": // with the flags -P or --show-toplevel
		if last == "--show-toplevel" {
			return Root, true
		}
		return s.dir, last == "-P" || last == "-L"
	case "dirname", "dirname --":
		return path.Dir(last), true
	case "basename":
		return path.Base(last), true
	case "realpath", "readlink -f", "readlink -e", "readlink":
		return s.abs(last), true
	case "mktemp", "mktemp -d":
		return "/tmp/operon", true
	}
	switch words[0] {
	case "pwd":
		return s.dir, len(words) == 1
	case "mktemp":
		return "/tmp/operon", true
	case "echo":
		return strings.Join(words[1:], " "), true
	}
	return "", false
}
