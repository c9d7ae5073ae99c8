package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/api/validate/content"
)

// unread are the keys that an operation passes over, by what it does.
func (o Operation) unread() []string {
	switch {
	case o.Creates():
		return []string{"apiVersion", "kind", "namespace", "name", "subresource", "jqFilter", "mergePatch", "jsonPatch", "ignoreMissingObject", "ignoreHookError"}
	case o.Deletes():
		return []string{"subresource", "object", "jqFilter", "mergePatch", "jsonPatch", "ignoreMissingObject", "ignoreHookError"}
	}
	own := map[string]string{"JQPatch": "jqFilter", "MergePatch": "mergePatch", "JSONPatch": "jsonPatch"}[o.Operation]
	return slices.DeleteFunc([]string{"object", "jqFilter", "mergePatch", "jsonPatch"}, func(key string) bool { return key == own })
}

// lintOperation finds what the engine takes without a word.
func (j *judge) lintOperation(o Operation, d document) {
	for _, key := range o.unread() {
		if k, _ := d.pair(key); k != nil {
			j.lint(d.placeOf(k), rulePatchNoEffect, "%s has no effect on %s%s", key, o.Operation, instead(o, key))
		}
	}
	switch {
	case !o.IgnoreHookError || !o.Patches():
	case o.Subresource == "/status": // the one spelling that the engine compares with
		j.lint(d.key("ignoreHookError"), rulePatchNoEffect, "ignoreHookError has no effect since release 1.20 of the engine: it reads nothing of what a hook wrote that failed")
	default:
		j.lint(d.key("ignoreHookError"), rulePatchNoEffect, "ignoreHookError has no effect, and was meant for subresource: /status alone, slash included")
	}
	if o.Operation == "Delete" {
		j.lint(d.value("operation"), ruleForeground,
			"Delete waits up to 20 s until %s %s is gone, while everything else in the queue waits: DeleteInBackground does not", o.Kind, o.Name)
	}
	if o.Creates() {
		j.lintObject(o, d)
		return
	}
	for _, part := range []struct{ key, value string }{{"name", o.Name}, {"namespace", o.Namespace}} {
		if faults := content.IsPathSegmentName(part.value); len(faults) > 0 {
			j.lint(d.value(part.key), rulePatchFails, "%s is %q, and in a URL it %s", part.key, part.value, strings.Join(faults, ", and "))
		}
	}
	if o.Operation == "JQPatch" {
		if err := compiles(o.JQFilter); err != nil {
			j.lint(d.value("jqFilter"), rulePatchFails, "jqFilter: %v", err)
		}
		return
	}
	if o.Patches() {
		j.lintBody(o, d)
	}
}

func instead(o Operation, key string) string {
	switch {
	case !o.Creates():
		return ""
	case key == "namespace" || key == "name":
		return ": set object.metadata." + key
	case key == "apiVersion" || key == "kind":
		return ": set object." + key
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

// lintObject finds what the engine, or any API server, does not create.
func (j *judge) lintObject(o Operation, d document) {
	at := d.value("object")
	m, err := o.Manifest()
	if err != nil {
		j.lint(at, rulePatchFails, "object is a text that is no object: %v", err)
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
		j.lint(at, rulePatchFails, "object lacks %s", strings.Join(lacking, " and "))
	}
	if o.Operation == "CreateOrUpdate" && m.GetName() == "" && m.GetGenerateName() != "" {
		j.lint(at, rulePatchFails, "object has generateName alone, by which CreateOrUpdate finds nothing to update: each run creates another one")
	}
	if m.GetResourceVersion() != "" {
		j.lint(at, ruleVersion, "object has a metadata.resourceVersion, as those of snapshots do, and no API server creates it: take it out with del(.metadata.resourceVersion)")
	}
	if o.Operation == "CreateOrUpdate" && !copies(o.Object) {
		j.lint(at, rulePatchFails,
			"object has a number or a time, in YAML: where it is there already, the engine panics over it, in each run anew: write JSON, or the object as text")
	}
}

// copies reports whether a value is of the types that JSON has, and no other: all
// that the API machinery can copy.
func copies(v any) bool {
	switch x := v.(type) {
	case map[string]any:
		for _, v := range x {
			if !copies(v) {
				return false
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(x, func(v any) bool { return !copies(v) })
	case nil, string, bool, float64, int64:
		return true
	}
	return false
}

// lintBody finds patches that an API server refuses.
func (j *judge) lintBody(o Operation, d document) {
	key, v := "mergePatch", o.MergePatch
	if o.Operation == "JSONPatch" {
		key, v = "jsonPatch", o.JSONPatch
	}
	patch, err := fromText(v)
	if err != nil {
		j.lint(d.value(key), rulePatchFails, "%s is a text that is no YAML: %v", key, err)
		return
	}
	if o.Operation == "MergePatch" {
		if _, isObject := patch.(map[string]any); !isObject {
			j.lint(d.value(key), rulePatchFails, "mergePatch is the text of %s, and must be that of an object", article(kindOf(patch)))
		}
		return
	}
	for _, fault := range patchFaults(patch) {
		j.lint(d.value(key), rulePatchFails, "%s", fault)
	}
}

// patchFaults finds what keeps an API server from taking a JSON patch (RFC 6902).
func patchFaults(patch any) []string {
	items, isList := patch.([]any)
	if !isList {
		return []string{fmt.Sprintf("a JSON patch is a list, not %s", article(kindOf(patch)))}
	}
	var faults []string
	for i, v := range items {
		item, isObject := v.(map[string]any)
		if !isObject {
			faults = append(faults, fmt.Sprintf("item %d is %s, not an object", i, article(kindOf(v))))
			continue
		}
		if fault := itemFault(item); fault != "" {
			faults = append(faults, fmt.Sprintf("item %d %s", i, fault))
		}
	}
	return faults
}

// patchValues are the operations of a JSON patch, with the key that each needs
// beside op and path.
var patchValues = map[string]string{"add": "value", "replace": "value", "test": "value", "move": "from", "copy": "from", "remove": ""}

func itemFault(item map[string]any) string {
	op, isText := item["op"].(string)
	key, known := patchValues[op]
	switch {
	case !isText:
		return "lacks op"
	case !known:
		return fmt.Sprintf("has op %q, and a JSON patch knows add, remove, replace, move, copy and test", op)
	}
	for _, pointer := range []string{"path", "from"} {
		if pointer == "from" && key != "from" {
			continue
		}
		switch text, isText := item[pointer].(string); {
		case !isText:
			return fmt.Sprintf("(%s) lacks %s", op, pointer)
		case text != "" && !strings.HasPrefix(text, "/"):
			return fmt.Sprintf("(%s) has %s %q, which must begin with /", op, pointer, text)
		}
	}
	if _, there := item["value"]; key == "value" && !there {
		return fmt.Sprintf("(%s) lacks value", op)
	}
	return ""
}
