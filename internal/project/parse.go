package project

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
)

// Parse decodes the content of a PROJECT file with the schema version 3. It ignores keys
// that Config does not have. Errors are usage errors with the position line:column.
func Parse(src []byte) (*Config, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, &fault.Error{Code: fault.CodeUsage, Hint: fault.HintOf(err), Err: err}
	}
	if len(doc.Value) == 0 {
		return nil, fault.In("1:1", fault.Usage("restore it from version control, or delete it and run operon init", "the file is empty"))
	}
	d := decoder{doc: doc}
	c := &Config{}
	if root := (object{decoder: &d, m: doc.Value}); d.checkVersion(root) {
		root.decode(reflect.ValueOf(c).Elem())
		d.checkResources(c)
		d.checkPlaces(c)
	}
	if d.err != nil {
		return nil, d.err
	}
	return c, nil
}

// decoder converts YAML values to Go values and keeps the first error.
type decoder struct {
	doc *yamledit.Document
	err error
}

// fail reports a problem with the value at path.
func (d *decoder) fail(path []any, hint, format string, args ...any) {
	if d.err == nil {
		d.err = fault.In(d.doc.Place(path), fault.Usage(hint, format, args...))
	}
}

// checkVersion reports whether operon supports the schema version of the file.
func (d *decoder) checkVersion(root object) bool {
	version := root.text("version")
	switch {
	case version == SchemaVersion:
		return true
	case root.m["version"] == nil:
		d.fail(nil, "is this the PROJECT file of another program?", "the key version is missing")
	case version == AlphaVersion:
		d.fail([]any{"version"}, "run operon edit --project-version "+SchemaVersion, "project version %q is not supported", version)
	case version == "1" || version == "2":
		d.fail([]any{"version"}, "run operon adopt, which completes the file from the code", "project version %q is not supported", version)
	default:
		d.fail([]any{"version"}, "operon supports only version "+SchemaVersion+"; migrate the project first",
			"project version %q is not supported", version)
	}
	return false
}

// checkResources checks that each resource has the keys that identify it.
func (d *decoder) checkResources(c *Config) {
	for i, r := range c.Resources {
		for _, need := range []struct{ key, value, example string }{{"kind", r.Kind, "Frigate"}, {"version", r.Version, "v1"}} {
			if need.value == "" {
				d.fail([]any{"resources", i}, "add it to the resource, as in "+need.key+": "+need.example, "the resource has no %s", need.key)
			}
		}
	}
}

// decode sets the fields of the struct v from the keys that their json tags name.
func (o object) decode(v reflect.Value) {
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if o.m[key] == nil {
			continue
		}
		switch field := v.Field(i).Addr().Interface().(type) {
		case *string:
			*field = o.text(key)
		case *bool:
			*field = o.boolean(key)
		case *[]string:
			*field = o.texts(key)
		case *map[string]any:
			m, _ := o.object(key)
			*field = m.m
		default:
			o.decodeObjects(key, v.Field(i))
		}
	}
}

// decodeObjects sets a field that is a pointer to a struct or a slice of structs.
func (o object) decodeObjects(key string, field reflect.Value) {
	if field.Kind() == reflect.Pointer {
		if m, ok := o.object(key); ok {
			field.Set(reflect.New(field.Type().Elem()))
			m.decode(field.Elem())
		}
		return
	}
	for _, item := range o.objects(key) {
		v := reflect.New(field.Type().Elem()).Elem()
		item.decode(v)
		field.Set(reflect.Append(field, v))
	}
}

// object is a mapping in the file.
type object struct {
	*decoder
	path []any
	m    map[string]any
}

func (o object) at(key string) []any { return append(slices.Clone(o.path), key) }

// text returns a string. It returns a number or a date without quotes as it is written.
func (o object) text(key string) string { return o.scalar(o.at(key), o.m[key]) }

func (d *decoder) scalar(path []any, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any, []any:
		name := path[len(path)-1]
		if _, ok := name.(int); ok {
			name = fmt.Sprintf("an item of %v", path[len(path)-2])
		}
		d.fail(path, "write a string", "%v is not a string", name)
		return ""
	}
	return d.doc.Text(path, fmt.Sprint(v))
}

func (o object) boolean(key string) bool {
	v, ok := o.m[key].(bool)
	if !ok && o.m[key] != nil {
		o.fail(o.at(key), "write "+key+": true or "+key+": false", "%s is neither true nor false", key)
	}
	return v
}

func (o object) list(key string) []any {
	v, ok := o.m[key].([]any)
	if !ok && o.m[key] != nil {
		o.fail(o.at(key), "write each item on its own line, after a dash", "%s is not a list", key)
	}
	return v
}

// texts returns a list of strings. The layout of old projects is a single string.
func (o object) texts(key string) []string {
	if text, ok := o.m[key].(string); ok && key == "layout" {
		return []string{text}
	}
	var all []string
	for i, item := range o.list(key) {
		all = append(all, o.scalar(append(o.at(key), i), item))
	}
	return all
}

func (o object) object(key string) (object, bool) {
	m, ok := o.m[key].(map[string]any)
	if !ok && o.m[key] != nil {
		o.fail(o.at(key), "write lines of the form key: value under it", "%s is not a mapping", key)
	}
	return object{o.decoder, o.at(key), m}, ok
}

func (o object) objects(key string) []object {
	var all []object
	for i, item := range o.list(key) {
		path := append(o.at(key), i)
		m, ok := item.(map[string]any)
		if !ok {
			o.fail(path, "write lines of the form key: value after the dash", "an item of %s is not a mapping", key)
		}
		all = append(all, object{o.decoder, path, m})
	}
	return all
}

// ResourceLines returns the line number, from 1, of each resource in a PROJECT file. It
// returns nil for an invalid file.
func ResourceLines(src []byte) []int {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil
	}
	list, _ := doc.Value["resources"].([]any)
	lines := make([]int, len(list))
	for i := range list {
		lines[i] = doc.Line([]any{"resources", i})
	}
	return lines
}
