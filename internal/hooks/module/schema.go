package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-openapi/spec"
	"github.com/go-openapi/strfmt"
	"github.com/go-openapi/validate"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/lazyregexp"
	kyaml "sigs.k8s.io/yaml"
)

// Schemas are the schemas of the values of a module, or of the global values. Each may be nil.
type Schemas struct {
	Config *spec.Schema // of the values that users set in the ConfigMap
	Values *spec.Schema // of the values that hooks read and patch
	Helm   *spec.Schema // Values, plus the properties that the chart requires
}

// ParseSchemas parses openapi/config-values.yaml and openapi/values.yaml as addon-operator
// does. By default, objects allow no additional properties. The schema of the values extends
// the schema of the ConfigMap if it has x-extend.
func ParseSchemas(config, values []byte) (Schemas, error) {
	var s Schemas
	var err error
	if len(config) > 0 {
		if s.Config, err = parseSchema(config); err != nil {
			return s, &schemaError{configFile, err}
		}
		disallowAdditional(s.Config)
	}
	if len(values) == 0 {
		return s, nil
	}
	if s.Values, err = parseSchema(values); err != nil {
		return s, &schemaError{valuesFile, err}
	}
	extend(s.Values, s.Config)
	disallowAdditional(s.Values)
	s.Helm, err = forHelm(s.Values)
	return s, err
}

// The files in the folder openapi.
const (
	configFile = "config-values.yaml"
	valuesFile = "values.yaml"
)

// schemaError is an error in one of the schema files.
type schemaError struct {
	file string
	error
}

// externalRef matches references to other documents.
var externalRef = lazyregexp.New(`"\$ref":"([^#"][^"]*)"`)

func parseSchema(text []byte) (*spec.Schema, error) {
	content, err := kyaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	if m := externalRef().FindSubmatch(content); m != nil {
		return nil, fmt.Errorf("$ref to %s: only references within the file are supported, such as #/definitions/x", m[1])
	}
	s := new(spec.Schema)
	if err := json.Unmarshal(content, s); err != nil {
		return nil, err
	}
	return s, spec.ExpandSchema(s, s, nil)
}

// disallowAdditional disallows additional properties where a schema does not specify them.
// Like addon-operator, it skips a schema that specifies them, including its subschemas.
func disallowAdditional(s *spec.Schema) {
	if s.AdditionalProperties == nil {
		s.AdditionalProperties = &spec.SchemaOrBool{}
	}
	for name, p := range s.Properties {
		if p.AdditionalProperties == nil {
			disallowAdditional(&p)
			s.Properties[name] = p
		}
	}
	if s.Items == nil {
		return
	}
	if s.Items.Schema != nil {
		disallowAdditional(s.Items.Schema)
	}
	for i := range s.Items.Schemas {
		disallowAdditional(&s.Items.Schemas[i])
	}
}

// extends reports whether a schema extends the schema of the ConfigMap. Like addon-operator,
// it ignores the name of the schema in x-extend.
func extends(s *spec.Schema) bool {
	content, err := json.Marshal(s.Extensions["x-extend"])
	var settings struct {
		Schema *any `json:"schema"`
	}
	return err == nil && json.Unmarshal(content, &settings) == nil && settings.Schema != nil
}

// extend adds the parts of the schema of the ConfigMap that s lacks.
func extend(s, config *spec.Schema) {
	if config == nil || !extends(s) {
		return
	}
	s.Definitions = union(config.Definitions, s.Definitions)
	s.Properties = union(config.Properties, s.Properties)
	s.PatternProperties = union(config.PatternProperties, s.PatternProperties)
	s.Extensions = union(config.Extensions, s.Extensions)
	s.Required = uniqueConcat(config.Required, s.Required)
	if s.Title == "" {
		s.Title = config.Title
	}
	if s.Description == "" {
		s.Description = config.Description
	}
}

// union returns the entries of both maps; overrides win.
func union[M ~map[string]V, V any](base, overrides M) M {
	all := M{}
	maps.Copy(all, base)
	maps.Copy(all, overrides)
	return all
}

// uniqueConcat returns a, followed by the items of b that a does not have.
func uniqueConcat(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// forHelm returns a copy of a schema that also requires the properties that are listed in
// x-required-for-helm.
func forHelm(s *spec.Schema) (*spec.Schema, error) {
	content, err := s.MarshalJSON()
	if err != nil {
		return nil, err
	}
	copied := new(spec.Schema)
	if err := copied.UnmarshalJSON(content); err != nil {
		return nil, err
	}
	requireForHelm(copied)
	return copied, nil
}

func requireForHelm(s *spec.Schema) {
	if name, isString := s.Extensions.GetString("x-required-for-helm"); isString {
		s.Required = uniqueConcat(s.Required, []string{name})
	} else if names, isList := s.Extensions.GetStringSlice("x-required-for-helm"); isList {
		s.Required = uniqueConcat(s.Required, names)
	}
	for name, p := range s.Properties {
		requireForHelm(&p)
		s.Properties[name] = p
	}
}

// withDefaults returns a copy of the values in which absent properties have the defaults of a
// schema.
func withDefaults(s *spec.Schema, values map[string]any) map[string]any {
	values = merge(values)
	if s != nil {
		addDefaults(s, values)
	}
	return values
}

func addDefaults(s *spec.Schema, v any) {
	switch x := v.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if _, exists := x[name]; !exists && p.Default != nil {
				x[name] = jsonvalue.Clone(p.Default)
			}
			if child, exists := x[name]; exists {
				addDefaults(&p, child)
			}
		}
	case []any:
		if s.Items == nil || s.Items.Schema == nil {
			return
		}
		for _, item := range x {
			addDefaults(s.Items.Schema, item)
		}
	}
}

// Violation is a value that violates a schema.
type Violation struct {
	Path    []string // the path of the value below the key of the module
	Message string
	Missing bool // the value is required, but absent
}

// wrongType matches the library's message for a wrong type.
var wrongType = lazyregexp.New(`^must be of type (.+): "(.+)"$`)

// checkValues validates values with a schema. A nil schema allows all values.
func checkValues(s *spec.Schema, values map[string]any) []Violation {
	if s == nil {
		return nil
	}
	var all []Violation
	for _, err := range validate.NewSchemaValidator(s, nil, "", strfmt.Default).Validate(values).Errors {
		path, message, found := strings.Cut(err.Error(), " in body ")
		if !found {
			path, message = "", err.Error()
		}
		v := Violation{Message: wrongType().ReplaceAllString(message, "must be of type $1, not $2"), Missing: message == "is required"}
		if path = strings.Trim(path, ". "); path != "" {
			v.Path = strings.Split(path, ".")
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b Violation) int { return slices.Compare(append(a.Path, a.Message), append(b.Path, b.Message)) })
	return all
}

// readSchemas reads both schema files of a folder. folder is its path in findings.
func readSchemas(dir, folder string) (Schemas, []finding.Finding, error) {
	var texts [2][]byte
	for i, name := range []string{configFile, valuesFile} {
		content, err := input.ReadFile(filepath.Join(dir, name), input.Text)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Schemas{}, nil, err
		}
		texts[i] = content
	}
	s, err := ParseSchemas(texts[0], texts[1])
	if invalid := (*schemaError)(nil); errors.As(err, &invalid) {
		return Schemas{}, []finding.Finding{parseError(folder+"/"+invalid.file, ruleOpenAPI, invalid.error)}, nil
	}
	return s, nil, err
}
