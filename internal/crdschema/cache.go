package crdschema

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validators has the validators of schemas, by their JSON. Compiling a large schema takes 0.1 s.
var validators = struct {
	sync.Mutex
	all map[string]func() (*Validator, error)
}{all: map[string]func() (*Validator, error){}}

// maxValidators limits the memory of a long run in which CRDs change.
const maxValidators = 256

// NewValidator compiles a schema, or returns the validator of an equal one. The error
// is the reason why an API server rejects the schema.
func NewValidator(s Schema) (*Validator, error) {
	content, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	validators.Lock()
	compiled := validators.all[string(content)]
	if compiled == nil {
		if len(validators.all) >= maxValidators {
			clear(validators.all)
		}
		compiled = sync.OnceValues(func() (*Validator, error) { return compile(content) })
		validators.all[string(content)] = compiled
	}
	validators.Unlock()
	return compiled()
}

// Validate checks that the schema at path is a valid structural schema. A nil schema is
// valid. Validate does not compile validation rules.
func (s Schema) Validate(path *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	content, err := json.Marshal(s)
	if err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	return validateStructural(path, content)
}

// validateStructural returns the errors of a schema. Their paths start with path.
func validateStructural(path *field.Path, content []byte) field.ErrorList {
	props, err := decode(content)
	if err == nil {
		var structural *structuralschema.Structural
		if structural, err = structuralOf(props); err == nil {
			return sorted(structuralschema.ValidateStructural(path, structural))
		}
	}
	return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
}

// decode reads a schema into the type of the API server's packages.
func decode(content []byte) (*apiextensions.JSONSchemaProps, error) {
	var versioned apiextensionsv1.JSONSchemaProps
	if err := utiljson.Unmarshal(content, &versioned); err != nil {
		return nil, fmt.Errorf("the schema is not valid: %w", err)
	}
	props := &apiextensions.JSONSchemaProps{}
	return props, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&versioned, props, nil)
}

func structuralOf(props *apiextensions.JSONSchemaProps) (*structuralschema.Structural, error) {
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	return structural.DeepCopy(), nil // its defaults would share memory with props
}
