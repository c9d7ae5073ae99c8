//go:build testall

package crdupgrade

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// nodes returns a schema and the schemas in it besides properties. They may be changed.
func nodes(s *apiextensionsv1.JSONSchemaProps) []*apiextensionsv1.JSONSchemaProps {
	all := []*apiextensionsv1.JSONSchemaProps{s}
	if s.Items != nil && s.Items.Schema != nil {
		all = append(all, nodes(s.Items.Schema)...)
	}
	for _, list := range [][]apiextensionsv1.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			all = append(all, nodes(&list[i])...)
		}
	}
	if s.Not != nil {
		all = append(all, nodes(s.Not)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		all = append(all, nodes(s.AdditionalProperties.Schema)...)
	}
	return all
}

// mutator makes random changes.
type mutator struct{ *rand.Rand }

// crd returns a CRD with one to three versions of a schema.
func (m mutator) crd(roots []*apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	root := roots[m.IntN(len(roots))]
	names := []string{"v1alpha1", "v1", "v1beta1"}
	for i := range 1 + m.IntN(3) {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: names[i], Served: m.IntN(5) > 0, Storage: i == 0,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root.DeepCopy()},
		})
		if i > 0 && m.IntN(2) == 0 {
			m.schema(crd.Spec.Versions[i].Schema.OpenAPIV3Schema)
		}
	}
	return crd
}

// mutate changes a CRD.
func (m mutator) mutate(crd *apiextensionsv1.CustomResourceDefinition) {
	v := &crd.Spec.Versions[m.IntN(len(crd.Spec.Versions))]
	switch m.IntN(40) {
	case 0:
		crd.Spec.Scope = apiextensionsv1.ClusterScoped
	case 1:
		v.Name = "v2"
	case 2:
		v.Served = !v.Served
	case 3:
		v.Storage = !v.Storage
	case 4:
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	case 5:
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	case 6:
		v.Schema = nil
	case 7:
		added := v.DeepCopy()
		added.Name, added.Storage = fmt.Sprintf("v%d", 3+m.IntN(3)), false
		crd.Spec.Versions = append(crd.Spec.Versions, *added)
	default:
		if v.Schema != nil {
			m.schema(v.Schema.OpenAPIV3Schema)
		}
	}
}

// schema changes a keyword in a schema.
func (m mutator) schema(root *apiextensionsv1.JSONSchemaProps) {
	s := root
	for m.IntN(6) > 0 { // go down
		keys := slices.Sorted(maps.Keys(s.Properties))
		switch below := nodes(s); {
		case len(below) > 1 && m.IntN(2) == 0:
			s = below[1+m.IntN(len(below)-1)]
		case len(keys) > 0:
			key := keys[m.IntN(len(keys))]
			child := s.Properties[key]
			changed := child.DeepCopy()
			m.schema(changed)
			s.Properties[key] = *changed
			return
		}
	}
	m.keyword(s)
}

func (m mutator) keyword(s *apiextensionsv1.JSONSchemaProps) {
	sub := apiextensionsv1.JSONSchemaProps{Type: pick(m, "string", "integer"), Required: pick(m, nil, []string{"a"})}
	keys := slices.Sorted(maps.Keys(s.Properties))
	switch m.IntN(31) {
	case 0:
		s.Type = pick(m, "string", "integer", "object", "array", "")
	case 1:
		s.Format = pick(m, "int32", "int64", "date-time", "")
	case 2:
		s.Pattern = pick(m, "^a", "^b", "")
	case 3:
		s.Description = pick(m, "One.", "Two.", "")
	case 4:
		s.Nullable = !s.Nullable
	case 5:
		s.Default = pick(m, nil, m.json(), m.json())
	case 6, 7:
		s.Enum = nil
		for range m.IntN(4) {
			s.Enum = append(s.Enum, *m.json())
		}
	case 8, 9:
		s.Required = nil
		for _, name := range append(keys, "a", "b") {
			if m.IntN(3) == 0 {
				s.Required = append(s.Required, name)
			}
		}
	case 10:
		s.Minimum = number[float64](m)
	case 11:
		s.Maximum = number[float64](m)
	case 12:
		s.MinLength = number[int64](m)
	case 13:
		s.MaxLength = number[int64](m)
	case 14:
		s.MinItems = number[int64](m)
	case 15:
		s.MaxItems = number[int64](m)
	case 16:
		s.MinProperties = number[int64](m)
	case 17:
		s.MaxProperties = number[int64](m)
	case 18:
		s.ExclusiveMinimum = !s.ExclusiveMinimum
	case 19:
		s.MultipleOf = number[float64](m)
	case 20:
		s.XValidations = pick(m, nil, apiextensionsv1.ValidationRules{{Rule: "self.a"}}, apiextensionsv1.ValidationRules{{Rule: "self.b"}})
	case 21:
		s.XPreserveUnknownFields = pick(m, nil, new(bool))
	case 22:
		s.XListType = pick(m, nil, new("set"), new("atomic"))
	case 23, 24:
		if len(keys) > 0 {
			delete(s.Properties, keys[m.IntN(len(keys))])
		}
	case 25:
		s.Properties = maps.Clone(s.Properties)
		if s.Properties == nil {
			s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		s.Properties[pick(m, "a", "b", "a.b")] = sub
	case 26:
		if _, named := s.Properties["items"]; !named { // crdify confuses the items of a list with a property of that name
			s.Items = pick(m, nil, &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &sub})
		}
	case 27:
		s.AdditionalProperties = pick(m, nil, &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}, &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &sub})
	case 28:
		s.AnyOf = pick(m, nil, []apiextensionsv1.JSONSchemaProps{{Type: "integer"}, sub})
	case 29:
		s.OneOf, s.AllOf = pick(m, nil, []apiextensionsv1.JSONSchemaProps{{Required: []string{"a"}}, sub}), pick(m, nil, []apiextensionsv1.JSONSchemaProps{sub})
	case 30:
		s.Not = pick(m, nil, &sub)
	}
}

// json returns a value in the form in which the decoder leaves it.
func (m mutator) json() *apiextensionsv1.JSON {
	src, err := json.Marshal(pick[any](m, "a", "b", 1, true, map[string]any{"a": 1}))
	if err != nil {
		panic(err)
	}
	return &apiextensionsv1.JSON{Raw: src}
}

// number returns a number from 0 to 3, or none.
func number[T int64 | float64](m mutator) *T {
	return pick(m, nil, new(T(0)), new(T(1)), new(T(2)), new(T(3)))
}

func pick[T any](m mutator, values ...T) T { return values[m.IntN(len(values))] }
