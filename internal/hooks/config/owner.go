package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// Owner is the kind of operator component that a hook belongs to. It determines the
// additional steps that the hook can bind to.
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

// Event returns the command-line name of a step, such as before-helm for beforeHelm.
func Event(step string) string {
	var b strings.Builder
	for _, r := range step {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// shape adds the owner's steps to a schema, as addon-operator does.
func (o Owner) shape(s *shape) *shape {
	if o == Shell {
		return s
	}
	more := *s
	more.keys = maps.Clone(s.keys)
	for _, step := range o.Steps() {
		more.keys[step] = integer
	}
	return &more
}

// wrongOrder matches the library's error for an invalid order.
var wrongOrder = lazyregexp.New(`line (\d+): cannot unmarshal`)

// steps reads the orders of the owner's steps. addon-operator reads them again from the
// text with another library, which rejects negative orders and duplicate keys.
func (j *validator) steps() map[string]float64 {
	if j.owner == Shell {
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
	if err := yaml.Unmarshal(j.text, &orders); err != nil {
		j.wrongSteps(err)
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

func (j *validator) wrongSteps(err error) {
	for _, step := range j.owner.Steps() {
		if v, isNumber := j.values[step].(float64); isNumber && (v < 0 || v > math.MaxInt64) {
			j.refuse(path{step}, ruleStep, "%s is %v, but an order must not be negative", step, v)
		}
	}
	if wrongOrder().MatchString(err.Error()) && len(j.findings) > 0 {
		return
	}
	text := strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "yaml: ")
	f := finding.Finding{Rule: ruleStep, Severity: finding.Error, Message: "addon-operator cannot read the steps: " + strings.TrimPrefix(text, "unmarshal errors: ")}
	if _, err := fmt.Sscanf(strings.TrimPrefix(text, "unmarshal errors: "), "line %d:", &f.Line); err != nil {
		f.Line = 1
	}
	j.add(f, nil, false)
}

// lintUnserved reports webhooks, which addon-operator's schema allows but which it does
// not serve.
func (j *validator) lintUnserved(c *Config) {
	if j.owner == Shell {
		return
	}
	for _, webhooks := range []struct {
		name string
		n    int
	}{{"kubernetesValidating", len(c.Validating)}, {"kubernetesMutating", len(c.Mutating)}, {"kubernetesCustomResourceConversion", len(c.Conversion)}} {
		if webhooks.n > 0 {
			j.lint(path{webhooks.name}, ruleUnasked, "addon-operator accepts %s, but calls no hook for requests: use a shell-operator, or a webhook in the chart", webhooks.name)
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
