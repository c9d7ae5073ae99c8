package rbac

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"mvdan.cc/sh/v3/syntax"
)

// edits reports whether a statement may change the patch operations in its input.
func (s *scope) edits(stmt *syntax.Stmt) bool {
	c, is := stmt.Cmd.(*syntax.CallExpr)
	if !is {
		return false
	}
	return slices.ContainsFunc(s.fields(c.Args...), func(args []string) bool {
		switch call := (invocation{s, c, args}); {
		case len(args) == 0:
			return false
		case call.isJQ():
			program, known := jqProgram(args[1:])
			query, err := gojq.Parse(program)
			return !known || err != nil || len(call.jqArguments(program).changesIn(reflect.ValueOf(query))) > 0
		default:
			return isOneOf(path.Base(args[0]), editors...)
		}
	})
}

// editors are programs that print their input with changes.
var editors = strings.Fields("awk cut envsubst gawk mawk nawk perl rev sed tr yq")

// change is what a query may do with a field of objects that it gets, or with all fields if the
// name is empty.
type change struct {
	field  string
	values []any
}

// changedIn returns what an operation may be after changes. Other objects stay as they are.
func (given *jqValues) changedIn(doc map[string]any, all []change) []map[string]any {
	if doc["operation"] == nil {
		return []map[string]any{doc}
	}
	docs := []map[string]any{doc}
	for _, c := range all {
		if c.field == "" || len(docs)*(len(c.values)+1) > maxOutputs {
			return []map[string]any{{"operation": doc["operation"], "apiVersion": unknown, "kind": unknown}}
		}
		for _, before := range docs {
			for _, value := range c.values {
				after := maps.Clone(before)
				after[c.field] = value
				docs = append(docs, after)
			}
		}
	}
	return docs
}

// keepers are the functions that pass on objects without changes, or pass on none.
var keepers = strings.Fields(`all any arrays ascii contains debug empty endswith env error first flatten fromjson group_by has
	index input inputs inside isempty keys last length limit map match max_by min_by not now objects range recurse reverse
	select sort sort_by split startswith strings test tojson tostring type unique unique_by values`)

// changesIn returns the changes of objects that a query gets. Those that it constructs count for
// themselves.
func (given *jqValues) changesIn(v reflect.Value) (all []change) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		switch x := v.Interface().(type) {
		case *gojq.Object:
			return nil
		case *gojq.Query:
			return given.changesInQuery(x)
		case *gojq.Func:
			if !isOneOf(x.Name, keepers...) && !strings.HasPrefix(x.Name, "$") && !given.functions[x.Name] {
				all = append(all, change{})
			}
		}
		return append(all, given.changesIn(v.Elem())...)
	case reflect.Struct, reflect.Slice:
		for _, inner := range inside(v) {
			all = append(all, given.changesIn(inner)...)
		}
	}
	return all
}

// changesInQuery is changesIn for a query. It is called for each output of the query before.
func (given *jqValues) changesInQuery(q *gojq.Query) (all []change) {
	if all, known := given.changes[q]; known {
		return all
	}
	if c, is := given.changeOf(q); is {
		all = append(all, c)
	}
	all = append(all, given.changesIn(reflect.ValueOf(q).Elem())...)
	given.changes[q] = slices.Clip(all)
	return all
}

// changeOf returns the change that the operator of a query makes. The sum of lists has the same
// elements.
func (given *jqValues) changeOf(q *gojq.Query) (c change, is bool) {
	isList := func(side *gojq.Query) bool { return side.Term != nil && side.Term.Type == gojq.TermTypeArray }
	switch {
	case q.Op == gojq.OpAdd || q.Op == gojq.OpUpdateAdd:
		return c, !isList(q.Left) && !isList(q.Right)
	case q.Op < gojq.OpAssign:
		return c, q.Op == gojq.OpMul
	case q.Left.Term != nil && q.Left.Term.Type == gojq.TermTypeIndex:
		c = change{q.Left.Term.Index.Name, []any{unknown}}
		if q.Op == gojq.OpAssign && len(q.Left.Term.SuffixList) == 0 {
			c.values = given.values(q.Right, unknown)
		}
	}
	return c, true
}

// inside returns the parts of a struct or list.
func inside(v reflect.Value) (all []reflect.Value) {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			all = append(all, v.Index(i))
		}
		return all
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			all = append(all, v.Field(i))
		}
	}
	return all
}
