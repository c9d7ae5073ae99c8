package crdschema

import (
	"cmp"
	"context"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Validator prunes, defaults and validates objects with the packages of the API server.
type Validator struct {
	structural *structuralschema.Structural
	object     validation.SchemaValidator
	rules      *cel.Validator // nil when the schema has no x-kubernetes-validations
}

func compile(content []byte) (*Validator, error) {
	props, err := decode(content)
	if err != nil {
		return nil, err
	}
	structural, err := structuralOf(props)
	if err != nil {
		return nil, err
	}
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	v := &Validator{structural: structural, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}
	if v.object, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	return v, nil
}

// Prune removes the fields that the schema does not specify, and null values that are
// not allowed and have no default. It returns the paths of the unknown fields, sorted.
// The error is about metadata of an embedded object that cannot be decoded.
func (v *Validator) Prune(object map[string]any) (dropped []string, err error) {
	dropped = pruning.PruneWithOptions(object, v.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, v.structural)
	options := objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true}
	failed, inMetadata := objectmeta.CoerceWithOptions(nil, object, v.structural, false, options)
	if failed != nil {
		return nil, failed
	}
	dropped = append(dropped, inMetadata...)
	slices.Sort(dropped)
	return dropped, nil
}

// Default sets the defaults of fields that are absent.
func (v *Validator) Default(object map[string]any) { defaulting.Default(object, v.structural) }

// Validate checks a new object: its values, the metadata of embedded objects, the keys
// of list sets and maps, and the validation rules. It returns errs, the errors of the
// object's own metadata, followed by further errors.
func (v *Validator) Validate(ctx context.Context, errs field.ErrorList, object map[string]any) field.ErrorList {
	errs = append(errs, sorted(validation.ValidateCustomResource(nil, object, v.object))...)
	errs = append(errs, sorted(objectmeta.Validate(ctx, nil, object, v.structural, false))...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, object)...)
	return v.withRules(ctx, errs, object)
}

// withRules appends the errors of the validation rules. It does not evaluate the rules if
// errs has errors that could make them fail.
func (v *Validator) withRules(ctx context.Context, errs field.ErrorList, object map[string]any) field.ErrorList {
	if v.rules == nil {
		return errs
	}
	if slices.ContainsFunc(errs, blocksRules) {
		return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
	}
	found, _ := v.rules.Validate(ctx, nil, v.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, sorted(found)...)
}

func blocksRules(e *field.Error) bool {
	switch e.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// sorted orders errors, because the packages of the API server iterate over maps.
func sorted(errs field.ErrorList) field.ErrorList {
	slices.SortFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errs
}
