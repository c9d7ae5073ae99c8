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

// schemaCache holds the results of reading schemas, by their JSON.
var schemaCache = struct {
	sync.Mutex
	schemas map[string]cachedSchema
}{schemas: map[string]cachedSchema{}}

// maxSchemas limits the memory of a long run in which CRDs change.
const maxSchemas = 256

// cachedSchema computes each result once.
type cachedSchema struct {
	content []byte
	isValid func() bool                // without errors of validateStructural
	compile func() (*Validator, error) // takes 0.1 s for a large schema
}

// cached returns the cached results for a schema.
func cached(s Schema) (cachedSchema, error) {
	content, err := json.Marshal(s)
	if err != nil {
		return cachedSchema{}, err
	}
	schemaCache.Lock()
	defer schemaCache.Unlock()
	c, found := schemaCache.schemas[string(content)]
	if !found {
		if len(schemaCache.schemas) >= maxSchemas {
			clear(schemaCache.schemas)
		}
		c = cachedSchema{
			content: content,
			isValid: sync.OnceValue(func() bool { return len(validateStructural(nil, content)) == 0 }),
			compile: sync.OnceValues(func() (*Validator, error) { return compile(content) }),
		}
		schemaCache.schemas[string(content)] = c
	}
	return c, nil
}

// Validate checks that the schema at path is a valid structural schema. A nil schema is
// valid. Validate does not compile validation rules.
func (s Schema) Validate(path *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	c, err := cached(s)
	if err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	if c.isValid() {
		return nil
	}
	return validateStructural(path, c.content)
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
