package fields

import (
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// rule is an option with its value.
type rule struct {
	name, value string
	at, valueAt int // indexes in the description
}

// option is what a rule may say about a field.
type option struct {
	switched    bool   // has no value
	placeholder string // of the value, for hints
	marker      string // of controller-gen, without the prefix +kubebuilder:validation:
	keyword     string // of the schema
	of          func(Field) bool
	what        string // the fields that it is for
}

// Rules for the values of a map need a Go type of their own, which the user can write.
func isText(f Field) bool          { return f.typ.kind == text && !f.mapped }
func isInteger(f Field) bool       { return f.typ.kind == integer && !f.mapped }
func isTextOrInteger(f Field) bool { return isText(f) || isInteger(f) }
func isMap(f Field) bool           { return f.mapped }

// options are all options by name. A rule about a text or a number in a list applies to each item.
var options = map[string]option{
	"min":           {placeholder: "1", marker: "Minimum", keyword: "minimum", of: isInteger, what: "integers"},
	"max":           {placeholder: "10", marker: "Maximum", keyword: "maximum", of: isInteger, what: "integers"},
	"minLength":     {placeholder: "1", marker: "MinLength", keyword: "minLength", of: isText, what: "strings"},
	"maxLength":     {placeholder: "63", marker: "MaxLength", keyword: "maxLength", of: isText, what: "strings"},
	"pattern":       {placeholder: `"^[a-z]+$"`, marker: "Pattern", keyword: "pattern", of: isText, what: "strings"},
	"format":        {placeholder: "hostname", marker: "Format", keyword: "format", of: isText, what: "strings"},
	"enum":          {placeholder: "a|b", marker: "Enum", keyword: "enum", of: isTextOrInteger, what: "strings and integers"},
	"minItems":      {placeholder: "1", marker: "MinItems", keyword: "minItems", of: func(f Field) bool { return f.list }, what: "lists"},
	"maxItems":      {placeholder: "10", marker: "MaxItems", keyword: "maxItems", of: func(f Field) bool { return f.list }, what: "lists"},
	"minProperties": {placeholder: "1", marker: "MinProperties", keyword: "minProperties", of: isMap, what: "maps"},
	"maxProperties": {placeholder: "10", marker: "MaxProperties", keyword: "maxProperties", of: isMap, what: "maps"},
	"unique":        {switched: true, of: func(f Field) bool { return f.list && f.typ.isScalar() }, what: "lists of single values"},
	"default": {placeholder: "VALUE", what: "single values",
		of: func(f Field) bool { return !f.list && !f.mapped && f.typ.isScalar() && f.typ.Name != "bytes" }},
	"immutable": {switched: true, what: "single values and lists of the spec",
		of: func(f Field) bool { return !f.Status && !f.mapped && f.typ.isScalar() }},
	"key": {switched: true, of: func(f Field) bool { return f.inList() && !f.list && !f.mapped && isTextOrInteger(f) }, what: "strings and integers of the objects in a list"},
	"doc": {placeholder: `"TEXT"`, of: func(Field) bool { return true }},
}

func optionNames() []string { return slices.Sorted(maps.Keys(options)) }

// formats are the formats of texts that an API server checks
// (k8s.io/kube-openapi/pkg/validation/strfmt, as far as apiextensions-apiserver supports them).
var formats = []string{"cidr", "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "mac", "uri", "uuid"}

// inList reports whether the field belongs to the objects of a list.
func (f Field) inList() bool { return len(f.path) > 1 && f.path[len(f.path)-2].list }

// add adds a rule to the field after checking that it fits the type.
func (f *Field) add(r rule) error {
	o := options[r.name]
	switch {
	case f.rule(r.name) != nil:
		return errorAt(f.Text, r.at, "remove one of them", "the option %s occurs twice", r.name)
	case !o.of(*f):
		return errorAt(f.Text, r.at, "remove it", "the option %s is for %s", r.name, o.what)
	}
	f.rules = append(f.rules, r)
	switch r.name {
	case "doc":
		f.doc = r.value
	case "key":
		f.key = true
	}
	return nil
}

func (f Field) rule(name string) *rule {
	if i := slices.IndexFunc(f.rules, func(r rule) bool { return r.name == name }); i >= 0 {
		return &f.rules[i]
	}
	return nil
}

// check validates the values of the rules, and that they allow a value.
func (f Field) check() error {
	for _, r := range f.rules {
		if err := f.checkRule(r); err != nil {
			return err
		}
	}
	for _, bounds := range [][2]string{
		{"min", "max"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minProperties", "maxProperties"},
	} {
		least, most := f.rule(bounds[0]), f.rule(bounds[1])
		if least == nil || most == nil {
			continue
		}
		if a, b := toInt(least.value), toInt(most.value); a > b {
			return errorAt(f.Text, most.valueAt, "exchange the values", "%s is %d, but %s is %d", bounds[0], a, bounds[1], b)
		}
	}
	if d := f.rule("default"); d != nil {
		return f.checkDefault(*d)
	}
	if f.key && f.optional {
		return errorAt(f.Text, len(f.Text), "remove the question mark", "a key cannot be optional")
	}
	return nil
}

func toInt(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64) // checkRule reports errors
	return n
}

// checkRule validates the value of a rule by itself.
func (f Field) checkRule(r rule) error {
	wrong := func(hint, format string, args ...any) error { return errorAt(f.Text, r.valueAt, hint, format, args...) }
	switch r.name {
	case "min", "max":
		if err := f.checkInteger(r.value, r.valueAt); err != nil {
			return err
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		if n, err := strconv.ParseInt(r.value, 10, 64); err != nil || n < 0 {
			return wrong("write a number, such as "+options[r.name].placeholder, "%q is not a number from 0", r.value)
		}
	case "pattern":
		if _, err := regexp.Compile(r.value); err != nil {
			return wrong("write a regular expression of Go, in double quotes if it has a comma", "%v", err)
		}
	case "format":
		if !slices.Contains(formats, r.value) {
			return wrong("formats: "+strings.Join(formats, ", "), "API servers do not check the format %q", r.value)
		}
	case "enum":
		values := strings.Split(r.value, "|")
		for i, v := range values {
			if v == "" || slices.Contains(values[:i], v) {
				return wrong("separate different values with |, as in enum=a|b", "%q has an empty value or one twice", r.value)
			}
			if isInteger(f) {
				if err := f.checkInteger(v, r.valueAt); err != nil {
					return err
				}
			}
		}
	case "doc":
		if strings.ContainsAny(r.value, "\r\n") {
			return wrong("write one line", "the text has several lines")
		}
	}
	return nil
}

func (f Field) checkInteger(value string, at int) error {
	bits := 64
	if f.typ.Name == "int32" {
		bits = 32
	}
	if _, err := strconv.ParseInt(value, 10, bits); err != nil {
		return errorAt(f.Text, at, "write a number, such as 1", "%q is not a number of the type %s", value, f.typ.Name)
	}
	return nil
}

// checkDefault validates the default against the type and the other rules.
func (f Field) checkDefault(d rule) error {
	wrong := func(format string, args ...any) error {
		return errorAt(f.Text, d.valueAt, "write a default that the field allows", format, args...)
	}
	if f.key {
		return errorAt(f.Text, d.at, "remove one of them", "a key cannot have a default")
	}
	switch f.typ.kind {
	case boolean:
		if d.value != "true" && d.value != "false" {
			return wrong("%q is neither true nor false", d.value)
		}
	case integer:
		if err := f.checkInteger(d.value, d.valueAt); err != nil {
			return err
		}
	}
	if !validFormat(f.typ.format, d.value) {
		return wrong("%q is not %s", d.value, f.typ.doc)
	}
	if !f.valueSchema().Allows(f.literal(d.value)) {
		return wrong("the other options do not allow %q", d.value)
	}
	return nil
}

// validFormat reports whether a text has the format of a type.
func validFormat(format, value string) bool {
	var err error
	switch format {
	case "quantity":
		_, err = resource.ParseQuantity(value)
	case "duration":
		_, err = time.ParseDuration(value)
	case "date-time":
		_, err = time.Parse(time.RFC3339, value)
	case "byte":
		_, err = base64.StdEncoding.DecodeString(value)
	}
	return err == nil
}
