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
		return []string{"apiVersion", "kind", "namespace", "name", "subresource", "jqFilter", "mergePatch", "jsonPatch", "ignoreMissingObject", "ignoreHookError"}
	case o.Deletes():
		return []string{"subresource", "object", "jqFilter", "mergePatch", "jsonPatch", "ignoreMissingObject", "ignoreHookError"}
	}
	own := map[string]string{"JQPatch": "jqFilter", "MergePatch": "mergePatch", "JSONPatch": "jsonPatch"}[o.Operation]
	return slices.DeleteFunc([]string{"object", "jqFilter", "mergePatch", "jsonPatch"}, func(key string) bool { return key == own })
}

// lintOperation warns about mistakes that the engine accepts.
func (r *report) lintOperation(o Operation, d document) {
	for _, key := range o.ignoredKeys() {
		if k, _ := d.pair(key); k != nil {
			r.warnf(d.positionOf(k), rulePatchNoEffect, "%s has no effect on %s%s", key, o.Operation, instead(o, key))
		}
	}
	switch {
	case !o.IgnoreHookError || !o.Patches():
	case o.Subresource == "/status": // the only spelling that the engine supports
		r.warnf(d.key("ignoreHookError"), rulePatchNoEffect, "ignoreHookError has no effect since version 1.20 of the engine, which ignores the output of failed hooks")
	default:
		r.warnf(d.key("ignoreHookError"), rulePatchNoEffect, "ignoreHookError has no effect; earlier versions of the engine supported it only with subresource: /status")
	}
	if o.Operation == "Delete" {
		r.warnf(d.value("operation"), ruleForeground,
			"Delete waits up to 20 s until %s %s is deleted, and blocks its queue; DeleteInBackground does not wait", o.Kind, o.Name)
	}
	if o.Creates() {
		r.lintObject(o, d)
		return
	}
	for _, part := range []struct{ key, value string }{{"name", o.Name}, {"namespace", o.Namespace}} {
		if problems := content.IsPathSegmentName(part.value); len(problems) > 0 {
			r.warnf(d.value(part.key), rulePatchFails, "%s %q is not valid in a URL: it %s", part.key, part.value, strings.Join(problems, ", and "))
		}
	}
	if o.Operation == "JQPatch" {
		if err := compiles(o.JQFilter); err != nil {
			r.warnf(d.value("jqFilter"), rulePatchFails, "jqFilter: %v", err)
		}
		return
	}
	if o.Patches() {
		r.lintBody(o, d)
	}
}

func instead(o Operation, key string) string {
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

func compiles(filter string) error {
	query, err := gojq.Parse(filter)
	if err != nil {
		return plainJQ(err)
	}
	if _, err := gojq.Compile(query); err != nil {
		return plainJQ(err)
	}
	return nil
}

func plainJQ(err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
}

// lintObject warns about objects that the engine or an API server cannot create.
func (r *report) lintObject(o Operation, d document) {
	at := d.value("object")
	m, err := o.Manifest()
	if err != nil {
		r.warnf(at, rulePatchFails, "object is a string that contains no object: %v", err)
		return
	}
	var lacking []string
	for _, key := range []string{"apiVersion", "kind"} {
		if text, _ := m.Object[key].(string); text == "" {
			lacking = append(lacking, key)
		}
	}
	if m.GetName() == "" && m.GetGenerateName() == "" {
		lacking = append(lacking, "metadata.name")
	}
	if len(lacking) > 0 {
		r.warnf(at, rulePatchFails, "object lacks %s", strings.Join(lacking, " and "))
	}
	if o.Operation == "CreateOrUpdate" && m.GetName() == "" && m.GetGenerateName() != "" {
		r.warnf(at, rulePatchFails, "object has generateName but no name, so CreateOrUpdate creates another object in each run")
	}
	if m.GetResourceVersion() != "" {
		r.warnf(at, ruleVersion, "object has metadata.resourceVersion, as objects in snapshots do, and the API server rejects it; remove it with del(.metadata.resourceVersion)")
	}
	if o.Operation == "CreateOrUpdate" && !canDeepCopy(o.Object) {
		r.warnf(at, rulePatchFails,
			"object contains a number or a time in YAML; the engine panics if the object already exists; write JSON, or the object as a string")
	}
}

// canDeepCopy reports whether a value consists of the types of decoded JSON. The API
// machinery panics when it copies others.
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

// lintBody warns about patches that an API server rejects.
func (r *report) lintBody(o Operation, d document) {
	key, v := "mergePatch", o.MergePatch
	if o.Operation == "JSONPatch" {
		key, v = "jsonPatch", o.JSONPatch
	}
	patch, err := parsed(v)
	if err != nil {
		r.warnf(d.value(key), rulePatchFails, "%s is a string that is not valid YAML: %v", key, err)
		return
	}
	if o.Operation == "MergePatch" {
		if _, isObject := patch.(map[string]any); !isObject {
			r.warnf(d.value(key), rulePatchFails, "mergePatch is a string that contains %s instead of an object", article(typeOf(patch)))
		}
		return
	}
	for _, problem := range jsonPatchErrors(patch) {
		r.warnf(d.value(key), rulePatchFails, "%s", problem)
	}
}

// jsonPatchErrors returns the errors of a JSON patch (RFC 6902).
func jsonPatchErrors(patch any) []string {
	items, isList := patch.([]any)
	if !isList {
		return []string{fmt.Sprintf("a JSON patch is a list, not %s", article(typeOf(patch)))}
	}
	var problems []string
	for i, v := range items {
		item, isObject := v.(map[string]any)
		if !isObject {
			problems = append(problems, fmt.Sprintf("item %d is %s, not an object", i, article(typeOf(v))))
			continue
		}
		if problem := itemError(item); problem != "" {
			problems = append(problems, fmt.Sprintf("item %d %s", i, problem))
		}
	}
	return problems
}

// requiredKeys are the operations of a JSON patch, with the key that each requires in
// addition to op and path.
var requiredKeys = map[string]string{"add": "value", "replace": "value", "test": "value", "move": "from", "copy": "from", "remove": ""}

func itemError(item map[string]any) string {
	op, isText := item["op"].(string)
	key, known := requiredKeys[op]
	switch {
	case !isText:
		return "lacks op"
	case !known:
		return fmt.Sprintf("has op %q; it must be add, remove, replace, move, copy or test", op)
	}
	for _, pointer := range []string{"path", "from"} {
		if pointer == "from" && key != "from" {
			continue
		}
		switch text, isText := item[pointer].(string); {
		case !isText:
			return fmt.Sprintf("(%s) lacks %s", op, pointer)
		case text != "" && !strings.HasPrefix(text, "/"):
			return fmt.Sprintf("(%s) has %s %q, which must start with /", op, pointer, text)
		}
	}
	if _, there := item["value"]; key == "value" && !there {
		return fmt.Sprintf("(%s) lacks value", op)
	}
	return ""
}
