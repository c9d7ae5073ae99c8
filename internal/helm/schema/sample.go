package schema

import (
	"bytes"
	"context"
	"maps"
	"path"
	"reflect"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kyaml "sigs.k8s.io/yaml"
)

// sample returns values.yaml if it is a valid spec, or else its valid part with what the schema
// requires.
func (b *builder) sample(c Chart, values *value, spec crdschema.Schema) ([]byte, error) {
	file := path.Join(c.Folder, "values.yaml")
	root := objectOf(map[string]any{"spec": map[string]any(spec)})
	validator, err := crdschema.NewValidator(root)
	if err == nil {
		err = root.Validate(nil).ToAggregate()
	}
	if err != nil {
		return nil, fault.Failed("report this chart as a problem of operon", "%s: the schema for the CRD is not valid: %v", file, err)
	}
	object, _ := values.data.(map[string]any)
	problems := invalid(validator, object)
	if len(problems) == 0 {
		return sampleText(c.Values, object)
	}
	for _, p := range problems {
		at := values.at(p.Field)
		b.found(ruleMisfit, file, at.line, at.column, "%s: %s", p.Field, p.ErrorBody())
	}
	kept, _ := root.Fit(map[string]any{"spec": object})["spec"].(map[string]any)
	if len(invalid(validator, kept)) > 0 {
		minimal, _ := root.Minimal()
		required, _ := minimal["spec"].(map[string]any)
		kept = overlaid(kept, required)
	}
	return kyaml.Marshal(kept)
}

// invalid returns the errors of an API server for a spec, or one for fields that it would drop.
func invalid(validator *crdschema.Validator, spec map[string]any) field.ErrorList {
	object := map[string]any{"spec": jsonvalue.Clone(spec)}
	unknown, err := validator.Prune(object)
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("spec"), field.OmitValueType{}, err.Error())}
	}
	problems := validator.Validate(context.Background(), nil, object)
	for _, name := range unknown {
		problems = append(problems, field.Invalid(field.NewPath(name), field.OmitValueType{}, "the schema does not allow this field"))
	}
	return problems
}

// at returns the value with a path such as spec.a.b[0], or the nearest one around it.
func (v *value) at(name string) *value {
	found := v
	for key, inner := range v.fields {
		prefix := "spec"
		if len(v.path) > 0 {
			prefix += "." + v.name()
		}
		full := prefix + "." + key
		if name == full || len(name) > len(full) && name[:len(full)] == full && (name[len(full)] == '.' || name[len(full)] == '[') {
			found = inner.at(name)
		}
	}
	return found
}

// overlaid returns object with the keys of required that it lacks.
func overlaid(object, required map[string]any) map[string]any {
	all := maps.Clone(object)
	if all == nil {
		all = map[string]any{}
	}
	for key, v := range required {
		own, exists := all[key].(map[string]any)
		if inner, isObject := v.(map[string]any); exists && isObject {
			all[key] = overlaid(own, inner)
		} else if _, exists := all[key]; !exists {
			all[key] = v
		}
	}
	return all
}

// sampleText returns values.yaml without document markers. The result means the same when it
// is indented.
func sampleText(content []byte, object map[string]any) ([]byte, error) {
	if len(object) == 0 {
		return []byte("{}\n"), nil
	}
	var lines [][]byte
	for line := range bytes.Lines(normalized(content)) {
		if marker := string(bytes.TrimSpace(line)); marker != "---" && marker != "..." {
			lines = append(lines, line)
		}
	}
	text := append(bytes.Trim(bytes.Join(lines, nil), "\n"), '\n')
	indented := bytes.ReplaceAll(append([]byte("spec:\n"), text...), []byte("\n"), []byte("\n  "))
	var root map[string]any
	if decoded, err := decodeValues("values.yaml", indented); err == nil {
		root, _ = decoded.(map[string]any)
	}
	if reflect.DeepEqual(root["spec"], any(object)) {
		return text, nil
	}
	return kyaml.Marshal(object)
}
