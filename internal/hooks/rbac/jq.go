package rbac

import (
	"reflect"
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
		for _, o := range objectsIn(reflect.ValueOf(query)) {
			if doc, is := operationOf(c.at(), literalObject(o)); is {
				c.operate(doc, c.Text)
			}
		}
	}
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

// literalObject is an object as far as it is written out.
func literalObject(o *gojq.Object) map[string]any {
	doc := map[string]any{}
	for _, kv := range o.KeyVals {
		key := kv.Key
		if kv.KeyString != nil && len(kv.KeyString.Queries) == 0 {
			key = kv.KeyString.Str
		}
		doc[strings.TrimPrefix(key, "$")] = literal(kv.Val) // {$name} has no value of its own
	}
	return doc
}

// literal returns an object or a text, or unknown for all that is computed.
func literal(q *gojq.Query) any {
	if q == nil || q.Term == nil || len(q.FuncDefs) > 0 || len(q.Term.SuffixList) > 0 {
		return unknown
	}
	switch t := q.Term; {
	case t.Type == gojq.TermTypeObject:
		return literalObject(t.Object)
	case t.Type == gojq.TermTypeString && len(t.Str.Queries) == 0:
		return t.Str.Str
	case t.Type == gojq.TermTypeQuery:
		return literal(t.Query)
	}
	return unknown
}
