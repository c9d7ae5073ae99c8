package flatten

import (
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// parts flattens what is below a root, up to the first error.
type parts struct {
	*Flattener
	pkg *loader.Package
	err error
}

func (p *parts) whole(s *props) (whole props) {
	if p.err == nil {
		whole, p.err = p.Flattener.whole(s, p.pkg)
	}
	return whole
}

func (p *parts) byName(m map[string]props) map[string]props {
	if m == nil {
		return nil
	}
	all := make(map[string]props, len(m))
	for name, s := range m {
		all[name] = p.whole(&s)
	}
	return all
}

func (p *parts) list(list []props) []props {
	if list == nil {
		return nil
	}
	all := make([]props, len(list))
	for i := range list {
		all[i] = p.whole(&list[i])
	}
	return all
}

func (p *parts) one(s *props) *props {
	if s == nil {
		return nil
	}
	whole := p.whole(s)
	return &whole
}

func (p *parts) orBool(s *apiextensionsv1.JSONSchemaPropsOrBool) *apiextensionsv1.JSONSchemaPropsOrBool {
	if s == nil {
		return nil
	}
	return &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.Allows, Schema: p.one(s.Schema)}
}

// embedded returns the roots that will be merged with the root that embeds them.
func (p *parts) embedded(list []props) []props {
	if list == nil {
		return nil
	}
	all := make([]props, len(list))
	for i := range list {
		if p.err == nil {
			all[i], p.err = p.root(&list[i], p.pkg)
		}
	}
	return all
}

// hasParts reports whether a root has parts below it, apart from embedded schemas.
func hasParts(s *props) bool {
	return s.Properties != nil || s.PatternProperties != nil || s.AnyOf != nil || s.OneOf != nil || s.Not != nil ||
		s.Items != nil || s.AdditionalProperties != nil || s.AdditionalItems != nil || s.Dependencies != nil || s.Definitions != nil
}

// merge merges a root with the schemas that it embeds. The library merges the roots
// without what is below them. This package merges the properties. Every other part may
// occur in only one of the roots.
func merge(root *props) (props, error) {
	var below props
	bare, ok := take(root, &below)
	if !ok {
		return props{}, ErrUnknown
	}
	var problems problems
	merged := crd.FlattenEmbedded(&bare, &problems)
	if problems.any {
		return props{}, ErrUnknown
	}
	merged.Properties, merged.PatternProperties = below.Properties, below.PatternProperties
	merged.AnyOf, merged.OneOf, merged.Not, merged.Items = below.AnyOf, below.OneOf, below.Not, below.Items
	merged.AdditionalProperties, merged.AdditionalItems = below.AdditionalProperties, below.AdditionalItems
	return *merged, nil
}

// take moves what is below a root, and below the roots that it embeds, to one place, in
// the library's order: embedded schemas come before the schema that embeds them. ok is
// false if two of them conflict.
func take(root, below *props) (bare props, ok bool) {
	bare = *root
	if !takeParts(&bare, below) {
		return bare, false
	}
	return bare, takeEmbedded(&bare, below)
}

func takeEmbedded(bare, below *props) (ok bool) {
	all := make([]props, len(bare.AllOf))
	for i, s := range bare.AllOf {
		if !takeEmbedded(&s, below) || !takeParts(&s, below) {
			return false
		}
		all[i] = s
	}
	bare.AllOf = all
	return true
}

func takeParts(bare, below *props) (ok bool) {
	if len(bare.Dependencies)+len(bare.Definitions) > 0 || !takeProperties(bare, below) {
		return false
	}
	return move(&bare.PatternProperties, &below.PatternProperties, bare.PatternProperties != nil, below.PatternProperties != nil) &&
		move(&bare.AnyOf, &below.AnyOf, bare.AnyOf != nil, below.AnyOf != nil) &&
		move(&bare.OneOf, &below.OneOf, bare.OneOf != nil, below.OneOf != nil) &&
		move(&bare.Not, &below.Not, bare.Not != nil, below.Not != nil) &&
		move(&bare.Items, &below.Items, bare.Items != nil, below.Items != nil) &&
		move(&bare.AdditionalProperties, &below.AdditionalProperties, bare.AdditionalProperties != nil, below.AdditionalProperties != nil) &&
		move(&bare.AdditionalItems, &below.AdditionalItems, bare.AdditionalItems != nil, below.AdditionalItems != nil)
}

// move moves a part if there is one. ok is false if the target is already set.
func move[T any](from, to *T, there, already bool) (ok bool) {
	if there && !already {
		var none T
		*from, *to = none, *from
	}
	return !there || !already
}

// takeProperties moves properties to others, and merges those of the same name. ok is
// false if this package cannot merge them.
func takeProperties(from, to *props) (ok bool) {
	m := from.Properties
	from.Properties = nil
	if len(to.Properties) == 0 {
		if m != nil {
			to.Properties = m
		}
		return true
	}
	if len(m) == 0 {
		return true
	}
	all := make(map[string]props, len(m)+len(to.Properties))
	maps.Copy(all, to.Properties)
	for name, s := range m {
		if first, duplicate := all[name]; duplicate {
			if s, ok = both(first, s); !ok {
				return false
			}
		}
		all[name] = s
	}
	to.Properties = all
	return true
}

// both merges two properties. ok is false if the result depends on which of them the
// library merges first. That order depends on what they refer to.
func both(first, second props) (merged props, ok bool) {
	for _, s := range []props{first, second} {
		if hasParts(&s) || len(s.AllOf) > 0 {
			return props{}, false
		}
	}
	if len(first.Enum) > 0 && len(second.Enum) > 0 || first.XValidations != nil && second.XValidations != nil ||
		first.XListType != nil && second.XListType != nil || first.XMapType != nil && second.XMapType != nil ||
		first.XListMapKeys != nil && second.XListMapKeys != nil ||
		first.XPreserveUnknownFields != nil && second.XPreserveUnknownFields != nil {
		return props{}, false
	}
	first.AllOf = []props{second}
	var problems problems
	merged = *crd.FlattenEmbedded(&first, &problems)
	return merged, !problems.any && len(merged.AllOf) == 0
}

// problems records whether there was an error.
type problems struct{ any bool }

// AddError implements crd.ErrorRecorder.
func (p *problems) AddError(error) { p.any = true }
