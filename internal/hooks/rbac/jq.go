package rbac

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// jq allows the operations that a jq program writes out as objects.
func (c invocation) jq() {
	for _, text := range c.args[1:] {
		if !hasOperation(text) {
			continue
		}
		query, err := gojq.Parse(text)
		if err != nil {
			c.reportUnknown("the jq program is known only at run time: %v", err)
			continue
		}
		given := c.jqArguments(text)
		for _, o := range objectsIn(reflect.ValueOf(query)) {
			if doc, is := operationOf(c.at(), given.object(o)); is {
				c.operate(doc, c.Text)
			}
		}
	}
}

// jqValues are the values of the variables of a jq program that are known.
type jqValues map[string]string

// jqArguments returns the values that --arg gives to variables which the program does
// not bind itself.
func (c invocation) jqArguments(program string) jqValues {
	given := jqValues{}
	for i, a := range c.args {
		if a != "--arg" || i+2 >= len(c.args) || slices.Contains(c.args[:i], wildcard) {
			continue
		}
		name := "$" + c.args[i+1]
		if _, twice := given[name]; twice || bound(program, name) {
			given[name] = unknown
		} else {
			given[name] = c.args[i+2]
		}
	}
	return given
}

// bound reports whether a jq program may bind a variable: as $name, as [$name], or
// def f($name).
func bound(program, name string) bool {
	return regexp.MustCompile(`\b(?:as\b[^|(]*|def\b[^:]*)` + regexp.QuoteMeta(name) + `\b`).MatchString(program)
}

// objectsIn are the objects that a query constructs, outer ones first.
func objectsIn(v reflect.Value) (found []*gojq.Object) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if o, is := v.Interface().(*gojq.Object); is {
			found = append(found, o)
		}
		return append(found, objectsIn(v.Elem())...)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				found = append(found, objectsIn(v.Field(i))...)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, objectsIn(v.Index(i))...)
		}
	}
	return found
}

// object returns an object as far as it is written out.
func (given jqValues) object(o *gojq.Object) map[string]any {
	doc := map[string]any{}
	for _, kv := range o.KeyVals {
		key := kv.Key
		if kv.KeyString != nil && len(kv.KeyString.Queries) == 0 {
			key = kv.KeyString.Str
		}
		if kv.Val == nil { // {$name}
			doc[strings.TrimPrefix(key, "$")] = given.variable(key)
		} else {
			doc[key] = given.literal(kv.Val)
		}
	}
	return doc
}

func (given jqValues) variable(name string) string {
	if value, is := given[name]; is {
		return value
	}
	return unknown
}

// literal returns an object or a text, or unknown for all that is computed.
func (given jqValues) literal(q *gojq.Query) any {
	if q.Term == nil || len(q.FuncDefs) > 0 || len(q.Term.SuffixList) > 0 {
		return unknown
	}
	switch t := q.Term; {
	case t.Type == gojq.TermTypeObject:
		return given.object(t.Object)
	case t.Type == gojq.TermTypeString && len(t.Str.Queries) == 0:
		return t.Str.Str
	case t.Type == gojq.TermTypeQuery:
		return given.literal(t.Query)
	case t.Type == gojq.TermTypeFunc && len(t.Func.Args) == 0:
		return given.variable(t.Func.Name)
	}
	return unknown
}
