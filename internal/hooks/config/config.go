// Package config parses and validates the configuration that a hook prints with --config,
// and locates each problem in the text.
//
// shell-operator does not start if one configuration is invalid, so everything that it
// rejects is an error here. A warning is about something that it accepts, but that has no
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

	Steps map[string]float64 `json:"-"` // order by step name, for steps of the hook's Owner
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

// BindingName returns the binding name in contexts.
func (s Schedule) BindingName() string { return cmp.Or(s.Name, "schedule") }

// Kubernetes is a binding to the objects of one kind.
type Kubernetes struct {
	Name                         string
	APIVersion                   string
	Kind                         string
	ExecuteHookOnEvent           []string // Added, Modified or Deleted; if nil, see Events
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

// BindingName returns the binding name in contexts.
func (k Kubernetes) BindingName() string { return cmp.Or(k.Name, "kubernetes") }

// QueueName returns the queue of the binding.
func (k Kubernetes) QueueName() string { return cmp.Or(k.Queue, "main") }

// NameSelector selects objects or namespaces by name.
type NameSelector struct{ MatchNames []string }

// FieldSelector selects objects by fields that the API server supports in selectors.
type FieldSelector struct {
	MatchExpressions []struct{ Field, Operator, Value string }
}

// NamespaceSelector selects namespaces.
type NamespaceSelector struct {
	NameSelector  *NameSelector
	LabelSelector *metav1.LabelSelector
}

// isRestricted reports whether the selector excludes any namespaces.
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

// Requests selects the requests that a webhook gets.
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

// validator collects findings about one source.
type validator struct {
	source
	owner    Owner
	text     []byte
	findings []finding.Finding
}

func (j *validator) add(f finding.Finding, p path, key bool) {
	if f.Line == 0 {
		f.Line, f.Column = j.place(p, key)
	}
	if !slices.Contains(j.findings, f) {
		j.findings = append(j.findings, f)
	}
}

func (j *validator) refuse(p path, rule, format string, args ...any) {
	j.add(finding.Finding{Rule: rule, Severity: finding.Error, Message: fmt.Sprintf(format, args...)}, p, false)
}

func (j *validator) lint(p path, rule, format string, args ...any) {
	j.add(finding.Finding{Rule: rule, Message: fmt.Sprintf(format, args...)}, p, false)
}

// Parse parses and validates the configuration of a shell-operator hook.
func Parse(text []byte) (*Config, []finding.Finding) { return Shell.Parse(text) }

// Parse parses and validates a configuration in YAML or JSON. Findings are ordered by
// position. The configuration is nil if a finding is an error.
func (o Owner) Parse(text []byte) (*Config, []finding.Finding) {
	src, failed := read(text)
	if failed != nil {
		return nil, []finding.Finding{*failed}
	}
	j := &validator{source: src, owner: o, text: text}
	c := j.config()
	slices.SortStableFunc(j.findings, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if slices.ContainsFunc(j.findings, finding.Finding.IsError) {
		return nil, j.findings
	}
	return c, j.findings
}

func (j *validator) config() *Config {
	schema, version := j.owner.shape(version1), "v1"
	switch v, there := j.values["configVersion"]; {
	case !there:
		schema, version = j.owner.shape(version0), "v0"
	case v != "v1":
		j.refuse(path{"configVersion"}, ruleSchema, "configVersion is %v, but the engine supports only v1", quoted(v))
		return nil
	}
	j.check(schema, anyOf(j.values), nil)
	c := &Config{Version: version}
	content, err := json.Marshal(j.values)
	if err == nil {
		err = json.Unmarshal(content, c) // decodes all values of the right type
	}
	if len(j.findings) > 0 {
		j.expressions(c)
		return nil // further checks need a valid structure
	}
	steps := j.steps()
	if version == "v0" {
		if c = j.legacy(); c != nil {
			c.Steps = steps
		}
		return c
	}
	if err != nil { // a number is out of range
		j.refuse(nil, ruleSchema, "%v", err)
		return nil
	}
	c.Steps = steps
	j.expressions(c)
	j.refusals(c)
	j.lints(c)
	return c
}

// anyOf returns the values as any, with an empty object instead of a nil map.
func anyOf(values map[string]any) any {
	if values == nil {
		return map[string]any{}
	}
	return values
}

func quoted(v any) string {
	if s, isText := v.(string); isText {
		return fmt.Sprintf("%q", s)
	}
	return jsonvalue.WithArticle(jsonvalue.Type(v))
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

// Synchronizes reports whether the hook first runs with all existing objects.
func (k Kubernetes) Synchronizes() bool { return !off(k.ExecuteHookOnSynchronization) }

// KeepsObjects reports whether contexts and snapshots contain full objects.
func (k Kubernetes) KeepsObjects() bool { return !off(k.KeepFullObjectsInMemory) }
