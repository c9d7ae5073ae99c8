package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// Owner is the component of an operator that a hook belongs to. It determines the steps that
// the hook can bind to.
type Owner int

// The owners of hooks.
const (
	Shell  Owner = iota // shell-operator
	Global              // the global hooks of addon-operator
	Module              // a module of addon-operator
)

// Steps returns the names of the owner's steps in execution order.
func (o Owner) Steps() []string {
	switch o {
	case Global:
		return []string{"beforeAll", "afterAll"}
	case Module:
		return []string{"beforeHelm", "afterHelm", "beforeDeleteHelm", "afterDeleteHelm"}
	}
	return nil
}

// CommandLineName returns the name of a step on the command line, such as before-helm for beforeHelm.
func CommandLineName(step string) string {
	var b strings.Builder
	for _, r := range step {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// withSteps returns a schema that also allows the owner's steps, as addon-operator does.
func (o Owner) withSteps(s *jsonSchema) *jsonSchema {
	if o == Shell {
		return s
	}
	extended := *s
	extended.properties = maps.Clone(s.properties)
	for _, step := range o.Steps() {
		extended.properties[step] = integer
	}
	return &extended
}

// invalidOrder matches the library's error for an invalid order.
var invalidOrder = lazyregexp.New(`line (\d+): cannot unmarshal`)

// parseSteps returns the orders of the owner's steps. Like addon-operator, it parses the text
// again with another library, which rejects negative orders and duplicate keys.
func (v *validator) parseSteps() map[string]float64 {
	if v.owner == Shell {
		return nil
	}
	var orders struct {
		BeforeAll        *uint `yaml:"beforeAll"`
		AfterAll         *uint `yaml:"afterAll"`
		BeforeHelm       *uint `yaml:"beforeHelm"`
		AfterHelm        *uint `yaml:"afterHelm"`
		BeforeDeleteHelm *uint `yaml:"beforeDeleteHelm"`
		AfterDeleteHelm  *uint `yaml:"afterDeleteHelm"`
	}
	if err := yaml.Unmarshal(v.text, &orders); err != nil {
		v.reportStepErrors(err)
		return nil
	}
	steps := map[string]float64{}
	for name, order := range map[string]*uint{
		"beforeAll": orders.BeforeAll, "afterAll": orders.AfterAll, "beforeHelm": orders.BeforeHelm, "afterHelm": orders.AfterHelm,
		"beforeDeleteHelm": orders.BeforeDeleteHelm, "afterDeleteHelm": orders.AfterDeleteHelm,
	} {
		if order != nil {
			steps[name] = float64(*order)
		}
	}
	return steps
}

// reportStepErrors reports the invalid orders of steps. err is the error of the library.
func (v *validator) reportStepErrors(err error) {
	for _, step := range v.owner.Steps() {
		if order, isNumber := v.values[step].(float64); isNumber && (order < 0 || order > math.MaxInt64) {
			v.report(path{step}, ruleStep, "%s is %v, but an order must not be negative", step, order)
		}
	}
	if invalidOrder().MatchString(err.Error()) && len(v.findings) > 0 {
		return
	}
	message := strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "yaml: ")
	message = strings.TrimPrefix(message, "unmarshal errors: ")
	var line int
	if _, err := fmt.Sscanf(message, "line %d:", &line); err != nil {
		line = 1
	}
	v.add(ruleStep.At("", line, 0, "addon-operator cannot read the steps: %s", message))
}

// checkAddonWebhooks reports webhooks, which addon-operator's schema allows, but which it
// does not serve.
func (v *validator) checkAddonWebhooks(c *Config) {
	if v.owner == Shell {
		return
	}
	for _, webhooks := range []struct {
		name  string
		count int
	}{
		{"kubernetesValidating", len(c.Validating)}, {"kubernetesMutating", len(c.Mutating)},
		{"kubernetesCustomResourceConversion", len(c.Conversion)},
	} {
		if webhooks.count > 0 {
			v.report(path{webhooks.name}, ruleAddonWebhook, "addon-operator accepts %s, but does not serve webhooks: use shell-operator, or a webhook in the chart", webhooks.name)
		}
	}
}

// StepNames returns the steps that the hook is bound to, in execution order.
func (c *Config) StepNames() []string {
	var names []string
	for _, o := range []Owner{Global, Module} {
		names = append(names, slices.DeleteFunc(o.Steps(), func(step string) bool { _, bound := c.Steps[step]; return !bound })...)
	}
	return names
}
