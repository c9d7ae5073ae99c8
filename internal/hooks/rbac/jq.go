package rbac

import (
	"reflect"
	"strings"

	"github.com/itchyny/gojq"
)

// Options of jq with arguments, and how many.
var jqOptions = map[string]int{"--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--indent": 1, "-L": 1, "-f": 1, "--from-file": 1}

// jq allows the operations that a jq program writes out as objects.
func (p *program) jq(c invocation) {
	program, given, found := jqProgram(c.args[1:])
	if !found || !strings.Contains(program, "operation") {
		return
	}
	query, err := gojq.Parse(placeholders(program))
	if err != nil {
		if hasOperation(program) {
			p.reportUnknown(c.at(), c.in, "the jq program is known only at run time: %v", err)
		}
		return
	}
	for _, o := range objectsIn(query) {
		if doc, is := literal(o, given).(map[string]any); is {
			if op, is := operationOf(c.at(), doc); is {
				p.operate(op, c.in.Text)
			}
		}
	}
}

// jqProgram finds the program among the arguments of jq, and what --arg gives it.
func jqProgram(args []string) (program string, given map[string]string, found bool) {
	given = map[string]string{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		n, option := jqOptions[a]
		switch {
		case a == "-f" || a == "--from-file":
			return "", nil, false
		case option:
			if a == "--arg" && i+2 < len(args) && isKnown(args[i+2]) {
				given["$"+args[i+1]] = args[i+2]
			}
			i += n
		case strings.HasPrefix(a, "-"):
		case !found:
			program, found = a, true
		}
	}
	return program, given, found
}

// objectsIn are the objects that a query constructs, outer ones first.
func objectsIn(query *gojq.Query) []*gojq.Object {
	var found []*gojq.Object
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				return
			}
			if o, is := v.Interface().(*gojq.Object); is {
				found = append(found, o)
			}
			look(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					look(v.Field(i))
				}
			}
		case reflect.Slice:
			for i := range v.Len() {
				look(v.Index(i))
			}
		}
	}
	look(reflect.ValueOf(query))
	return found
}

// literal is an object as far as it is written out: maps, texts, and placeholders for
// the rest.
func literal(o *gojq.Object, given map[string]string) any {
	doc := map[string]any{}
	for _, kv := range o.KeyVals {
		key := kv.Key
		switch {
		case kv.KeyString != nil && len(kv.KeyString.Queries) == 0:
			key = kv.KeyString.Str
		case kv.KeyString != nil || kv.KeyQuery != nil:
			continue
		}
		switch {
		case kv.Val != nil:
			doc[key] = literalOf(kv.Val, given)
		case strings.HasPrefix(key, "$"): // {$name}
			doc[strings.TrimPrefix(key, "$")] = named(key, given)
		default:
			doc[key] = placeholder
		}
	}
	return doc
}

func named(name string, given map[string]string) string {
	if v, known := given[name]; known {
		return v
	}
	return placeholder
}

func literalOf(q *gojq.Query, given map[string]string) any {
	t := q.Term
	if t == nil || len(q.FuncDefs) > 0 || len(t.SuffixList) > 0 {
		return placeholder
	}
	switch {
	case t.Type == gojq.TermTypeObject:
		return literal(t.Object, given)
	case t.Type == gojq.TermTypeString && len(t.Str.Queries) == 0:
		return t.Str.Str
	case t.Type == gojq.TermTypeFunc && len(t.Func.Args) == 0:
		return named(t.Func.Name, given)
	case t.Type == gojq.TermTypeQuery:
		return literalOf(t.Query, given)
	}
	return placeholder
}
