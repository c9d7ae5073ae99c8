package descriptors

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// The elements with which the console of OpenShift shows a field:
// https://github.com/openshift/console/blob/main/frontend/packages/operator-lifecycle-manager/src/components/descriptors/reference/reference.md
const (
	ui             = "urn:alm:descriptor:com.tectonic.ui:"
	conditionsList = "urn:alm:descriptor:io.kubernetes.conditions"
)

// fromSchema returns a descriptor for each field of spec or status in the schema of a CRD,
// sorted by path. Fields that the schema does not list have none.
func fromSchema(schema map[string]any, part string) []any {
	fields := property(property(schema, "properties"), part)
	properties := property(fields, "properties")
	var list []any
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field, ok := properties[name].(map[string]any)
		if !ok {
			continue
		}
		d := map[string]any{"path": name, "displayName": Words(name)}
		if text, _ := field["description"].(string); text != "" {
			d["description"] = text
		}
		if elements := elements(part, name, field); len(elements) > 0 {
			d["x-descriptors"] = elements
		}
		list = append(list, d)
	}
	return list
}

// elements returns how to show a field. Fields of the status are text, except for
// conditions.
func elements(part, name string, field map[string]any) []any {
	properties := property(field, "properties")
	values, _ := field["enum"].([]any)
	kind := field["type"]
	switch {
	case part == status:
		if name == "conditions" && kind == "array" {
			return []any{conditionsList}
		}
		return nil
	case kind == "boolean":
		return []any{ui + "booleanSwitch"}
	case kind == "integer" && name == "replicas":
		return []any{ui + "podCount"}
	case kind == "integer", kind == "number":
		return []any{ui + "number"}
	case kind == "string" && len(values) > 0:
		var list []any
		for _, v := range values {
			if text, ok := v.(string); ok && text != "" {
				list = append(list, ui+"select:"+text)
			}
		}
		return list
	case kind == "string" && field["format"] == "password":
		return []any{ui + "password"}
	case kind == "string":
		return []any{ui + "text"}
	case properties["limits"] != nil && properties["requests"] != nil:
		return []any{ui + "resourceRequirements"}
	}
	return nil
}

func property(m map[string]any, key string) map[string]any {
	value, _ := m[key].(map[string]any)
	return value
}

// Words returns a name in words: of CamelCase, or of words with hyphens.
func Words(name string) string {
	var out strings.Builder
	runes := []rune(name)
	start := true
	for i, r := range runes {
		switch {
		case r == '-' || r == '_' || r == '.':
			start = true
			continue
		case unicode.IsUpper(r) && i > 0 && !start && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			start = true
		}
		if start && out.Len() > 0 {
			out.WriteByte(' ')
		}
		if start {
			r = unicode.ToUpper(r)
		}
		out.WriteRune(r)
		start = false
	}
	return out.String()
}
