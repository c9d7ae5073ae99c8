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

// difference is an incompatible difference of one keyword between two schemas.
type difference struct {
	scope    string // the versions, such as "in v1"
	property string
	keyword  string // of OpenAPI, or removed
	from, to string // the values in JSON; "" for none
	path     []any
	above    []parent
	missing  bool // the newer version lacks the schema
}

// parent is a schema that has another one, by a keyword.
type parent struct{ property, keyword string }

// key identifies the difference in two releases of a CRD.
func (d difference) key() string {
	return strings.Join([]string{d.scope, d.property, d.keyword, d.from, d.to}, "\x00")
}

// compare compares the schemas of two versions. Additional ones are compatible.
func compare(scope string, older, newer map[string]property) []difference {
	var all []difference
	for _, name := range slices.Sorted(maps.Keys(older)) {
		from := older[name]
		to, ok := newer[name]
		d := difference{scope: scope, property: name, above: parents(older, name), missing: !ok}
		if !ok {
			to.JSONSchemaProps = &apiextensionsv1.JSONSchemaProps{}
			closest := slices.IndexFunc(d.above, func(p parent) bool { return newer[p.property].JSONSchemaProps != nil })
			to.path = newer[d.above[closest].property].path
			d.keyword, d.path = removed, to.path
			all = append(all, d)
		}
		for _, c := range changes(from.JSONSchemaProps, to.JSONSchemaProps) {
			d.keyword, d.from, d.to, d.path = c.keyword, c.from, c.to, to.path
			if ok {
				d.path = slices.Concat(to.path, []any{c.keyword})
			}
			if ok && c.keyword == "required" {
				d.path = append(d.path, slices.Index(to.Required, c.to))
			}
			all = append(all, d)
		}
	}
	return all
}

// parents returns the schemas above one, from the closest to that of the object.
func parents(all map[string]property, name string) []parent {
	var list []parent
	for p := all[name]; p.keyword != ""; p = all[p.parent] {
		list = append(list, parent{p.parent, p.keyword})
	}
	return list
}

// change is an incompatible change of a keyword.
type change struct{ keyword, from, to string }

// changes compares two schemas without those of properties and items. A keyword without a rule
// must not change: not even one with schemas, which are compared by themselves, too.
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
