package output

import (
	"encoding/json"
	"slices"
	"strings"
)

// operation finds what the engine refuses in an operation, and reports whether
// that is nothing. The engine drops texts that are empty before it looks.
func (j *judge) operation(o Operation, d document) bool {
	known := len(j.findings)
	switch {
	case d.isEmpty():
		j.refuse(d.at, rulePatchSchema, "is an empty document, with no operation; there is nothing behind a last ---")
		return false
	case o.Operation == "":
		j.refuse(d.key("operation"), rulePatchSchema, "lacks operation, one of %s", strings.Join(everyone, ", "))
		return false
	case !slices.Contains(everyone, o.Operation):
		j.refuse(d.value("operation"), rulePatchSchema, "operation is %q, and must be one of %s%s", o.Operation, strings.Join(everyone, ", "), meant(o.Operation, everyone))
		return false
	}
	for _, part := range []struct {
		key   string
		value any
	}{{"object", o.Object}, {"mergePatch", o.MergePatch}, {"jsonPatch", o.JSONPatch}} {
		if _, err := json.Marshal(part.value); err != nil {
			j.refuse(d.value(part.key), rulePatchSchema, "%s has no form in JSON: %v", part.key, err)
			return false
		}
	}
	switch {
	case o.Creates():
		j.objectOrText(o.Operation, "object", o.Object, d)
	case o.Operation == "JQPatch":
		if o.JQFilter == "" {
			j.lacks(o.Operation, "jqFilter", d)
		}
	case o.Operation == "MergePatch":
		j.objectOrText(o.Operation, "mergePatch", o.MergePatch, d)
	case o.Operation == "JSONPatch":
		j.jsonPatch(o.JSONPatch, d)
	}
	if !o.Creates() {
		if o.Kind == "" {
			j.lacks(o.Operation, "kind", d)
		}
		if o.Name == "" {
			j.lacks(o.Operation, "name", d)
		}
	}
	return !slices.ContainsFunc(j.findings[known:], isRefusal)
}

func (j *judge) lacks(operation, key string, d document) {
	j.refuse(d.key(key), rulePatchSchema, "%s lacks %s", operation, key)
}

// objectOrText finds that a value is neither an object, with a key at least, nor
// a text of one.
func (j *judge) objectOrText(operation, key string, v any, d document) {
	switch x := v.(type) {
	case nil:
		j.lacks(operation, key, d)
	case string:
	case map[string]any:
		if len(x) == 0 {
			j.refuse(d.value(key), rulePatchSchema, "%s of %s is empty", key, operation)
		}
	default:
		j.refuse(d.value(key), rulePatchSchema, "%s of %s must be an object, or a text of one, not %s", key, operation, article(kindOf(v)))
	}
}

// jsonPatch judges as much of a JSON patch as the engine does: the first item.
func (j *judge) jsonPatch(v any, d document) {
	switch x := v.(type) {
	case nil:
		j.lacks("JSONPatch", "jsonPatch", d)
	case string:
	case []any:
		if len(x) == 0 {
			j.refuse(d.value("jsonPatch"), rulePatchSchema, "jsonPatch is empty")
			return
		}
		j.firstItem(x[0], d)
	default:
		j.refuse(d.value("jsonPatch"), rulePatchSchema, "jsonPatch must be a list, or a text of one, not %s", article(kindOf(v)))
	}
}

func (j *judge) firstItem(v any, d document) {
	at := d.item("jsonPatch", 0)
	item, isObject := v.(map[string]any)
	if !isObject {
		j.refuse(at, rulePatchSchema, "jsonPatch[0] must be an object, not %s", article(kindOf(v)))
		return
	}
	for _, key := range []string{"op", "path"} {
		switch text, isText := item[key].(string); {
		case item[key] == nil:
			j.refuse(at, rulePatchSchema, "jsonPatch[0] lacks %s", key)
		case !isText:
			j.refuse(at, rulePatchSchema, "jsonPatch[0].%s must be a text, not %s", key, article(kindOf(item[key])))
		case text == "":
			j.refuse(at, rulePatchSchema, "jsonPatch[0].%s is empty", key)
		}
	}
	if _, there := item["value"]; there {
		return
	}
	hint := ""
	if op := item["op"]; op == "remove" || op == "move" || op == "copy" {
		hint = ": give it one, which the API server passes over, or write the whole patch as text"
	}
	j.refuse(at, rulePatchSchema, "jsonPatch[0] lacks value, without which the engine refuses a patch whatever it begins with%s", hint)
}
