package rbac

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Placeholders in values. They are characters that Unicode leaves to programs, so that
// shells, YAML, JSON and jq all accept them. A source that has one of them as text only
// makes values unknown.
const (
	unknown  = "\ue000" // a text that is known only at run time
	wildcard = "\ue001" // any number of arguments
)

const (
	maxValues = 16      // of an expression; with more of them it counts as unknown
	maxRuns   = 64      // of an expansion with different values of its variables
	maxLength = 1 << 16 // of all values in an expansion
	maxCalls  = 1000    // see maxDepth; also of variables and arguments of an expansion
)

// isKnown reports whether all of a value is known.
func isKnown(value string) bool { return !strings.ContainsAny(value, unknown+wildcard) }

// shown is a value for messages.
func shown(value string) string {
	return strings.NewReplacer(wildcard, "...", unknown, "...").Replace(value)
}

// values are what an expression may be, each a list of arguments. A nil list is a
// variable that is not set.
type values [][]string

func contains(all values, list []string) bool {
	return slices.ContainsFunc(all, func(v []string) bool { return (v == nil) == (list == nil) && slices.Equal(v, list) })
}

// fields returns the arguments that words may expand to.
func (s *scope) fields(words ...*syntax.Word) values {
	var simple []*syntax.Word
	for _, w := range words {
		simple = append(simple, &syntax.Word{Parts: simplified(w.Parts)})
	}
	return s.expansions(wildcard, func(c *expand.Config) ([]string, error) {
		fields := []string{}
		for field, err := range expand.FieldsSeq(c, simple...) {
			if err != nil || len(fields) > maxCalls {
				return nil, errors.Join(err, errTooMany)
			}
			if strings.Contains(field, wildcard) {
				field = wildcard
			}
			fields = append(fields, field)
		}
		return fields, nil
	})
}

// texts returns what a word may expand to that is always one text. expansion is one of
// those of the library: expand.Literal or expand.Document.
func (s *scope) texts(w *syntax.Word, expansion func(*expand.Config, *syntax.Word) (string, error)) (all []string) {
	simple := &syntax.Word{Parts: simplified(w.Parts)}
	for _, v := range s.expansions(unknown, func(c *expand.Config) ([]string, error) {
		text, err := expansion(c, simple)
		return []string{text}, err
	}) {
		all = append(all, v...)
	}
	return all
}

var errTooMany = errors.New("too many values")

// expansions expands with each combination of the values of variables and commands. It
// returns other if there are too many.
func (s *scope) expansions(other string, expansion func(*expand.Config) ([]string, error)) (all values) {
	e := &environment{scope: s, values: map[any]values{}}
	for runs := 1; ; runs++ {
		e.length = 0
		v, err := expansion(&expand.Config{Env: e, CmdSubst: e.substitute})
		if err == nil && !contains(all, v) {
			all = append(all, v)
		}
		switch {
		case err != nil || len(all) > maxValues || runs > maxRuns:
			return values{{other}}
		case !e.next():
			return all
		}
	}
}

// environment answers the expand package with one of the values that variables and
// commands may have. In an expansion they have the same value wherever they occur.
type environment struct {
	*scope
	values  map[any]values // of variables by their names, and of command substitutions
	choices []choice
	length  int // of what was answered
}

// choice is the number of the value that a variable or command has.
type choice struct {
	key any
	at  int
}

// next chooses other values, and reports whether there are any.
func (e *environment) next() bool {
	for len(e.choices) > 0 {
		last := &e.choices[len(e.choices)-1]
		if last.at++; last.at < len(e.values[last.key]) {
			return true
		}
		e.choices = e.choices[:len(e.choices)-1]
	}
	return false
}

func (e *environment) choose(key any, of func() values) []string {
	i := slices.IndexFunc(e.choices, func(c choice) bool { return c.key == key })
	if i < 0 {
		i = len(e.choices)
		e.choices = append(e.choices, choice{key: key})
		if e.values[key] == nil {
			e.values[key] = of()
		}
	}
	v := e.values[key][e.choices[i].at]
	for _, text := range v {
		e.length += len(text)
	}
	if e.length <= maxLength {
		return v
	}
	if name, is := key.(string); is && (strings.HasSuffix(name, listSuffix) || isOneOf(name, "@", "*")) {
		return anyArguments
	}
	return []string{unknown}
}

// Get implements expand.Environ.
func (e *environment) Get(name string) expand.Variable {
	if name == "IFS" { // spaces divide words
		return expand.Variable{}
	}
	v := e.choose(name, func() values { return e.lookup(name) })
	return expand.Variable{Set: v != nil, Kind: expand.Indexed, List: v}
}

// Each implements expand.Environ. Only ${!prefix*} needs it, which operon does not analyze.
func (e *environment) Each(func(string, expand.Variable) bool) {}

// substitute writes what a command substitution may print.
func (e *environment) substitute(w io.Writer, c *syntax.CmdSubst) error {
	v := e.choose(c, func() (all values) {
		texts, known := []string(nil), false
		if len(c.Stmts) == 1 {
			texts, known = e.withInput(nil).output(c.Stmts[0])
		}
		if !known {
			return values{{unknown}}
		}
		for _, text := range texts {
			all = append(all, []string{text})
		}
		return all
	})
	_, err := io.WriteString(w, v[0])
	return err
}

// simplified returns the parts of a word, with placeholders for those that are not
// followed.
func simplified(parts []syntax.WordPart) (all []syntax.WordPart) {
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.CmdSubst:
		case *syntax.DblQuoted:
			part = &syntax.DblQuoted{Parts: simplified(x.Parts)}
		case *syntax.ParamExp:
			part = simplifiedParameter(x)
		default: // arithmetic, patterns, processes
			part = &syntax.SglQuoted{Value: unknown}
		}
		all = append(all, part)
	}
	return all
}

// simplifiedParameter follows $name, ${name[@]} and ${name:-default}.
func simplifiedParameter(e *syntax.ParamExp) syntax.WordPart {
	index := ""
	if w, is := e.Index.(*syntax.Word); is {
		index = w.Lit()
	}
	isList := isOneOf(index, "@", "*") || e.Param != nil && isOneOf(e.Param.Value, "@", "*")
	simple := *e
	if e.Exp != nil {
		exp := *e.Exp
		if exp.Op == syntax.AssignUnset || exp.Op == syntax.AssignUnsetOrNull { // declare records the assignment
			exp.Op -= syntax.AssignUnset - syntax.DefaultUnset
		}
		if exp.Word != nil {
			exp.Word = &syntax.Word{Parts: simplified(exp.Word.Parts)}
		}
		simple.Exp = &exp
	}
	switch {
	case e.Param != nil && !e.Length && !e.Excl && !e.Width && !e.IsSet && e.Slice == nil && e.Repl == nil && e.Names == 0 &&
		(e.Index == nil || isList) && (e.Exp == nil || !isList && isOneOf(simple.Exp.Op, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull)):
		if e.Index != nil {
			simple.Param = &syntax.Lit{Value: e.Param.Value + listSuffix}
		}
		return &simple
	case isList && !e.Length:
		return &syntax.SglQuoted{Value: wildcard}
	}
	return &syntax.SglQuoted{Value: unknown}
}

// lookup returns what a variable or a positional parameter may be. A name that ends with
// listSuffix is about all elements of an array.
func (s *scope) lookup(name string) values {
	if name == "@" || name == "*" {
		return values{s.positional}
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		switch {
		case slices.Contains(s.positional[:min(n, len(s.positional))], wildcard):
			return values{{unknown}}
		case n > len(s.positional):
			return values{nil}
		}
		return values{{s.positional[n-1]}}
	}
	name, isList := strings.CutSuffix(name, listSuffix)
	other := unknown
	if isList {
		other = wildcard
	}
	if len(s.resolving) == 0 {
		s.lookups = 0
	}
	if s.lookups++; s.evaluates || s.resolving[name] || s.lookups > maxCalls {
		return values{{other}} // it depends on eval, on itself, or on too many
	}
	s.resolving[name] = true
	defer delete(s.resolving, name)
	return s.assigned(name, other)
}

const listSuffix = "[]"
