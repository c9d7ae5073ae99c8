// Package condition validates the matchConditions of webhooks, as an API server does when a
// webhook is registered: grammar, variables, functions, and the fields of the request.
//
// It uses only the parser of CEL. The whole compiler would make operon a seventh larger and
// slow down each start by a fifth, only to find arguments of the wrong type as well.
package condition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
)

// Problem is an error for which the API server rejects an expression.
type Problem struct {
	Line, Column int // in the expression, from 1; 0 for the whole expression
	Message      string
}

// Check validates an expression. It returns the errors for which an API server of the
// supported Kubernetes release rejects the expression.
func Check(expression string) []Problem {
	if strings.TrimSpace(expression) == "" {
		return []Problem{{Message: "the expression is empty"}}
	}
	grammar, err := parser.NewParser(parser.Macros(parser.HasMacro), parser.EnableOptionalSyntax(true))
	if err != nil {
		panic(err) // cannot fail: the options are constant
	}
	parsed, issues := grammar.Parse(common.NewTextSource(expression))
	var problems []Problem
	for _, e := range issues.GetErrors() {
		problems = append(problems, Problem{e.Location.Line(), e.Location.Column() + 1, strings.Join(strings.Fields(e.Message), " ")})
	}
	if len(problems) > 0 {
		return problems
	}
	c := &checker{info: parsed.SourceInfo()}
	result := c.check(parsed.Expr(), nil)
	if len(c.problems) == 0 && result != nil && result != truth {
		return []Problem{{Message: fmt.Sprintf("it gives %s, and must give bool", result.name)}}
	}
	return c.problems
}

type checker struct {
	info     *ast.SourceInfo
	problems []Problem
}

func (c *checker) fail(e ast.Expr, format string, args ...any) {
	at := c.info.GetStartLocation(e.ID())
	c.problems = append(c.problems, Problem{at.Line(), at.Column() + 1, fmt.Sprintf(format, args...)})
}

// check returns the type of an expression, or nil if it is unknown. scope has the
// variables that the surrounding macros declare.
func (c *checker) check(e ast.Expr, scope []string) *kind {
	switch e.Kind() {
	case ast.IdentKind:
		return c.name(e, scope)
	case ast.SelectKind:
		s := e.AsSelect()
		of := c.field(e, c.check(s.Operand(), scope), s.FieldName())
		if s.IsTestOnly() {
			return truth
		}
		return of
	case ast.LiteralKind:
		return literal(e.AsLiteral().Type().TypeName())
	case ast.CallKind:
		return c.call(e, scope)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			c.check(item, scope)
		}
		return listOf(nil)
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			c.check(entry.AsMapEntry().Key(), scope)
			c.check(entry.AsMapEntry().Value(), scope)
		}
		return mapOf(nil)
	case ast.StructKind:
		for _, entry := range e.AsStruct().Fields() {
			c.check(entry.AsStructField().Value(), scope)
		}
	}
	return nil
}

func (c *checker) name(e ast.Expr, scope []string) *kind {
	name := strings.TrimPrefix(e.AsIdent(), ".")
	switch k, known := variables[name]; {
	case slices.Contains(scope, name) || slices.Contains(types, name):
		return nil
	case known:
		return k
	}
	c.fail(e, "undeclared reference to '%s'", name)
	return nil
}

// field returns the type of a field of a value.
func (c *checker) field(e ast.Expr, of *kind, name string) *kind {
	switch {
	case of == nil || of == anything:
		return of
	case of.name == "map":
		return of.item
	case of == opaque:
		return nil
	case of.fields == nil:
		c.fail(e, "type '%s' does not support field selection", of.name)
	case of.fields[name] == nil:
		c.fail(e, "undefined field '%s'", name)
	}
	return of.fields[name]
}

// call checks a call of a function, an operator or a macro, with its arguments.
func (c *checker) call(e ast.Expr, scope []string) *kind {
	call := e.AsCall()
	name, args := call.FunctionName(), call.Args()
	if call.IsMemberFunction() {
		if full := path(call.Target()) + "." + name; slices.Contains(functions, full) {
			return c.all(args, scope)
		}
		c.check(call.Target(), scope)
		if n := bound(name, len(args)); n > 0 {
			for _, arg := range args[:n] {
				if arg.Kind() != ast.IdentKind {
					c.fail(arg, "argument must be a simple name")
					return nil
				}
				scope = append(slices.Clone(scope), arg.AsIdent())
			}
			args = args[n:]
			return c.all(args, scope)
		}
	}
	switch name {
	case "_&&_", "_||_", "!_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in":
		c.all(args, scope)
		return truth
	case "_[_]":
		of := c.check(args[0], scope)
		c.check(args[1], scope)
		if of == anything || of == nil {
			return of
		}
		return of.item
	}
	if letter := name[0] | 0x20; letter >= 'a' && letter <= 'z' && !slices.Contains(functions, name) {
		c.fail(e, "undeclared reference to '%s'", name)
	}
	return c.all(args, scope)
}

func (c *checker) all(args []ast.Expr, scope []string) *kind {
	for _, arg := range args {
		c.check(arg, scope)
	}
	return nil
}

// path returns a qualified name, such as optional.of, or "".
func path(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		if s := e.AsSelect(); !s.IsTestOnly() {
			return path(s.Operand()) + "." + s.FieldName()
		}
	}
	return ""
}
