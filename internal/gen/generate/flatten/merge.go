package flatten

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// merger merges schemas with the schemas in their allOf.
type merger struct {
	kind       *loader.Package // gets the errors
	maxDescLen *int
	errors     int

	// The same map of properties has the same result, unless there are errors, which
	// each kind reports.
	known map[[2]uintptr]properties
}

// properties are the result for one map, or for the union of two. The fields a and b keep
// these alive, so that their addresses are not reused.
type properties struct{ a, b, result map[string]props }

// whole merges a schema and all its parts.
func (m *merger) whole(s *props) {
	all := s.AllOf
	s.AllOf = nil
	for i := range all {
		m.into(s, &all[i])
	}
	if m.maxDescLen != nil && *m.maxDescLen >= 0 {
		s.Description = truncate(s.Description, *m.maxDescLen)
	}
	own := s.Properties
	s.Properties = nil
	schemas.Parts(s, m.whole)
	s.Properties = m.wholeProperties(own)
}

func (m *merger) wholeProperties(own map[string]props) map[string]props {
	if own == nil {
		return nil
	}
	key := [2]uintptr{reflect.ValueOf(own).Pointer()}
	if known, ok := m.known[key]; ok {
		return known.result
	}
	before := m.errors
	result := make(map[string]props, len(own))
	for name, s := range own {
		m.whole(&s)
		result[name] = s
	}
	if m.errors == before {
		m.known[key] = properties{own, nil, result}
	}
	return result
}

// into merges from into a schema. Constraints that conflict become items of its allOf.
// Like in the library, equal numbers conflict, and so do equal defaults, unless they come
// from one marker: the library compares pointers, and copies all except defaults.
func (m *merger) into(to, from *props) {
	for i := range from.AllOf {
		m.into(to, &from.AllOf[i])
	}
	var toRest, fromRest props
	conflict := false
	toValue, fromValue := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i, name := range fields() {
		source, target := fromValue.Field(i), toValue.Field(i)
		switch {
		case name == "" || source.IsZero():
		case target.IsZero():
			target.Set(source)
		case (source.Kind() != reflect.Pointer || name == "Default") && source.Comparable() && source.Equal(target):
		case !m.both(name, to, from):
			reflect.ValueOf(&fromRest).Elem().Field(i).Set(source)
			reflect.ValueOf(&toRest).Elem().Field(i).Set(target)
			target.SetZero()
			conflict = true
		}
	}
	if len(from.Enum) > 0 && len(to.Enum) == 0 {
		to.Enum = from.Enum
	}
	if conflict {
		to.AllOf = slices.Concat(to.AllOf, []props{toRest, fromRest})
	}
	if len(to.Required) > 1 {
		to.Required = slices.Compact(slices.Sorted(slices.Values(to.Required)))
	}
}

// fields returns the names of the fields of a schema, in their order. Fields that do not
// merge like the others have no name: the documentation was chosen before.
var fields = sync.OnceValue(func() []string {
	var names []string
	for f := range reflect.TypeFor[props]().Fields() {
		name := f.Name
		switch name {
		case "AllOf", "Title", "Description", "Example", "ExternalDocs", "Enum":
			name = ""
		}
		names = append(names, name)
	}
	return names
})

// both merges a field that two schemas set to different values. ok is false if both values
// must be kept.
func (m *merger) both(field string, to, from *props) (ok bool) {
	switch field {
	case "Properties":
		to.Properties = m.union(to.Properties, from.Properties)
	case "Required":
		to.Required = slices.Concat(to.Required, from.Required)
	case "MinProperties":
		return *to.MinProperties == *from.MinProperties
	case "MaxProperties":
		return *to.MaxProperties == *from.MaxProperties
	case "Type":
		m.errors++
		m.kind.AddError(fmt.Errorf("conflicting types in allOf branches in schema: %s vs %s", to.Type, from.Type))
	case "AdditionalProperties":
		if from.AdditionalProperties.Schema != nil {
			merged := props{}
			if to.AdditionalProperties.Schema != nil {
				merged = *to.AdditionalProperties.Schema
			}
			m.into(&merged, from.AdditionalProperties.Schema)
			to.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: to.AdditionalProperties.Allows, Schema: &merged}
		}
	case "XPreserveUnknownFields":
		to.XPreserveUnknownFields = from.XPreserveUnknownFields
	case "XMapType":
		to.XMapType = from.XMapType
	case "XListType":
		to.XListType = from.XListType
	case "XListMapKeys":
		to.XListMapKeys = from.XListMapKeys
	case "XValidations":
		to.XValidations = slices.Concat(from.XValidations, to.XValidations)
	default:
		return false
	}
	return true
}

// union merges maps of properties.
func (m *merger) union(to, from map[string]props) map[string]props {
	key := [2]uintptr{reflect.ValueOf(to).Pointer(), reflect.ValueOf(from).Pointer()}
	if known, ok := m.known[key]; ok {
		return known.result
	}
	before := m.errors
	result := maps.Clone(to)
	for name, s := range from {
		if first, twice := result[name]; twice {
			m.into(&first, &s)
			s = first
		}
		result[name] = s
	}
	if m.errors == before {
		m.known[key] = properties{to, from, result}
	}
	return result
}

// truncate cuts a text that is longer than a number of bytes: after a sentence, or else
// after a word.
func truncate(text string, limit int) string {
	if limit == 0 {
		return ""
	}
	if len(text) <= limit {
		return text
	}
	text = text[:limit]
	if end := strings.LastIndexFunc(text, func(r rune) bool { return unicode.Is(unicode.STerm, r) }); end > 0 {
		return text[:end+1]
	}
	if end := strings.LastIndexFunc(text, func(r rune) bool { return unicode.Is(unicode.White_Space, r) }); end > 0 {
		text = text[:end]
	}
	return text + "..."
}
