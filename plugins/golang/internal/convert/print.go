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

// Import is an import, with the name of the package in the importing file.
type Import struct{ Local, Path string }

// Name returns the name for the import declaration: "" if it equals the last element of the
// path.
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

// name finds an unused name for the function of a pair. Kinds of a package can share types, so
// the function may already exist.
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

// print returns the type as written in the spoke's file. It returns false if the file cannot
// refer to the type.
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

// importName returns the name of the package of t in the spoke's file.
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

// address returns an expression for the address of e.
func address(e string) string {
	if pointer, ok := strings.CutPrefix(e, "*"); ok {
		return pointer
	}
	return "&" + e
}

// field returns a selector expression.
func field(e, name string) string {
	e = strings.TrimPrefix(e, "*") // a selector dereferences a pointer
	if strings.HasPrefix(e, "*") {
		e = "(" + e + ")"
	}
	return e + "." + name
}

// index returns an index expression.
func index(e, i string) string {
	if strings.HasPrefix(e, "*") {
		e = "(" + e + ")"
	}
	return e + "[" + i + "]"
}

// numbered returns the name of a variable in nested loops.
func numbered(name string, depth int) string {
	if depth == 0 {
		return name
	}
	return fmt.Sprint(name, depth+1)
}

// UpperFirst returns name with its first letter in upper case.
func UpperFirst(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}
