// Package convert writes the Go code that converts a kind between two versions,
// from the fields of their types. It reads syntax only: loading the packages
// would take seconds.
package convert

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// conversionFuncs is the Go code that converts between a spoke, in whose package
// it stands, and the hub.
type Code struct {
	To, From []string // statements from "src" to "dst", the objects of either version
	Helpers  []Helper
	Imports  []Import // that the statements need beside the hub's package
	Gaps     []string // what the statements leave to the user, in words
}

// helper is a function that converts one type of the API.
type Helper struct {
	Name, Comment string
	In, Out       string // types
	Body          []string
}

// typeMeta is the field of an object that names its version and kind.
const typeMeta = "TypeMeta"

// converter writes the functions of one conversion.
type converter struct {
	typeReader
	spoke, hub       *Package
	hubName          string            // what the spoke's file calls the hub's package
	spokeVer, hubVer string            // for names and comments
	names            map[string]bool   // taken in the spoke's file
	imported         map[string]string // name by path
	pairs            map[string]*pair  // by the identities of both types
	order            []string          // of the pairs, as they came up
	gaps             []string

	// Of the function that is being written:
	base    string // the type that it reads
	in, out string // the versions that it reads and writes
	lines   []string
}

// pair is a local type of one version and the one of the other that it becomes.
type pair struct {
	Helper
	missing bool // one cannot be made of the other
	known   bool // the package has the function already
	listed  bool
}

// locals are the names that the statements use.
var locals = []string{"src", "dst", "in", "out", "i", "j", "k", "l", "m", "n", "key", "value", "converted", "hub", "ok"}

// convertKind writes the conversion of a kind between two packages.
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

// object is the struct of the kind, without the version that its objects name:
// in that they differ.
func (c *converter) object(pkg *Package, kind string) *goType {
	t := c.under(&goType{form: local, path: pkg.Path, name: kind})
	t.fields = slices.DeleteFunc(t.fields, func(f goField) bool { return f.name == typeMeta })
	return t
}

// helpers returns the new functions, the two of a pair of types together.
func (c *converter) helpers() []Helper {
	var list []Helper
	add := func(key string) {
		if p := c.pairs[key]; p != nil && !p.missing && !p.known && !p.listed {
			p.listed = true
			list = append(list, p.Helper)
		}
	}
	for _, key := range c.order {
		add(key)
		from, to, _ := strings.Cut(key, " ")
		add(to + " " + from)
	}
	return list
}

func (c *converter) line(format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

// gap leaves a field of the struct in to the user, with a comment in its place.
func (c *converter) gap(in, field, format string, args ...any) {
	c.line("// "+field+" "+format, args...)
	_, inside, nested := strings.Cut(in, ".")
	if nested {
		field = inside + "." + field
	}
	c.gaps = append(c.gaps, c.base+"."+field)
}

// fields writes the assignments of the fields that both structs have, and
// comments about the others. It returns how many there are of the first.
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
			c.gap(in, f.name, "is not exported: it can be converted in its own package only.")
		case c.assign(field(out, f.name), field(in, f.name), other, f.typ, depth):
			mapped++
		case f.typ.source == other.source:
			c.gap(in, f.name, "is %s in both versions, of another make in each: convert it here.", f.typ.source)
		default:
			c.gap(in, f.name, "is %s in %s and %s in %s: convert it here.", f.typ.source, c.in, other.source, c.out)
		}
	}
	for _, f := range rest {
		if f.name != "_" {
			c.gap(in, f.name, "is only in %s: set it here where %s tells its value.", c.out, c.in)
		}
	}
	return mapped
}

// assign writes statements that give out the value of in. It reports false, and
// writes nothing, where that takes a person.
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

// value returns an expression of type to for the value of in, where one does.
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

// inline writes the statements for types that have no helper.
func (c *converter) inline(out, in string, to, from *goType, depth int) bool {
	a, b := c.under(from), c.under(to)
	if a.form != b.form {
		return false
	}
	lines, gaps := len(c.lines), len(c.gaps)
	ok := false
	switch a.form {
	case structure:
		// The same type in both versions is converted even where nothing in it is the
		// same: its fields are best listed where they are.
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
	// With nothing but comments the loop's variable would be unused.
	ok = ok && slices.ContainsFunc(c.lines[start:], func(line string) bool { return !strings.HasPrefix(line, "//") })
	c.line("}")
	return ok
}

// entries converts a map. Elements of maps have no address, so those that take
// more than an expression are made in a variable.
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

// helper returns the name of the function that converts between two local types.
func (c *converter) helper(to, from *goType) (string, bool) {
	key := from.identity() + " " + to.identity()
	if p := c.pairs[key]; p != nil {
		return p.Name, !p.missing
	}
	p := &pair{}
	c.pairs[key] = p
	c.order = append(c.order, key)
	var printed, printedToo bool
	p.In, printed = c.print(from)
	p.Out, printedToo = c.print(to)
	if p.missing = !printed || !printedToo; p.missing {
		return "", false
	}
	c.name(p, to, from)
	if p.known {
		return p.Name, true
	}
	lines, base := c.lines, c.base
	c.lines, c.base = nil, from.name
	p.missing = !c.inline("*out", "*in", to, from, 0)
	p.Body, c.lines, c.base = c.lines, lines, base
	return p.Name, !p.missing
}
