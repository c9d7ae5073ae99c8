package scorecard

import (
	"errors"
	"fmt"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// ReadConfiguration reads the configuration of the tests from a file with that name.
func ReadConfiguration(name string, src []byte) (v1alpha3.Configuration, error) {
	var c v1alpha3.Configuration
	if err := bundle.CheckStrict(name, src); err != nil {
		return c, err
	}
	if err := yaml.Unmarshal(src, &c); err != nil {
		return c, fault.In(name, fault.Usage("write it as operon init --plugins olm does", "it is not a scorecard configuration: %s", strings.TrimPrefix(err.Error(), "error unmarshaling JSON: ")))
	}
	for _, p := range Problems(src, c) {
		if !p.Harmless {
			return c, fault.In(name, fault.Usage(p.Fix, "%s", p.Text))
		}
	}
	return c, nil
}

// Problem is what is wrong with a configuration that can be decoded.
type Problem struct {
	Field     string // such as stages[0].tests[1].image
	Text, Fix string
	Harmless  bool // the tests run nevertheless
}

// Problems returns what is wrong with a configuration.
func Problems(src []byte, c v1alpha3.Configuration) []Problem {
	var all []Problem
	if c.Kind != "" && c.Kind != v1alpha3.ConfigurationKind {
		all = append(all, Problem{Field: "kind", Text: "it is not a scorecard configuration: kind " + c.Kind, Fix: "write kind: " + v1alpha3.ConfigurationKind})
	}
	if known := v1alpha3.GroupVersion.String(); c.APIVersion != "" && c.APIVersion != known {
		all = append(all, Problem{Field: "apiVersion", Text: "operon does not know scorecard configurations of apiVersion " + c.APIVersion, Fix: "write apiVersion: " + known})
	}
	tests := 0
	for i, stage := range c.Stages {
		for j, test := range stage.Tests {
			tests++
			field := fmt.Sprintf("stages[%d].tests[%d]", i, j)
			if test.Image == "" {
				all = append(all, Problem{Field: field, Text: field + " has no image", Fix: "add image"})
			}
			if len(test.Entrypoint) == 0 {
				all = append(all, Problem{Field: field, Text: field + " has no entrypoint, so the image decides what runs", Fix: "add entrypoint", Harmless: true})
			}
		}
	}
	if tests == 0 {
		all = append(all, Problem{Field: "stages", Text: "the configuration lists no tests", Fix: "add tests, as operon edit --plugins olm does", Harmless: true})
	}
	return append(all, unknownFields(src)...)
}

// unknownFields returns fields that scorecard does not read. Tools such as kustomize write any metadata.
func unknownFields(src []byte) (all []Problem) {
	text, err := yaml.YAMLToJSON(src)
	if err != nil {
		return nil
	}
	strict, _ := json.UnmarshalStrict(text, &v1alpha3.Configuration{}, json.DisallowUnknownFields)
	for _, err := range strict {
		var at json.FieldError
		if errors.As(err, &at) && !strings.HasPrefix(at.FieldPath(), "metadata.") {
			all = append(all, Problem{Field: at.FieldPath(), Text: "scorecard configurations have no field " + at.FieldPath(), Fix: "correct the name of the field, or remove it", Harmless: true})
		}
	}
	return all
}
