package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/api/validate/content"
)

// ignoredKeys returns the keys that have no effect on an operation.
func (o Operation) ignoredKeys() []string {
	switch {
	case o.Creates():
		return []string{
			"apiVersion", "kind", "namespace", "name", "subresource",
			"jqFilter", "mergePatch", "jsonPatch", "ignoreMissingObject", "ignoreHookError",
		}
	case o.isDelete():
		return []string{"subresource", "object", "jqFilter", "mergePatch", "jsonPatch", "ignoreMissingObject", "ignoreHookError"}
	}
	own := map[string]string{"JQPatch": "jqFilter", "MergePatch": "mergePatch", "JSONPatch": "jsonPatch"}[o.Operation]
	return slices.DeleteFunc([]string{"object", "jqFilter", "mergePatch", "jsonPatch"}, func(key string) bool { return key == own })
}

// lintOperation reports mistakes in an operation that the engine accepts.
func (r *report) lintOperation(o Operation, d document) {
	for _, key := range o.ignoredKeys() {
		if k, _, found := d.pair(key); found {
			r.add(d.positionOf(k), rulePatchNoEffect, "%s has no effect on %s%s", key, o.Operation, alternative(o, key))
		}
	}
	switch {
	case !o.IgnoreHookError || !o.isPatch():
	case o.Subresource == "/status": // earlier versions of the engine supported only this spelling
		r.add(d.key("ignoreHookError"), rulePatchNoEffect, "ignoreHookError has no effect since version 1.20 of the engine, which ignores the output of failed hooks")
	default:
		r.add(d.key("ignoreHookError"), rulePatchNoEffect, "ignoreHookError has no effect; earlier versions of the engine supported it only with subresource: /status")
	}
	if o.Operation == "Delete" {
		r.add(d.value("operation"), ruleForeground,
			"Delete waits up to 20 s until %s %s is deleted, and blocks its queue; DeleteInBackground does not wait", o.Kind, o.Name)
	}
	if o.Creates() {
		r.lintObject(o, d)
		return
	}
	for _, part := range []struct{ key, value string }{{"name", o.Name}, {"namespace", o.Namespace}} {
		if problems := content.IsPathSegmentName(part.value); len(problems) > 0 {
			r.add(d.value(part.key), rulePatchFails, "%s %q is not valid in a URL: it %s", part.key, part.value, strings.Join(problems, ", and "))
		}
	}
	if o.Operation == "JQPatch" {
		if err := compileJQ(o.JQFilter); err != nil {
			r.add(d.value("jqFilter"), rulePatchFails, "jqFilter: %v", err)
		}
		return
	}
	if o.isPatch() {
		r.lintBody(o, d)
	}
}

// alternative names the key to use in place of a key without effect, or returns "".
func alternative(o Operation, key string) string {
	switch {
	case !o.Creates():
		return ""
	case key == "namespace" || key == "name":
		return "; set object.metadata." + key
	case key == "apiVersion" || key == "kind":
		return "; set object." + key
	}
	return ""
}

// compileJQ returns the error of an invalid filter, on one line.
func compileJQ(filter string) error {
	query, err := gojq.Parse(filter)
	if err != nil {
		return oneLine(err)
	}
	if _, err := gojq.Compile(query); err != nil {
		return oneLine(err)
	}
	return nil
}

func oneLine(err error) error { return errors.New(strings.ReplaceAll(err.Error(), "\n", " ")) }

// lintObject reports objects that the engine or the API server cannot create.
func (r *report) lintObject(o Operation, d document) {
	at := d.value("object")
	m, err := o.Manifest()
	if err != nil {
		r.add(at, rulePatchFails, "object is a string that does not contain an object: %v", err)
		return
	}
	var missing []string
	for _, key := range []string{"apiVersion", "kind"} {
		if text, _ := m.Object[key].(string); text == "" {
			missing = append(missing, key)
		}
	}
	if m.GetName() == "" && m.GetGenerateName() == "" {
		missing = append(missing, "metadata.name")
	}
	if len(missing) > 0 {
		r.add(at, rulePatchFails, "object lacks %s", strings.Join(missing, " and "))
	}
	if o.Operation == "CreateOrUpdate" && m.GetName() == "" && m.GetGenerateName() != "" {
		r.add(at, rulePatchFails, "object has generateName but no name, so CreateOrUpdate creates another object in each run")
	}
	if m.GetResourceVersion() != "" {
		r.add(at, ruleVersion, "object has metadata.resourceVersion, like objects from snapshots, and the API server rejects it; remove it with del(.metadata.resourceVersion)")
	}
	if o.Operation == "CreateOrUpdate" && !canDeepCopy(o.Object) {
		r.add(at, rulePatchFails,
			"object contains a number or a time in YAML; the engine panics if the object already exists; write JSON, or the object as a string")
	}
}

// canDeepCopy reports whether a value consists only of the types of decoded JSON. The API
// machinery panics when it copies other types.
func canDeepCopy(v any) bool {
	switch x := v.(type) {
	case map[string]any:
		for _, v := range x {
			if !canDeepCopy(v) {
				return false
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(x, func(v any) bool { return !canDeepCopy(v) })
	case nil, string, bool, float64, int64:
		return true
	}
	return false
}

// lintBody reports patches that the API server rejects.
func (r *report) lintBody(o Operation, d document) {
	key, v := "mergePatch", o.MergePatch
	if o.Operation == "JSONPatch" {
		key, v = "jsonPatch", o.JSONPatch
	}
	patch, err := parseString(v)
	if err != nil {
		r.add(d.value(key), rulePatchFails, "%s is a string that is not valid YAML: %v", key, err)
		return
	}
	if o.Operation == "MergePatch" {
		if _, isObject := patch.(map[string]any); !isObject {
			r.add(d.value(key), rulePatchFails, "mergePatch is a string that contains %s instead of an object", typeOf(patch))
		}
		return
	}
	for _, problem := range jsonPatchErrors(patch) {
		r.add(d.value(key), rulePatchFails, "%s", problem)
	}
}

// jsonPatchErrors returns the errors of a JSON patch (RFC 6902).
func jsonPatchErrors(patch any) []string {
	items, isList := patch.([]any)
	if !isList {
		return []string{fmt.Sprintf("a JSON patch must be a list, not %s", typeOf(patch))}
	}
	var problems []string
	for i, v := range items {
		item, isObject := v.(map[string]any)
		if !isObject {
			problems = append(problems, fmt.Sprintf("item %d is %s, not an object", i, typeOf(v)))
			continue
		}
		if problem := itemError(item); problem != "" {
			problems = append(problems, fmt.Sprintf("item %d %s", i, problem))
		}
	}
	return problems
}

// requiredKeys maps the operations of a JSON patch to the key that they require in addition to
// op and path.
var requiredKeys = map[string]string{"add": "value", "replace": "value", "test": "value", "move": "from", "copy": "from", "remove": ""}

// itemError returns the error of an item of a JSON patch, or "".
func itemError(item map[string]any) string {
	op, isString := item["op"].(string)
	key, known := requiredKeys[op]
	switch {
	case !isString:
		return "lacks op"
	case !known:
		return fmt.Sprintf("has op %q; it must be add, remove, replace, move, copy or test", op)
	}
	for _, pointer := range []string{"path", "from"} {
		if pointer == "from" && key != "from" {
			continue
		}
		text, isString := item[pointer].(string)
		if !isString {
			return fmt.Sprintf("(%s) lacks %s", op, pointer)
		}
		if text != "" && !strings.HasPrefix(text, "/") {
			return fmt.Sprintf("(%s) has %s %q, which must start with /", op, pointer, text)
		}
	}
	if _, exists := item["value"]; key == "value" && !exists {
		return fmt.Sprintf("(%s) lacks value", op)
	}
	return ""
}
