package project

import (
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
)

// Parse decodes the content of a PROJECT file. Keys that Config has no field
// for are left aside. Errors are usage errors and say line:column; a schema
// version other than 3 is one of them.
func Parse(src []byte) (*Config, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, &fault.Error{Code: fault.CodeUsage, Hint: fault.HintOf(err), Err: err}
	}
	d := decoder{doc: doc}
	c := d.config(doc.Value)
	if d.err != nil {
		return nil, d.err
	}
	return c, nil
}

// decoder reads plain data into structs and remembers the first error.
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

func (d *decoder) config(m map[string]any) *Config {
	o := object{decoder: d, m: m}
	c := &Config{Version: o.text("version")}
	switch {
	case c.Version == SchemaVersion:
	case m["version"] == nil:
		d.fail(nil, "is this the PROJECT file of another program?", "the key version is missing")
		return c
	default:
		d.fail([]any{"version"}, "operon reads projects of version "+SchemaVersion+" only; migrate this one first",
			"project version %q is not supported", c.Version)
		return c
	}
	c.Domain = o.text("domain")
	c.Repo = o.text("repo")
	c.ProjectName = o.text("projectName")
	c.CLIVersion = o.text("cliVersion")
	if name, ok := m["layout"].(string); ok { // the form of old projects with one plugin
		c.Layout = []string{name}
	} else {
		c.Layout = o.texts("layout")
	}
	c.MultiGroup = o.boolean("multigroup")
	c.Namespaced = o.boolean("namespaced")
	for _, item := range o.objects("resources") {
		c.Resources = append(c.Resources, item.resource())
	}
	if plugins, ok := o.object("plugins"); ok {
		c.Plugins = plugins.m
	}
	return c
}

func (o object) resource() Resource {
	r := Resource{
		Group:      o.text("group"),
		Domain:     o.text("domain"),
		Version:    o.text("version"),
		Kind:       o.text("kind"),
		Plural:     o.text("plural"),
		Path:       o.text("path"),
		Controller: o.boolean("controller"),
		External:   o.boolean("external"),
		Core:       o.boolean("core"),
		Module:     o.text("module"),

		ClusterScoped: o.boolean("clusterScoped"),
	}
	for _, need := range []struct{ key, example string }{{"kind", "Frigate"}, {"version", "v1"}} {
		if o.text(need.key) == "" {
			o.fail(o.path, "add it to the resource, as in "+need.key+": "+need.example, "the resource has no %s", need.key)
		}
	}
	if api, ok := o.object("api"); ok {
		r.API = &API{CRDVersion: api.text("crdVersion"), Namespaced: api.boolean("namespaced")}
	}
	for _, c := range o.objects("controllers") {
		r.Controllers = append(r.Controllers, Controller{Name: c.text("name")})
	}
	if w, ok := o.object("webhooks"); ok {
		r.Webhooks = &Webhooks{
			WebhookVersion: w.text("webhookVersion"),
			Defaulting:     w.boolean("defaulting"),
			DefaultingPath: w.text("defaultingPath"),
			Validation:     w.boolean("validation"),
			ValidationPath: w.text("validationPath"),
			Conversion:     w.boolean("conversion"),
			Spoke:          w.texts("spoke"),
		}
	}
	return r
}

// object is a mapping in the file.
type object struct {
	*decoder
	path []any
	m    map[string]any
}

func (o object) at(key string) []any { return append(slices.Clone(o.path), key) }

// text reads a string; a number or a date without quotes is taken as written.
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
		d.fail(path, "write one word, in quotes where YAML needs them", "%v is not one word of text", name)
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
		o.fail(o.at(key), "write its items on lines of their own, each behind a dash", "%s is not a list", key)
	}
	return v
}

func (o object) texts(key string) []string {
	var all []string
	for i, item := range o.list(key) {
		all = append(all, o.scalar(append(o.at(key), i), item))
	}
	return all
}

func (o object) object(key string) (object, bool) {
	m, ok := o.m[key].(map[string]any)
	if !ok && o.m[key] != nil {
		o.fail(o.at(key), "write lines of the form key: value below it", "%s is not a mapping", key)
	}
	return object{o.decoder, o.at(key), m}, ok
}

func (o object) objects(key string) []object {
	var all []object
	for i, item := range o.list(key) {
		path := append(o.at(key), i)
		m, ok := item.(map[string]any)
		if !ok {
			o.fail(path, "write lines of the form key: value behind the dash", "an item of %s is not a mapping", key)
		}
		all = append(all, object{o.decoder, path, m})
	}
	return all
}
