package crdupgrade

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// removed is the keyword of a difference if the whole property is missing.
const removed = "removed"

// difference is an incompatible difference of one keyword between two schemas of a property.
type difference struct {
	scope    string // the versions, such as "in v1"
	property string
	keyword  string // of OpenAPI, or removed
	from, to string // the values in JSON; "" for none
	path     []any
	parents  []string // the properties above, from the closest
	missing  bool     // the newer schema lacks the property
	moved    string   // such as "oneOf was added to", if the schemas are at different places
}

// key identifies the difference in two releases of a CRD. The schema of additional properties
// is compared by itself.
func (d difference) key() string {
	if d.keyword == "additionalProperties" {
		d.from, d.to = "", ""
	}
	return strings.Join([]string{d.scope, d.property, d.keyword, d.from, d.to}, "\x00")
}

// compare compares the properties of two versions. Additional properties are compatible.
func compare(scope string, older, newer map[string]property) []difference {
	var all []difference
	for _, name := range slices.Sorted(maps.Keys(older)) {
		from := older[name]
		to, ok := newer[name]
		d := difference{scope: scope, property: name, missing: !ok}
		for p := name; p != ""; {
			p = older[p].parent
			d.parents = append(d.parents, p)
		}
		if !ok {
			to.JSONSchemaProps = &apiextensionsv1.JSONSchemaProps{}
			for _, p := range d.parents { // the closest that is left
				if left, ok := newer[p]; ok {
					to.path = left.path
					break
				}
			}
			d.keyword, d.path = removed, to.path
			all = append(all, d)
		} else {
			d.moved = combinator(from.path, to.path)
		}
		for _, c := range changes(from.JSONSchemaProps, to.JSONSchemaProps) {
			d.keyword, d.from, d.to, d.path = c.keyword, c.from, c.to, to.path
			if ok && d.moved == "" {
				d.path = slices.Concat(to.path, []any{c.keyword})
				if c.keyword == "required" {
					d.path = append(d.path, slices.Index(to.Required, c.to))
				}
			}
			all = append(all, d)
		}
	}
	return all
}

// combinator returns what happened to the keyword that two paths to schemas of a property do
// not have in common, or "".
func combinator(from, to []any) string {
	from, to = from[5:], to[5:] // below spec.versions[i].schema.openAPIV3Schema
	if slices.Equal(from, to) {
		return ""
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "not"} {
		switch before, after := slices.Contains(from, any(keyword)), slices.Contains(to, any(keyword)); {
		case before && after:
			return keyword + " changed in"
		case after:
			return keyword + " was added to"
		case before:
			return keyword + " was removed from"
		}
	}
	return ""
}

// change is an incompatible change of a keyword.
type change struct{ keyword, from, to string }

// changes compares two schemas without those of properties and items. A keyword without a rule
// must not change.
func changes(older, newer *apiextensionsv1.JSONSchemaProps) []change {
	var all []change
	from, to := reflect.ValueOf(older).Elem(), reflect.ValueOf(newer).Elem()
	for i := range from.NumField() {
		x, y := from.Field(i), to.Field(i)
		if x.IsZero() && y.IsZero() {
			continue
		}
		keyword, _, _ := strings.Cut(from.Type().Field(i).Tag.Get("json"), ",")
		if slices.Contains([]string{"properties", "items", "description"}, keyword) || equality.Semantic.DeepEqual(x.Interface(), y.Interface()) {
			continue
		}
		c := change{keyword, value(x), value(y)}
		switch keyword {
		case "minimum", "minLength", "minItems", "minProperties":
			if !y.IsNil() && (x.IsNil() || compareNumbers(x, y) < 0) {
				all = append(all, c)
			}
		case "maximum", "maxLength", "maxItems", "maxProperties":
			if !y.IsNil() && (x.IsNil() || compareNumbers(x, y) > 0) {
				all = append(all, c)
			}
		case "enum":
			if gone := without(older.Enum, newer.Enum); len(older.Enum) == 0 && len(newer.Enum) > 0 {
				all = append(all, change{keyword, "", c.to})
			} else if len(gone) > 0 {
				all = append(all, change{keyword, strings.Join(gone, ", "), ""})
			}
		case "required":
			for _, name := range newer.Required {
				if !slices.Contains(older.Required, name) {
					all = append(all, change{keyword, "", name})
				}
			}
		case "default":
			if c.from != c.to {
				all = append(all, c)
			}
		default:
			all = append(all, c)
		}
	}
	return all
}

// compareNumbers compares pointers to numbers of one type.
func compareNumbers(x, y reflect.Value) int {
	if x, y := x.Elem(), y.Elem(); !x.CanInt() {
		return cmp.Compare(x.Float(), y.Float())
	}
	return cmp.Compare(x.Elem().Int(), y.Elem().Int())
}

// without returns the values of a list that the other lacks.
func without(list, other []apiextensionsv1.JSON) []string {
	var left []string
	for _, v := range list {
		text := value(reflect.ValueOf(v))
		if !slices.ContainsFunc(other, func(o apiextensionsv1.JSON) bool { return value(reflect.ValueOf(o)) == text }) {
			left = append(left, text)
		}
	}
	slices.Sort(left)
	return left
}

// value returns a value in JSON with sorted keys, or "" if it is not set.
func value(v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Struct {
		return ""
	}
	src, err := json.Marshal(v.Interface())
	if err != nil {
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	var decoded any
	if dec.Decode(&decoded) != nil {
		return string(src)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(decoded) != nil {
		return string(src)
	}
	return strings.TrimSpace(out.String())
}
