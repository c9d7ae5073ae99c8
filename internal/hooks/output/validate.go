package output

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
)

// checkOperation validates an operation as the engine does, and reports whether it is valid.
// The engine treats empty strings as absent.
func (r *report) checkOperation(o Operation, d document) bool {
	before := len(r.findings)
	switch {
	case d.isEmpty():
		r.add(d.at, rulePatchSchema, "the document is empty; remove the preceding ---")
		return false
	case o.Operation == "":
		r.add(d.key("operation"), rulePatchSchema, "operation is missing; it must be one of %s", strings.Join(operations, ", "))
		return false
	case !slices.Contains(operations, o.Operation):
		r.add(d.value("operation"), rulePatchSchema, "operation is %q; it must be one of %s%s",
			o.Operation, strings.Join(operations, ", "), fault.DidYouMean(o.Operation, operations))
		return false
	}
	for _, part := range []struct {
		key   string
		value any
	}{{"object", o.Object}, {"mergePatch", o.MergePatch}, {"jsonPatch", o.JSONPatch}} {
		if _, err := json.Marshal(part.value); err != nil {
			r.add(d.value(part.key), rulePatchSchema, "%s cannot be encoded as JSON: %v", part.key, err)
			return false
		}
	}
	switch {
	case o.Creates():
		r.checkObjectOrString(o.Operation, "object", o.Object, d)
	case o.Operation == "JQPatch":
		if o.JQFilter == "" {
			r.lacks(o.Operation, "jqFilter", d)
		}
	case o.Operation == "MergePatch":
		r.checkObjectOrString(o.Operation, "mergePatch", o.MergePatch, d)
	case o.Operation == "JSONPatch":
		r.checkJSONPatch(o.JSONPatch, d)
	}
	if !o.Creates() {
		if o.Kind == "" {
			r.lacks(o.Operation, "kind", d)
		}
		if o.Name == "" {
			r.lacks(o.Operation, "name", d)
		}
	}
	return !finding.HasErrors(r.findings[before:])
}

// lacks reports a missing key.
func (r *report) lacks(operation, key string, d document) {
	r.add(d.key(key), rulePatchSchema, "%s lacks %s", operation, key)
}

// checkObjectOrString requires a non-empty object, or a string.
func (r *report) checkObjectOrString(operation, key string, v any, d document) {
	switch x := v.(type) {
	case nil:
		r.lacks(operation, key, d)
	case string:
	case map[string]any:
		if len(x) == 0 {
			r.add(d.value(key), rulePatchSchema, "%s of %s is empty", key, operation)
		}
	default:
		r.add(d.value(key), rulePatchSchema, "%s of %s must be an object or a string that contains one, not %s", key, operation, typeOf(v))
	}
}

// checkJSONPatch validates a JSON patch. Like the engine, it checks only the first item.
func (r *report) checkJSONPatch(v any, d document) {
	switch x := v.(type) {
	case nil:
		r.lacks("JSONPatch", "jsonPatch", d)
	case string:
	case []any:
		if len(x) == 0 {
			r.add(d.value("jsonPatch"), rulePatchSchema, "jsonPatch is empty")
			return
		}
		r.checkFirstItem(x[0], d)
	default:
		r.add(d.value("jsonPatch"), rulePatchSchema, "jsonPatch must be a list or a string that contains one, not %s", typeOf(v))
	}
}

// checkFirstItem validates the first item of a JSON patch.
func (r *report) checkFirstItem(v any, d document) {
	at := d.item("jsonPatch", 0)
	item, isObject := v.(map[string]any)
	if !isObject {
		r.add(at, rulePatchSchema, "jsonPatch[0] must be an object, not %s", typeOf(v))
		return
	}
	for _, key := range []string{"op", "path"} {
		text, isString := item[key].(string)
		switch {
		case item[key] == nil:
			r.add(at, rulePatchSchema, "jsonPatch[0] lacks %s", key)
		case !isString:
			r.add(at, rulePatchSchema, "jsonPatch[0].%s must be a string, not %s", key, typeOf(item[key]))
		case text == "":
			r.add(at, rulePatchSchema, "jsonPatch[0].%s is empty", key)
		}
	}
	if _, exists := item["value"]; exists {
		return
	}
	hint := ""
	if op := item["op"]; op == "remove" || op == "move" || op == "copy" {
		hint = "; add any value, which the API server ignores, or write the entire patch as a string"
	}
	r.add(at, rulePatchSchema, "jsonPatch[0] lacks value; the engine requires one in the first item%s", hint)
}
