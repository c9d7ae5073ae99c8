package reads

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"
)

// only are the functions that read no more of an object than whether it exists and is empty, or that
// only pass it on.
var only = strings.Fields("coalesce default dict empty include kindIs kindOf list required ternary tpl tuple typeIs typeIsLike typeOf")

// Wrap adds the functions of instrumented templates to functions, and replaces those that read objects
// or change them.
func (r *Recorder) Wrap(functions template.FuncMap) {
	maps.Copy(functions, template.FuncMap{ // of package template
		"print": fmt.Sprint, "printf": fmt.Sprintf, "println": fmt.Sprintln, "html": template.HTMLEscaper,
		"js": template.JSEscaper, "urlquery": template.URLQueryEscaper, "len": length,
	})
	for name, f := range functions {
		switch {
		case slices.Contains(only, name):
		case name == "deepCopy":
			functions[name] = r.deepCopy(f)
		case name == "dig":
			functions[name] = r.wrap(f, r.dig)
		case name == "get" || name == "hasKey":
			functions[name] = r.wrap(f, r.getKey)
		case name == "set" || name == "unset":
			functions[name] = r.wrap(f, r.changeKey)
		case strings.Contains(strings.ToLower(name), "merge"):
			functions[name] = r.wrap(f, r.merge)
		case takesObjects(reflect.TypeOf(f)):
			functions[name] = r.wrap(f, r.readAll)
		}
	}
	functions["index"] = r.index
	functions[fieldsOf], functions[chainOf], functions[allOf] = r.fields, r.chain, r.all
}

// takesObjects reports whether an argument of a function can be an object, or contain one.
func takesObjects(f reflect.Type) bool {
	for in := range f.Ins() {
		for in.Kind() == reflect.Slice {
			in = in.Elem()
		}
		if in.Kind() == reflect.Interface || in.Kind() == reflect.Map {
			return true
		}
	}
	return false
}

// wrap returns a function that calls before with the arguments, and what that returns after the
// function.
func (r *Recorder) wrap(f any, before func(args []any) (after func())) any {
	v := reflect.ValueOf(f)
	call := v.Call
	if v.Type().IsVariadic() {
		call = v.CallSlice
	}
	return reflect.MakeFunc(v.Type(), func(in []reflect.Value) []reflect.Value {
		args := make([]any, 0, len(in))
		for _, arg := range in {
			args = append(args, arg.Interface())
		}
		after := before(args)
		results := call(in)
		after()
		return results
	}).Interface()
}

func nothing() {}

// deepCopy returns the function deepCopy, whose copies are known.
func (r *Recorder) deepCopy(f any) any {
	clone, ok := f.(func(any) any)
	if !ok {
		return r.wrap(f, r.readAll)
	}
	return func(v any) any {
		to := clone(v)
		r.copy(v, to)
		return to
	}
}

// getKey records the read of a key of an object.
func (r *Recorder) getKey(args []any) func() {
	if key, isString := args[1].(string); isString {
		r.walk(args[0], []string{key}, shallow)
	}
	return nothing
}

// dig records the read of the path that the arguments are, before a default and the object.
func (r *Recorder) dig(args []any) func() {
	var names []string
	list, _ := args[0].([]any)
	for _, key := range list[:max(len(list)-2, 0)] {
		name, isString := key.(string)
		if !isString {
			return r.readAll(args)
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		r.walk(list[len(list)-1], names, shallow)
	}
	return nothing
}

// readAll records that arguments are read completely.
func (r *Recorder) readAll(args []any) func() {
	for _, arg := range args {
		if objects, is := arg.([]map[string]any); is {
			for _, o := range objects {
				r.whole(o, 0)
			}
			continue
		}
		r.whole(arg, 0)
	}
	return nothing
}

// errOther makes the caller execute the template as it was.
var errOther = errors.New(prefix + " elsewhere")

// index is the function index of package template for objects and lists. It fails where that may fail,
// or does more.
func (r *Recorder) index(v any, keys ...any) (any, error) {
	for _, key := range keys {
		if object, isObject := v.(map[string]any); isObject {
			name, isString := key.(string)
			if !isString {
				return nil, errOther
			}
			r.walk(object, []string{name}, shallow)
			v = object[name]
			continue
		}
		list, at := reflect.ValueOf(v), reflect.ValueOf(key)
		if !at.IsValid() || !at.CanInt() || list.Kind() != reflect.Slice || at.Int() < 0 || at.Int() >= int64(list.Len()) {
			return nil, errOther
		}
		r.whole(v, 0)
		v = list.Index(int(at.Int())).Interface()
	}
	return v, nil
}

// length is the function len of package template. It fails where that fails.
func length(v any) (int, error) {
	switch list := reflect.ValueOf(v); list.Kind() {
	case reflect.String, reflect.Array, reflect.Chan, reflect.Map, reflect.Slice:
		return list.Len(), nil
	}
	return 0, errOther
}
