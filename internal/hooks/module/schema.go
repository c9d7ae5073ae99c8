package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-openapi/spec"
	"github.com/go-openapi/strfmt"
	"github.com/go-openapi/validate"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
	kyaml "sigs.k8s.io/yaml"
)

// Schemas judge the values of a module, or global ones. Any of them may be nil.
type Schemas struct {
	Config *spec.Schema // what users may set in the ConfigMap
	Values *spec.Schema // what hooks see and change
	Helm   *spec.Schema // Values, with what the chart cannot do without
}

// ParseSchemas reads openapi/config-values.yaml and openapi/values.yaml, as
// addon-operator does: an object takes no keys but its properties unless it says
// otherwise, and values extend what the config has when they ask for it.
func ParseSchemas(config, values []byte) (Schemas, error) {
	var s Schemas
	var err error
	if len(config) > 0 {
		if s.Config, err = parseSchema(config); err != nil {
			return s, &schemaError{configFile, err}
		}
		shut(s.Config)
	}
	if len(values) == 0 {
		return s, nil
	}
	if s.Values, err = parseSchema(values); err != nil {
		return s, &schemaError{valuesFile, err}
	}
	extend(s.Values, s.Config)
	shut(s.Values)
	s.Helm, err = forHelm(s.Values)
	return s, err
}

// The files of a folder openapi.
const (
	configFile = "config-values.yaml"
	valuesFile = "values.yaml"
)

// schemaError says which of the two files is wrong.
type schemaError struct {
	file string
	error
}

// elsewhere finds references to other documents.
var elsewhere = regexp.MustCompile(`"\$ref":"([^#"][^"]*)"`)

func parseSchema(text []byte) (*spec.Schema, error) {
	content, err := kyaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	if m := elsewhere.FindSubmatch(content); m != nil {
		return nil, fmt.Errorf("$ref to %s: only references within the file are followed, such as #/definitions/x", m[1])
	}
	s := new(spec.Schema)
	if err := json.Unmarshal(content, s); err != nil {
		return nil, err
	}
	return s, spec.ExpandSchema(s, s, nil)
}

// shut lets objects take no other keys than their properties, where nothing is
// said about others. As in addon-operator, properties that say something are
// left alone, with all that is below them.
func shut(s *spec.Schema) {
	if s.AdditionalProperties == nil {
		s.AdditionalProperties = &spec.SchemaOrBool{}
	}
	for name, p := range s.Properties {
		if p.AdditionalProperties == nil {
			shut(&p)
			s.Properties[name] = p
		}
	}
	if s.Items == nil {
		return
	}
	if s.Items.Schema != nil {
		shut(s.Items.Schema)
	}
	for i := range s.Items.Schemas {
		shut(&s.Items.Schemas[i])
	}
}

// extends reports whether a schema asks for what the config's has; which schema it
// names, nobody looks at.
func extends(s *spec.Schema) bool {
	content, err := json.Marshal(s.Extensions["x-extend"])
	var settings struct {
		Schema *any `json:"schema"`
	}
	return err == nil && json.Unmarshal(content, &settings) == nil && settings.Schema != nil
}

// extend adds what the config's schema has, and s has not.
func extend(s, config *spec.Schema) {
	if config == nil || !extends(s) {
		return
	}
	s.Definitions = union(config.Definitions, s.Definitions)
	s.Properties = union(config.Properties, s.Properties)
	s.PatternProperties = union(config.PatternProperties, s.PatternProperties)
	s.Extensions = union(config.Extensions, s.Extensions)
	s.Required = both(config.Required, s.Required)
	if s.Title == "" {
		s.Title = config.Title
	}
	if s.Description == "" {
		s.Description = config.Description
	}
}

func union[M ~map[string]V, V any](under, over M) M {
	all := M{}
	for _, m := range []M{under, over} {
		maps.Copy(all, m)
	}
	return all
}

func both(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// forHelm is a copy of a schema that requires what x-required-for-helm names.
func forHelm(s *spec.Schema) (*spec.Schema, error) {
	content, err := s.MarshalJSON()
	if err != nil {
		return nil, err
	}
	other := new(spec.Schema)
	if err := other.UnmarshalJSON(content); err != nil {
		return nil, err
	}
	require(other)
	return other, nil
}

func require(s *spec.Schema) {
	if name, isText := s.Extensions.GetString("x-required-for-helm"); isText {
		s.Required = both(s.Required, []string{name})
	} else if names, areTexts := s.Extensions.GetStringSlice("x-required-for-helm"); areTexts {
		s.Required = both(s.Required, names)
	}
	for name, p := range s.Properties {
		require(&p)
		s.Properties[name] = p
	}
}

// withDefaults returns values with the defaults of a schema where they have
// nothing. Only properties and items of lists have defaults.
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
			if _, there := x[name]; !there && p.Default != nil {
				x[name] = jsonvalue.Clone(p.Default)
			}
			if below, there := x[name]; there {
				addDefaults(&p, below)
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

// Violation is a value that a schema does not take.
type Violation struct {
	Path    []string // below the module's key
	Message string   // what is wrong with it
	Lacks   bool     // it is required, and not there
}

// wrongType is how the library speaks of types.
var wrongType = regexp.MustCompile(`^must be of type (.+): "(.+)"$`)

// Check compares values with a schema; nil takes everything.
func Check(s *spec.Schema, values map[string]any) []Violation {
	if s == nil {
		return nil
	}
	var misfits []Violation
	for _, err := range validate.NewSchemaValidator(s, nil, "", strfmt.Default).Validate(values).Errors {
		path, message, found := strings.Cut(err.Error(), " in body ")
		if !found {
			path, message = "", err.Error()
		}
		m := Violation{Message: wrongType.ReplaceAllString(message, "must be of type $1, not $2"), Lacks: message == "is required"}
		if path = strings.Trim(path, ". "); path != "" {
			m.Path = strings.Split(path, ".")
		}
		misfits = append(misfits, m)
	}
	slices.SortFunc(misfits, func(a, b Violation) int { return slices.Compare(append(a.Path, a.Message), append(b.Path, b.Message)) })
	return misfits
}

// readSchemas reads the two files of a folder. Findings call it folder.
func readSchemas(dir, folder string) (Schemas, []finding.Finding, error) {
	var texts [2][]byte
	for i, name := range []string{configFile, valuesFile} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Schemas{}, nil, err
		}
		texts[i] = content
	}
	s, err := ParseSchemas(texts[0], texts[1])
	if wrong := (*schemaError)(nil); errors.As(err, &wrong) {
		return Schemas{}, []finding.Finding{*unreadable(folder+"/"+wrong.file, ruleOpenAPI, wrong.error)}, nil
	}
	return s, nil, err
}
