package schemas

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// object returns the schema of a struct, which must be the definition of a declared type.
func (c converter) object(def *ast.StructType) *Props {
	o := object{Props: &Props{Type: "object", Properties: map[string]Props{}}, converter: c, def: def}
	var err error
	switch {
	case c.info.RawSpec == nil:
		err = errors.New("inline struct types are not supported, use a named type instead")
	case c.info.RawSpec.Type != def:
		err = errors.New("encountered non-top-level struct (possibly embedded), those aren't allowed")
	default:
		o.oneOf, err = oneOf(c.info.Markers)
	}
	if err == nil {
		err = o.add(c.info.Fields)
	}
	if err != nil {
		c.fail(def, err)
		return o.Props
	}
	slices.Sort(o.Required)
	for _, name := range o.immutable {
		if !slices.Contains(o.Required, name) { // the rule of the field is not evaluated when the field is removed
			o.XValidations = append(o.XValidations, apiextensionsv1.ValidationRule{
				Rule:    fmt.Sprintf("!has(oldSelf.%s) || has(self.%s)", name, name),
				Message: fmt.Sprintf("field %s is immutable once set", name),
			})
		}
	}
	return o.Props
}

// object is the schema of a struct in progress.
type object struct {
	*Props
	converter
	def       *ast.StructType
	oneOf     []string // fields with pairs that must not be set together
	immutable []string
}

// add adds fields. The error is about the struct, and ends it. Errors about single fields
// are added to the package.
func (o *object) add(fields []markers.FieldInfo) error {
	for _, f := range fields {
		if o.ExportedOnly && f.Name != "" && !ast.IsExported(f.Name) {
			continue
		}
		tag, ok := f.Tag.Lookup("json")
		if !ok {
			o.fail(f.RawField, fmt.Errorf("encountered struct field %q without JSON tag in type %q", f.Name, o.info.Name))
			continue
		}
		if tag == "-" {
			continue
		}
		options := strings.Split(tag, ",")
		name, options := options[0], options[1:]
		inline := name == "" || slices.Contains(options, "inline")
		mayBeOmitted := inline || slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero")
		if err := o.require(name, f.Markers, mayBeOmitted); err != nil {
			return err
		}
		s := &Props{}
		if f.Markers.Get(crdmarkers.SchemalessName) == nil {
			s = o.part(f.RawField.Type)
		}
		s.Description = f.Doc
		o.apply(f.Markers, s, f.RawField)
		if inline {
			o.AllOf = append(o.AllOf, *s)
			continue
		}
		if f.Markers.Get("k8s:immutable") != nil {
			o.immutable = append(o.immutable, name)
		}
		o.Properties[name] = *s
	}
	return nil
}

// require adds a field to the required ones if its markers say so, or else its tag and
// the default of the package. kubebuilder's markers have precedence.
func (o *object) require(name string, values markers.MarkerValues, mayBeOmitted bool) error {
	has := func(marker string) bool { return values.Get(marker) != nil }
	must := "cannot be marked as required"
	switch {
	case has("kubebuilder:validation:Optional"):
		return nil
	case has("kubebuilder:validation:Required"):
	case has("optional") || has("k8s:optional"):
		return nil
	case has("required") || has("k8s:required"):
	case o.optional || mayBeOmitted:
		return nil
	default:
		must = "must have omitempty or omitzero tag"
	}
	if slices.Contains(o.oneOf, name) {
		return fmt.Errorf("field %s is part of OneOf constraint and %s", name, must)
	}
	o.Required = append(o.Required, name)
	return nil
}

// oneOf returns the fields that the markers of a struct name in groups.
func oneOf(values markers.MarkerValues) (names []string, err error) {
	for _, marker := range []string{crdmarkers.ValidationExactlyOneOfPrefix, crdmarkers.ValidationAtMostOneOfPrefix, crdmarkers.ValidationAtLeastOneOfPrefix} {
		for _, v := range values[marker] {
			var group []string
			switch v := v.(type) {
			case crdmarkers.ExactlyOneOf:
				group = v
			case crdmarkers.AtMostOneOf:
				group = v
			case crdmarkers.AtLeastOneOf:
				group = v
			}
			nested := slices.DeleteFunc(slices.Clone(group), func(name string) bool { return !strings.Contains(name, ".") })
			if len(nested) > 0 {
				return nil, fmt.Errorf("%s: cannot reference nested fields: %s", marker, strings.Join(nested, ","))
			}
			names = append(names, group...)
		}
	}
	return names, nil
}
