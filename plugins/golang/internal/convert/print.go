package convert

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// goImport is an import of the package that a file calls Local.
type Import struct{ Local, Path string }

// Name is what stands before the path: "" where that ends in the name.
func (i Import) Name() string {
	if path.Base(i.Path) == i.Local {
		return ""
	}
	return i.Local
}

func (c *converter) imports() []Import {
	var list []Import
	for at, name := range c.imported {
		list = append(list, Import{name, at})
	}
	slices.SortFunc(list, func(a, b Import) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// name finds a name for the function of a pair that nothing else has. Kinds of a
// package may share types: the function may be there already, with another kind.
func (c *converter) name(p *pair, to, from *goType) {
	spokeType, direction, version := from, "To", to
	if from.path == c.hub.Path {
		spokeType, direction, version = to, "From", from
	}
	p.Name = "convert" + UpperFirst(spokeType.name)
	if version.name != spokeType.name {
		p.Name += "As" + UpperFirst(version.name)
	}
	p.Name += direction + UpperFirst(c.hubVer)
	p.Comment = fmt.Sprintf("converts %s from %s to %s.", from.name, c.in, c.out)
	signature := fmt.Sprintf("func(in *%s, out *%s)", p.In, p.Out)
	for n, stem := 2, p.Name; c.names[p.Name] || c.spoke.Declared[p.Name]; n++ {
		if !c.names[p.Name] && c.spoke.funcs[p.Name] == signature {
			p.known = true
			break
		}
		p.Name = fmt.Sprint(stem, "N", n)
	}
	c.names[p.Name] = true
}

// print writes a type as the spoke's file does. It reports false for one that
// cannot be written there.
func (c *converter) print(t *goType) (string, bool) {
	switch t.form {
	case basic:
		return t.name, !c.spoke.Declared[t.name]
	case local:
		if t.path == c.spoke.Path {
			return t.name, true
		}
		return c.hubName + "." + t.name, ast.IsExported(t.name)
	case external:
		return c.importName(t) + "." + t.name, true
	case pointer:
		elem, ok := c.print(t.elem)
		return "*" + elem, ok
	case slice, array:
		elem, ok := c.print(t.elem)
		return "[" + t.name + "]" + elem, ok
	case mapping:
		key, ok := c.print(t.key)
		elem, ok2 := c.print(t.elem)
		return "map[" + key + "]" + elem, ok && ok2
	}
	return "", false
}

// importName is what the spoke's file calls the package of t.
func (c *converter) importName(t *goType) string {
	if name, ok := c.imported[t.path]; ok {
		return name
	}
	name := t.as
	for n := 2; c.names[name] || c.spoke.Declared[name]; n++ {
		name = fmt.Sprint(t.as, n)
	}
	c.names[name], c.imported[t.path] = true, name
	return name
}

// address takes the address of an expression.
func address(e string) string {
	if pointer, ok := strings.CutPrefix(e, "*"); ok {
		return pointer
	}
	return "&" + e
}

// field selects a field of an expression.
func field(e, name string) string {
	e = strings.TrimPrefix(e, "*") // which a selector does by itself
	if strings.HasPrefix(e, "*") {
		e = "(" + e + ")"
	}
	return e + "." + name
}

// index indexes an expression.
func index(e, i string) string {
	if strings.HasPrefix(e, "*") {
		e = "(" + e + ")"
	}
	return e + "[" + i + "]"
}

// numbered names a variable of nested loops.
func numbered(name string, depth int) string {
	if depth == 0 {
		return name
	}
	return fmt.Sprint(name, depth+1)
}

// upper starts an identifier with a capital.
func UpperFirst(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}
