package crdschema

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Validator prunes, defaults and validates objects with the packages of the API server.
type Validator struct {
	structural *structuralschema.Structural
	object     validation.SchemaValidator
	status     validation.SchemaValidator
	rules      *cel.Validator // nil when the schema has no x-kubernetes-validations
}

// validators holds the compiled schemas by their JSON. Compiling a large one takes 0.1 s.
var validators = struct {
	sync.Mutex
	compiled map[string]func() (*Validator, error)
}{compiled: map[string]func() (*Validator, error){}}

// maxValidators limits the memory of a long run in which CRDs change.
const maxValidators = 256

// NewValidator compiles a schema, or returns the validator of an equal one. The error
// says why an API server rejects the schema.
func NewValidator(s Schema) (*Validator, error) {
	content, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return compiledOnce(content)()
}

// compiledOnce returns a function that compiles a schema once.
func compiledOnce(content []byte) func() (*Validator, error) {
	validators.Lock()
	defer validators.Unlock()
	compiled, found := validators.compiled[string(content)]
	if !found {
		if len(validators.compiled) >= maxValidators {
			clear(validators.compiled)
		}
		compiled = sync.OnceValues(func() (*Validator, error) { return compile(content) })
		validators.compiled[string(content)] = compiled
	}
	return compiled
}

func compile(content []byte) (*Validator, error) {
	props, err := decode(content)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	structural = structural.DeepCopy() // its defaults belong to props
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	v := &Validator{structural: structural, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}
	if v.object, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	if status, found := props.Properties["status"]; found {
		if v.status, _, err = validation.NewSchemaValidator(&status); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Validate checks that the schema at path is a valid structural schema. A nil schema is.
func (s Schema) Validate(path *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	v, err := NewValidator(s)
	if err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	return sorted(structuralschema.ValidateStructural(path, v.structural))
}

// decode reads a schema into the type that the packages of the API server work with.
func decode(content []byte) (*apiextensions.JSONSchemaProps, error) {
	var versioned apiextensionsv1.JSONSchemaProps
	if err := utiljson.Unmarshal(content, &versioned); err != nil {
		return nil, fmt.Errorf("the schema is not valid: %w", err)
	}
	props := &apiextensions.JSONSchemaProps{}
	return props, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&versioned, props, nil)
}

// Prune removes the fields that the schema does not specify, and null values that are
// not allowed and have no default. It returns the paths of the unknown fields, sorted.
// The error is about metadata of an embedded object that cannot be decoded.
func (v *Validator) Prune(object map[string]any) (dropped []string, err error) {
	dropped = pruning.PruneWithOptions(object, v.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, v.structural)
	failed, inMetadata := objectmeta.CoerceWithOptions(nil, object, v.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
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
// of list sets and maps, and the validation rules. It returns errs, which are those of
// the object's own metadata, followed by what it finds.
func (v *Validator) Validate(ctx context.Context, errs field.ErrorList, object map[string]any) field.ErrorList {
	errs = append(errs, sorted(validation.ValidateCustomResource(nil, object, v.object))...)
	errs = append(errs, sorted(objectmeta.Validate(ctx, nil, object, v.structural, false))...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, object)...)
	return v.withRules(ctx, errs, object, nil)
}

// ValidateUpdate is like Validate, for an object that replaces an older one. Invalid
// values that did not change are accepted.
func (v *Validator) ValidateUpdate(ctx context.Context, errs field.ErrorList, object, old map[string]any) field.ErrorList {
	changes := v.changes(object, old)
	errs = append(errs, sorted(validation.ValidateCustomResourceUpdate(nil, object, old, v.object, validation.WithRatcheting(changes)))...)
	errs = append(errs, sorted(objectmeta.Validate(ctx, nil, object, v.structural, false))...)
	errs = append(errs, v.changedLists(object, old)...)
	return v.withRules(ctx, errs, object, old, cel.WithRatcheting(changes))
}

// ValidateStatusUpdate is like ValidateUpdate, for an update that changes only the status.
func (v *Validator) ValidateStatusUpdate(ctx context.Context, errs field.ErrorList, object, old map[string]any) field.ErrorList {
	changes := v.changes(object, old)
	if status, isSet := object["status"]; isSet && v.status != nil {
		found := validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old["status"], v.status, validation.WithRatcheting(changes.Key("status")))
		errs = append(errs, sorted(found)...)
	}
	errs = append(errs, v.changedLists(object, old)...)
	return v.withRules(ctx, errs, object, old, cel.WithRatcheting(changes))
}

func (v *Validator) changes(object, old map[string]any) *common.CorrelatedObject {
	return common.NewCorrelatedObject(object, old, &model.Structural{Structural: v.structural})
}

// changedLists checks list sets and maps, unless the old object has invalid ones already.
func (v *Validator) changedLists(object, old map[string]any) field.ErrorList {
	if len(listtype.ValidateListSetsAndMaps(nil, v.structural, old)) > 0 {
		return nil
	}
	return listtype.ValidateListSetsAndMaps(nil, v.structural, object)
}

// withRules adds what the validation rules find. They are not evaluated for an object
// with errors that could make them fail.
func (v *Validator) withRules(ctx context.Context, errs field.ErrorList, object, old map[string]any, options ...cel.Option) field.ErrorList {
	if v.rules == nil {
		return errs
	}
	if slices.ContainsFunc(errs, blocksRules) {
		return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
	}
	var before any // an untyped nil when the object is new
	if old != nil {
		before = old
	}
	found, _ := v.rules.Validate(ctx, nil, v.structural, object, before, celconfig.RuntimeCELCostBudget, options...)
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
