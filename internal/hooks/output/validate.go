package output

import (
	"encoding/json"
	"slices"
	"strings"
)

// operation validates an operation as the engine does, and reports whether it is valid.
// The engine treats empty strings as missing.
func (r *report) operation(o Operation, d document) bool {
	known := len(r.findings)
	switch {
	case d.isEmpty():
		r.errorf(d.at, rulePatchSchema, "the document is empty; remove the --- before it")
		return false
	case o.Operation == "":
		r.errorf(d.key("operation"), rulePatchSchema, "operation is missing; it must be one of %s", strings.Join(operations, ", "))
		return false
	case !slices.Contains(operations, o.Operation):
		r.errorf(d.value("operation"), rulePatchSchema, "operation is %q; it must be one of %s%s", o.Operation, strings.Join(operations, ", "), suggestion(o.Operation, operations))
		return false
	}
	for _, part := range []struct {
		key   string
		value any
	}{{"object", o.Object}, {"mergePatch", o.MergePatch}, {"jsonPatch", o.JSONPatch}} {
		if _, err := json.Marshal(part.value); err != nil {
			r.errorf(d.value(part.key), rulePatchSchema, "%s cannot be encoded as JSON: %v", part.key, err)
			return false
		}
	}
	switch {
	case o.Creates():
		r.objectOrString(o.Operation, "object", o.Object, d)
	case o.Operation == "JQPatch":
		if o.JQFilter == "" {
			r.lacks(o.Operation, "jqFilter", d)
		}
	case o.Operation == "MergePatch":
		r.objectOrString(o.Operation, "mergePatch", o.MergePatch, d)
	case o.Operation == "JSONPatch":
		r.jsonPatch(o.JSONPatch, d)
	}
	if !o.Creates() {
		if o.Kind == "" {
			r.lacks(o.Operation, "kind", d)
		}
		if o.Name == "" {
			r.lacks(o.Operation, "name", d)
		}
	}
	return !slices.ContainsFunc(r.findings[known:], isRefusal)
}

func (r *report) lacks(operation, key string, d document) {
	r.errorf(d.key(key), rulePatchSchema, "%s lacks %s", operation, key)
}

// objectOrString requires an object that is not empty, or a string.
func (r *report) objectOrString(operation, key string, v any, d document) {
	switch x := v.(type) {
	case nil:
		r.lacks(operation, key, d)
	case string:
	case map[string]any:
		if len(x) == 0 {
			r.errorf(d.value(key), rulePatchSchema, "%s of %s is empty", key, operation)
		}
	default:
		r.errorf(d.value(key), rulePatchSchema, "%s of %s must be an object or a string that contains one, not %s", key, operation, article(typeOf(v)))
	}
}

// jsonPatch validates the first item of a JSON patch. The engine checks no other.
func (r *report) jsonPatch(v any, d document) {
	switch x := v.(type) {
	case nil:
		r.lacks("JSONPatch", "jsonPatch", d)
	case string:
	case []any:
		if len(x) == 0 {
			r.errorf(d.value("jsonPatch"), rulePatchSchema, "jsonPatch is empty")
			return
		}
		r.firstItem(x[0], d)
	default:
		r.errorf(d.value("jsonPatch"), rulePatchSchema, "jsonPatch must be a list or a string that contains one, not %s", article(typeOf(v)))
	}
}

func (r *report) firstItem(v any, d document) {
	at := d.item("jsonPatch", 0)
	item, isObject := v.(map[string]any)
	if !isObject {
		r.errorf(at, rulePatchSchema, "jsonPatch[0] must be an object, not %s", article(typeOf(v)))
		return
	}
	for _, key := range []string{"op", "path"} {
		switch text, isText := item[key].(string); {
		case item[key] == nil:
			r.errorf(at, rulePatchSchema, "jsonPatch[0] lacks %s", key)
		case !isText:
			r.errorf(at, rulePatchSchema, "jsonPatch[0].%s must be a string, not %s", key, article(typeOf(item[key])))
		case text == "":
			r.errorf(at, rulePatchSchema, "jsonPatch[0].%s is empty", key)
		}
	}
	if _, there := item["value"]; there {
		return
	}
	hint := ""
	if op := item["op"]; op == "remove" || op == "move" || op == "copy" {
		hint = "; add one, which the API server ignores, or write the whole patch as a string"
	}
	r.errorf(at, rulePatchSchema, "jsonPatch[0] lacks value; the engine requires one in the first item%s", hint)
}
