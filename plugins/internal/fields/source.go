package fields

import (
	"fmt"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Code returns the Go code of the fields of an object, each with its comment, separated by blank lines.
func (o *Object) Code() string {
	var fields []string
	for _, m := range o.Members {
		fields = append(fields, m.Code())
	}
	return strings.Join(fields, "\n\n")
}

// Types returns the declarations of the types of all objects in o, and not of o itself, separated by
// blank lines.
func (o *Object) Types() string {
	var decls []string
	for _, m := range o.Members {
		if m.Object != nil {
			decls = append(decls, m.Object.Decl())
			if inner := m.Object.Types(); inner != "" {
				decls = append(decls, inner)
			}
		}
	}
	return strings.Join(decls, "\n\n")
}

// Decl returns the declaration of the type of o.
func (o *Object) Decl() string {
	return fmt.Sprintf("// %s is %s.\ntype %s struct {\n%s\n}", o.Name, o.Doc, o.Name, o.Code())
}

// Imports returns the lines of the imports that the fields of the objects need and those in more, sorted
// by path.
func Imports(objects []*Object, more ...string) []string {
	lines := slices.Clone(more)
	for _, o := range objects {
		for _, m := range o.Members {
			switch {
			case m.Object != nil:
				lines = Imports([]*Object{m.Object}, lines...)
			case m.field.typ.Import != "":
				lines = append(lines, m.field.typ.Import)
			}
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(importPath(a), importPath(b)) })
	return slices.Compact(lines)
}

// Imports returns the lines of the imports that a field needs.
func (m Member) Imports() []string { return Imports([]*Object{{Members: []Member{m}}}) }

// importPath returns the quoted path in the line of an import.
func importPath(line string) string { return line[strings.IndexByte(line, '"'):] }

// Code returns the Go code of a field with its comment and markers.
func (m Member) Code() string {
	lines := []string{"// " + m.doc()}
	for _, marker := range m.markers() {
		lines = append(lines, "// +"+marker)
	}
	lines = append(lines, fmt.Sprintf("%s %s `json:%q`", goName(m.Name), m.GoType(), m.Name+m.tagOptions()))
	return "\t" + strings.Join(lines, "\n\t")
}

func (m Member) doc() string {
	if m.Object != nil {
		return m.Name + " is " + map[bool]string{true: "a list of objects.", false: "an object."}[m.list]
	}
	if m.field.doc != "" {
		return m.Name + ": " + strings.TrimSuffix(m.field.doc, ".") + "."
	}
	switch {
	case m.field.list:
		return m.Name + " is a list; each item is " + m.field.typ.doc + "."
	case m.field.mapped:
		return m.Name + " is a map; each value is " + m.field.typ.doc + "."
	}
	return m.Name + " is " + m.field.typ.doc + "."
}

// markers returns the markers of a field, without the plus sign.
func (m Member) markers() []string {
	var all []string
	switch {
	case m.list && m.key != "":
		all = append(all, "listType=map", "listMapKey="+m.key)
	case m.list, m.Object == nil && m.field.list:
		all = append(all, "listType=atomic")
	}
	if m.Object == nil {
		all = m.field.ruleMarkers(all, m.Name)
	}
	if m.optional || m.field.Status {
		return append(all, "optional")
	}
	return append(all, "required")
}

// ruleMarkers adds the markers of the rules of a field with a name.
func (f Field) ruleMarkers(all []string, name string) []string {
	const prefix = "kubebuilder:validation:"
	if f.typ.kind == object && f.typ.Name == "object" {
		all = append(all, "kubebuilder:pruning:PreserveUnknownFields")
	}
	for _, r := range f.rules {
		o := options[r.name]
		switch {
		case r.name == "unique":
			all[slices.Index(all, "listType=atomic")] = "listType=set"
		case r.name == "default":
			all = append(all, "kubebuilder:default="+f.markerValue(r.value))
		case r.name == "immutable":
			all = append(all, fmt.Sprintf(`%sXValidation:rule="self == oldSelf",message="%s is immutable"`, prefix, name))
		case o.marker == "":
		case f.list && isTextOrIntegerRule(r.name):
			all = append(all, prefix+"items:"+o.marker+"="+f.markerRule(r))
		default:
			all = append(all, prefix+o.marker+"="+f.markerRule(r))
		}
	}
	return all
}

// isTextOrIntegerRule reports whether a rule is about a text or an integer, which can be in a list.
func isTextOrIntegerRule(name string) bool {
	return slices.Contains([]string{"min", "max", "minLength", "maxLength", "pattern", "format", "enum"}, name)
}

// markerRule returns the value of a rule in a marker.
func (f Field) markerRule(r rule) string {
	switch r.name {
	case "pattern":
		if !strings.Contains(r.value, "`") {
			return "`" + r.value + "`"
		}
		return strconv.Quote(r.value)
	case "enum":
		values := strings.Split(r.value, "|")
		for i, v := range values {
			values[i] = f.markerValue(v)
			if token.IsIdentifier(v) {
				values[i] = v
			}
		}
		return strings.Join(values, ";")
	}
	return r.value
}

// markerValue returns a value of the field's type in a marker.
func (f Field) markerValue(value string) string {
	if _, isText := f.literal(value).(string); isText {
		return strconv.Quote(value)
	}
	return value
}

// literal returns a value of the field's type as JSON decodes it.
func (f Field) literal(value string) any {
	switch f.typ.kind {
	case integer:
		return toInt(value)
	case boolean:
		return value == "true"
	case numberOrText:
		if n, err := strconv.ParseInt(value, 10, 32); err == nil {
			return n
		}
	}
	return value
}

// GoType returns the Go type of a field.
func (m Member) GoType() string {
	if m.Object != nil {
		switch {
		case m.list:
			return "[]" + m.Object.Name
		case m.optional:
			return "*" + m.Object.Name
		}
		return m.Object.Name
	}
	f := m.field
	switch {
	case f.list:
		return "[]" + f.typ.Go
	case f.mapped:
		return "map[string]" + f.typ.Go
	case m.pointed():
		return "*" + f.typ.Go
	default:
		return f.typ.Go
	}
}

// pointed reports whether the field of a single value is a pointer. In a status, only simple values are
// not: they are always written, and others have no zero value in JSON.
func (m Member) pointed() bool {
	t := m.field.typ
	return t.pointed() && (m.optional || m.field.Status && !t.isSimple())
}

// isSimple reports whether the zero value of the type has a form in JSON that its schema allows.
func (t Type) isSimple() bool { return slices.Contains([]kind{text, integer, boolean}, t.kind) }

func (m Member) tagOptions() string {
	several := m.Object != nil || m.field.list || m.field.mapped
	if m.optional || m.field.Status && (several || !m.field.typ.isSimple()) {
		return ",omitempty"
	}
	return ""
}
