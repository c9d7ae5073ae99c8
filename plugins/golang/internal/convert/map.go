// Package convert generates the Go code that converts a kind between two versions.
// It compares the fields of their types. It reads only syntax, because loading the
// packages would take seconds.
package convert

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// Code is the Go code that converts between a spoke and the hub. It belongs in the package of
// the spoke.
type Code struct {
	To, From []string // statements that convert the object "src" to "dst"
	Helpers  []Helper
	Imports  []Import // in addition to the hub's package
	Gaps     []string // fields that the user must convert, as "Type.Field"
}

// Helper is a function that converts one type of the API.
type Helper struct {
	Name, Comment string
	In, Out       string // types
	Body          []string
}

// typeMeta is the field that contains the version and kind of an object.
const typeMeta = "TypeMeta"

// converter generates the functions of one conversion.
type converter struct {
	typeReader
	spoke, hub       *Package
	hubName          string            // name of the hub's package in the spoke's file
	spokeVer, hubVer string            // for names and comments
	names            map[string]bool   // taken in the spoke's file
	imported         map[string]string // name by path
	pairs            map[string]*pair  // by the identities of its two types
	order            []string          // keys of the pairs, in the order of their creation
	gaps             []string

	// State of the function that is being generated:
	base    string // the type that it converts
	in, out string // the source and target versions
	lines   []string
}

// locals are the variable names that the statements use.
var locals = []string{"src", "dst", "in", "out", "i", "j", "k", "l", "m", "n", "key", "value", "converted", "hub", "ok"}

// Kind generates the conversion of a kind between two packages. hubName is the name of the
// hub's package in the spoke's file.
func Kind(kind string, spoke, hub *Package, hubName, spokeVersion, hubVersion string) Code {
	c := &converter{
		typeReader: typeReader{spoke.Path: spoke, hub.Path: hub},
		spoke:      spoke, hub: hub, hubName: hubName, spokeVer: spokeVersion, hubVer: hubVersion,
		names: map[string]bool{hubName: true, spoke.Free("fmt"): true, spoke.Free("conversion"): true}, imported: map[string]string{},
		pairs: map[string]*pair{},
	}
	for _, name := range locals {
		c.names[name] = true
	}
	spokeType, hubType := c.object(spoke, kind), c.object(hub, kind)
	var f Code
	c.base, c.in, c.out = kind, spokeVersion, hubVersion
	c.fields("dst", "src", hubType, spokeType, 0)
	f.To, c.lines = c.lines, nil
	f.Gaps = slices.Clone(c.gaps)
	c.in, c.out = hubVersion, spokeVersion
	c.fields("dst", "src", spokeType, hubType, 0)
	f.From = c.lines
	f.Helpers, f.Imports = c.helpers(), c.imports()
	return f
}

// object returns the struct of the kind without TypeMeta, which differs between versions.
func (c *converter) object(pkg *Package, kind string) *goType {
	t := c.under(&goType{form: local, path: pkg.Path, name: kind})
	t.fields = slices.DeleteFunc(t.fields, func(f goField) bool { return f.name == typeMeta })
	return t
}

func (c *converter) line(format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

// gap leaves the conversion of a field to the user, with a comment in its place.
func (c *converter) gap(in, field, format string, args ...any) {
	c.line("// "+field+" "+format, args...)
	_, inside, nested := strings.Cut(in, ".")
	if nested {
		field = inside + "." + field
	}
	c.gaps = append(c.gaps, c.base+"."+field)
}

// fields generates assignments for the fields that it can convert, and comments for the
// others. It returns the number of assigned fields.
func (c *converter) fields(out, in string, to, from *goType, depth int) int {
	mapped := 0
	rest := slices.Clone(to.fields)
	for _, f := range from.fields {
		i := slices.IndexFunc(rest, func(g goField) bool { return g.name == f.name })
		if f.name == "_" {
			continue
		}
		if i < 0 {
			c.gap(in, f.name, "is only in %s: keep it in a field or an annotation of %s, or it is lost.", c.in, c.out)
			continue
		}
		other := rest[i].typ
		rest = slices.Delete(rest, i, i+1)
		switch {
		case !ast.IsExported(f.name):
			c.gap(in, f.name, "is not exported: only code in its own package can convert it.")
		case c.assign(field(out, f.name), field(in, f.name), other, f.typ, depth):
			mapped++
		case f.typ.source == other.source:
			c.gap(in, f.name, "is %s in both versions, but the types differ: convert it here.", f.typ.source)
		default:
			c.gap(in, f.name, "is %s in %s and %s in %s: convert it here.", f.typ.source, c.in, other.source, c.out)
		}
	}
	for _, f := range rest {
		if f.name != "_" {
			c.gap(in, f.name, "is only in %s: set it here if its value follows from %s.", c.out, c.in)
		}
	}
	return mapped
}

// assign generates statements that assign the converted value of in to out. If it cannot
// convert the value, it returns false and generates nothing.
func (c *converter) assign(out, in string, to, from *goType, depth int) bool {
	if value, ok := c.value(in, to, from); ok {
		c.line("%s = %s", out, value)
		return true
	}
	if to.form == local && from.form == local {
		name, ok := c.helper(to, from)
		if ok {
			c.line("%s(%s, %s)", name, address(in), address(out))
		}
		return ok
	}
	return c.inline(out, in, to, from, depth)
}

// value returns an expression that converts in to the type to. It returns false if that takes
// more than an expression.
func (c *converter) value(in string, to, from *goType) (string, bool) {
	if id := to.identity(); id != "" && id == from.identity() {
		return in, true
	}
	a, b := c.under(from), c.under(to)
	if a.form == basic && b.form == basic && a.name == b.name {
		name, ok := c.print(to)
		return name + "(" + in + ")", ok
	}
	if a.form == pointer && b.form == pointer {
		a, b = c.under(a.elem), c.under(b.elem)
		if a.form == basic && b.form == basic && a.name == b.name {
			name, ok := c.print(to)
			if to.form == pointer {
				name = "(" + name + ")"
			}
			return name + "(" + in + ")", ok
		}
	}
	return "", false
}

// inline generates the statements for types that have no helper.
func (c *converter) inline(out, in string, to, from *goType, depth int) bool {
	a, b := c.under(from), c.under(to)
	if a.form != b.form {
		return false
	}
	lines, gaps := len(c.lines), len(c.gaps)
	ok := false
	switch a.form {
	case structure:
		// Types of the same name get a function even if no field matches: the gaps
		// are then listed inside it.
		ok = c.fields(out, in, b, a, depth) > 0 || to.name == from.name
	case pointer:
		ok = c.pointer(out, in, b, a, depth)
	case slice:
		if name, printed := c.print(to); printed {
			c.line("if %s != nil {", in)
			c.line("%s = make(%s, len(%s))", out, name, in)
			ok = c.elements(out, in, b, a, depth)
			c.line("}")
		}
	case array:
		ok = a.name == b.name && c.elements(out, in, b, a, depth)
	case mapping:
		ok = c.entries(out, in, to, b, a, depth)
	}
	if !ok {
		c.lines, c.gaps = c.lines[:lines], c.gaps[:gaps]
	}
	return ok
}

func (c *converter) pointer(out, in string, to, from *goType, depth int) bool {
	name, ok := c.print(to.elem)
	if !ok {
		return false
	}
	c.line("if %s != nil {", in)
	c.line("%s = new(%s)", out, name)
	ok = c.assign("*"+out, "*"+in, to.elem, from.elem, depth)
	c.line("}")
	return ok
}

func (c *converter) elements(out, in string, to, from *goType, depth int) bool {
	i := string(rune('i' + depth%6)) // i, j, k, ...
	c.line("for %s := range %s {", i, in)
	start := len(c.lines)
	ok := c.assign(index(out, i), index(in, i), to.elem, from.elem, depth+1)
	// If the body has only comments, the loop variable is unused.
	ok = ok && slices.ContainsFunc(c.lines[start:], func(line string) bool { return !strings.HasPrefix(line, "//") })
	c.line("}")
	return ok
}

// entries converts a map. Map elements are not addressable, so an element that needs more than
// an expression is converted in a variable.
func (c *converter) entries(out, in string, typ, to, from *goType, depth int) bool {
	key, value := numbered("key", depth), numbered("value", depth)
	newKey, ok := c.value(key, to.key, from.key)
	if !ok {
		return false
	}
	name, ok := c.print(typ)
	if !ok {
		return false
	}
	c.line("if %s != nil {", in)
	c.line("%s = make(%s, len(%s))", out, name, in)
	c.line("for %s, %s := range %s {", key, value, in)
	if newValue, simple := c.value(value, to.elem, from.elem); simple {
		c.line("%s = %s", index(out, newKey), newValue)
	} else {
		converted := numbered("converted", depth)
		if name, ok = c.print(to.elem); !ok {
			return false
		}
		c.line("var %s %s", converted, name)
		if !c.assign(converted, value, to.elem, from.elem, depth+1) {
			return false
		}
		c.line("%s = %s", index(out, newKey), converted)
	}
	c.line("}")
	c.line("}")
	return true
}
