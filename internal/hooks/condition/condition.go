// Package condition validates the matchConditions of webhooks, as an API server does when a
// webhook is registered: syntax, variables, functions, and the fields of the request.
//
// It uses only the parser of CEL. The compiler would make operon larger by a seventh and each
// start slower by a fifth, and would only add the validation of argument types.
package condition

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
	"github.com/operon-dev/operon/internal/finding"
)

// Check returns the reasons why an API server of the supported Kubernetes release rejects an
// expression. The findings have no file and no rule. Their positions are those in the
// expression; line 0 means the entire expression.
func Check(expression string) []finding.Finding {
	if strings.TrimSpace(expression) == "" {
		return []finding.Finding{{Message: "the expression is empty"}}
	}
	grammar, err := parser.NewParser(parser.Macros(parser.HasMacro), parser.EnableOptionalSyntax(true))
	if err != nil {
		panic(err) // cannot fail: the options are constant
	}
	parsed, issues := grammar.Parse(common.NewTextSource(expression))
	var syntaxErrors []finding.Finding
	for _, e := range issues.GetErrors() {
		syntaxErrors = append(syntaxErrors, errorAt(e.Location, strings.Join(strings.Fields(e.Message), " ")))
	}
	if len(syntaxErrors) > 0 {
		return syntaxErrors
	}
	c := &checker{info: parsed.SourceInfo()}
	result := c.check(parsed.Expr(), nil)
	if len(c.findings) == 0 && result != nil && result != boolType {
		return []finding.Finding{{Message: fmt.Sprintf("the type of the expression is %s, but must be bool", result.name)}}
	}
	return c.findings
}

// checker collects the findings about one expression.
type checker struct {
	info     *ast.SourceInfo
	findings []finding.Finding
}

func (c *checker) report(e ast.Expr, format string, args ...any) {
	c.findings = append(c.findings, errorAt(c.info.GetStartLocation(e.ID()), fmt.Sprintf(format, args...)))
}

// errorAt returns a finding at a location. The columns of CEL start at 0.
func errorAt(location common.Location, message string) finding.Finding {
	return finding.Finding{Line: location.Line(), Column: location.Column() + 1, Message: message}
}

// check validates an expression and returns its type, or nil if the type is unknown. scope has
// the variables that the surrounding macros declare.
func (c *checker) check(e ast.Expr, scope []string) *celType {
	switch e.Kind() {
	case ast.IdentKind:
		return c.identifier(e, scope)
	case ast.SelectKind:
		s := e.AsSelect()
		t := c.field(e, c.check(s.Operand(), scope), s.FieldName())
		if s.IsTestOnly() {
			return boolType
		}
		return t
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

// identifier returns the type of a variable.
func (c *checker) identifier(e ast.Expr, scope []string) *celType {
	name := strings.TrimPrefix(e.AsIdent(), ".")
	if slices.Contains(scope, name) || slices.Contains(typeNames, name) {
		return nil
	}
	if t, known := variables[name]; known {
		return t
	}
	c.report(e, "undeclared reference to '%s'", name)
	return nil
}

// field returns the type of a field of a value of type t.
func (c *checker) field(e ast.Expr, t *celType, name string) *celType {
	switch {
	case t == nil || t == dynType:
		return t
	case t.name == "map":
		return t.item
	case t == authorizerType:
		return nil
	case t.fields == nil:
		c.report(e, "type '%s' does not support field selection", t.name)
	case t.fields[name] == nil:
		c.report(e, "undefined field '%s'", name)
	}
	return t.fields[name]
}

// call validates a call of a function, an operator or a macro, and its arguments.
func (c *checker) call(e ast.Expr, scope []string) *celType {
	call := e.AsCall()
	name, args := call.FunctionName(), call.Args()
	if call.IsMemberFunction() {
		if qualified := qualifiedName(call.Target()) + "." + name; slices.Contains(functions, qualified) {
			return c.checkAll(args, scope)
		}
		c.check(call.Target(), scope)
		if n := macroVariables(name, len(args)); n > 0 {
			for _, arg := range args[:n] {
				if arg.Kind() != ast.IdentKind {
					c.report(arg, "argument must be a simple name")
					return nil
				}
				scope = append(slices.Clone(scope), arg.AsIdent())
			}
			args = args[n:]
			return c.checkAll(args, scope)
		}
	}
	switch name {
	case "_&&_", "_||_", "!_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in":
		c.checkAll(args, scope)
		return boolType
	case "_[_]":
		t := c.check(args[0], scope)
		c.check(args[1], scope)
		if t == dynType || t == nil {
			return t
		}
		return t.item
	}
	// The names of operators do not start with a letter.
	if letter := name[0] | 0x20; letter >= 'a' && letter <= 'z' && !slices.Contains(functions, name) {
		c.report(e, "undeclared reference to '%s'", name)
	}
	return c.checkAll(args, scope)
}

// checkAll validates arguments. It returns nil, the unknown type.
func (c *checker) checkAll(args []ast.Expr, scope []string) *celType {
	for _, arg := range args {
		c.check(arg, scope)
	}
	return nil
}

// qualifiedName returns the name that an expression consists of, such as optional.of, or "".
func qualifiedName(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent()
	case ast.SelectKind:
		if s := e.AsSelect(); !s.IsTestOnly() {
			return qualifiedName(s.Operand()) + "." + s.FieldName()
		}
	}
	return ""
}
