// Package config parses and validates the configurations that hooks print with --config. Each
// finding has its position in the text.
//
// shell-operator does not start if one configuration is invalid, so everything that it
// rejects is an error here. A warning reports a setting that it accepts, but that has no
// effect or an unexpected one.
package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Config is a configuration of version v1. A configuration without configVersion (v0) is
// converted as far as v1 has equivalent fields.
type Config struct {
	Version    string // v1 or v0
	Settings   *Settings
	OnStartup  *float64 // the order; lower values run first
	Schedule   []Schedule
	Kubernetes []Kubernetes
	Validating []Admission  `json:"kubernetesValidating"`
	Mutating   []Admission  `json:"kubernetesMutating"`
	Conversion []Conversion `json:"kubernetesCustomResourceConversion"`

	Steps map[string]float64 `json:"-"` // the order by step; the Owner of the hook determines the steps
}

// Settings limits how often a hook runs.
type Settings struct {
	ExecutionMinInterval string // a Go duration
	ExecutionBurst       *float64
}

// Schedule is a schedule binding.
type Schedule struct {
	Name                 string
	Crontab              string
	AllowFailure         bool
	IncludeSnapshotsFrom []string
	Queue                string
	Group                string
}

// BindingName returns the name of the binding in contexts.
func (s Schedule) BindingName() string { return cmp.Or(s.Name, "schedule") }

// Kubernetes is a binding to the objects of one kind.
type Kubernetes struct {
	Name                         string
	APIVersion                   string
	Kind                         string
	ExecuteHookOnEvent           []string // Added, Modified or Deleted; see Events
	WatchEvent                   []string // the former name of ExecuteHookOnEvent
	ExecuteHookOnSynchronization *bool
	WaitForSynchronization       *bool
	KeepFullObjectsInMemory      *bool
	AllowFailure                 bool
	ResynchronizationPeriod      string
	IncludeSnapshotsFrom         []string
	JQFilter                     string
	Queue                        string
	Group                        string
	NameSelector                 *NameSelector
	LabelSelector                *metav1.LabelSelector
	FieldSelector                *FieldSelector
	Namespace                    *NamespaceSelector
}

// BindingName returns the name of the binding in contexts.
func (k Kubernetes) BindingName() string { return cmp.Or(k.Name, "kubernetes") }

// QueueName returns the queue of the binding.
func (k Kubernetes) QueueName() string { return cmp.Or(k.Queue, "main") }

// NameSelector selects objects or namespaces by name.
type NameSelector struct{ MatchNames []string }

// FieldSelector selects objects by fields. The API server supports few fields for each kind.
type FieldSelector struct {
	MatchExpressions []struct{ Field, Operator, Value string }
}

// NamespaceSelector selects namespaces.
type NamespaceSelector struct {
	NameSelector  *NameSelector
	LabelSelector *metav1.LabelSelector
}

// isRestricted reports whether the selector excludes namespaces.
func (s *NamespaceSelector) isRestricted() bool {
	return s != nil && (s.LabelSelector != nil || s.NameSelector != nil && len(s.NameSelector.MatchNames) > 0)
}

// Admission is a binding to validating or mutating admission requests.
type Admission struct {
	Name                 string
	Group                string
	IncludeSnapshotsFrom []string
	FailurePolicy        string
	SideEffects          string
	TimeoutSeconds       *int32
	MatchConditions      []struct{ Name, Expression string }
	LabelSelector        *metav1.LabelSelector
	Namespace            *NamespaceSelector
	Rules                []Requests
}

// Requests selects the requests that a webhook receives.
type Requests struct {
	APIGroups, APIVersions, Resources, Operations []string
	Scope                                         string
}

// Conversion is a binding to conversion requests for one CRD.
type Conversion struct {
	Name                 string
	Group                string
	IncludeSnapshotsFrom []string
	CRDName              string
	Conversions          []struct{ FromVersion, ToVersion string }
}

// validator collects the findings about one configuration.
type validator struct {
	source
	owner    Owner
	text     []byte
	findings []finding.Finding
}

// add adds a finding, unless it is a duplicate.
func (v *validator) add(f finding.Finding) {
	if !slices.Contains(v.findings, f) {
		v.findings = append(v.findings, f)
	}
}

// report adds a finding of a rule at the position of a value.
func (v *validator) report(p path, rule finding.Rule, format string, args ...any) {
	line, column := v.position(p, false)
	v.add(rule.At("", line, column, format, args...))
}

// Parse parses and validates a configuration in YAML or JSON. Findings are ordered by
// position and have no file. The configuration is nil if a finding is an error.
func (o Owner) Parse(text []byte) (*Config, []finding.Finding) {
	src, f, ok := parseSource(text)
	if !ok {
		return nil, []finding.Finding{f}
	}
	v := &validator{source: src, owner: o, text: text}
	c := v.parse()
	findings := finding.Sort(v.findings)
	if finding.HasErrors(findings) {
		return nil, findings
	}
	return c, findings
}

// parse validates and decodes the values. The result counts only if no finding is an error.
func (v *validator) parse() *Config {
	schema, version := v.owner.withSteps(schemaV1), "v1"
	configVersion, exists := v.values["configVersion"]
	switch {
	case !exists:
		schema, version = v.owner.withSteps(schemaV0), "v0"
	case configVersion != "v1":
		v.report(path{"configVersion"}, ruleSchema, "configVersion is %v, but the engine supports only v1", quoted(configVersion))
		return nil
	}
	v.checkSchema(schema, orEmpty(v.values), nil)
	c := &Config{Version: version}
	content, err := json.Marshal(v.values)
	if err == nil {
		err = json.Unmarshal(content, c) // decodes all values that have the right type
	}
	if len(v.findings) > 0 {
		v.checkExpressions(c)
		return nil // the other checks need a valid structure
	}
	steps := v.parseSteps()
	if version == "v0" {
		if c = v.convertLegacy(); c != nil {
			c.Steps = steps
		}
		return c
	}
	if err != nil { // a number is out of range
		v.report(nil, ruleSchema, "%v", err)
		return nil
	}
	c.Steps = steps
	v.checkExpressions(c)
	v.checkErrors(c)
	v.checkWarnings(c)
	return c
}

// orEmpty returns the values, or an empty object for a nil map.
func orEmpty(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	return values
}

// quoted returns a string in quotes, or the type of another value.
func quoted(value any) string {
	if s, isString := value.(string); isString {
		return fmt.Sprintf("%q", s)
	}
	return jsonvalue.WithArticle(jsonvalue.Type(value))
}

// Events returns the events that run the hook. The default is Added, Modified and
// Deleted.
func (k Kubernetes) Events() []string {
	switch {
	case k.ExecuteHookOnEvent != nil:
		return k.ExecuteHookOnEvent
	case k.WatchEvent != nil:
		return k.WatchEvent
	}
	return []string{"Added", "Modified", "Deleted"}
}

// Synchronizes reports whether the hook runs at start-up with all existing objects.
func (k Kubernetes) Synchronizes() bool { return !isFalse(k.ExecuteHookOnSynchronization) }

// KeepsObjects reports whether contexts and snapshots contain full objects.
func (k Kubernetes) KeepsObjects() bool { return !isFalse(k.KeepFullObjectsInMemory) }
