// Package config parses and validates the configuration that a hook prints when it is run
// with --config, and locates each problem in the text.
//
// shell-operator does not start if one configuration is invalid, so everything that it
// refuses is an error here. A warning is something that it accepts but that has no effect,
// or another effect than its author expects.
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

// Config is a configuration of version v1, or as much of one without a version
// as has a counterpart there.
type Config struct {
	Version    string // v1 or v0
	Settings   *Settings
	OnStartup  *float64 // the order, ascending
	Schedule   []Schedule
	Kubernetes []Kubernetes
	Validating []Admission  `json:"kubernetesValidating"`
	Mutating   []Admission  `json:"kubernetesMutating"`
	Conversion []Conversion `json:"kubernetesCustomResourceConversion"`

	Steps map[string]float64 `json:"-"` // order by name, of those that the hook's Owner has
}

// Settings limit how often a hook runs.
type Settings struct {
	ExecutionMinInterval string // a Go duration
	ExecutionBurst       *float64
}

// Schedule is a binding to the clock.
type Schedule struct {
	Name                 string
	Crontab              string
	AllowFailure         bool
	IncludeSnapshotsFrom []string
	Queue                string
	Group                string
}

// BindingName is the name in contexts.
func (s Schedule) BindingName() string { return cmp.Or(s.Name, "schedule") }

// Kubernetes is a binding to objects of one kind.
type Kubernetes struct {
	Name                         string
	APIVersion                   string
	Kind                         string
	ExecuteHookOnEvent           []string // Added, Modified, Deleted; nil: see Events
	WatchEvent                   []string // its former name
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

// BindingName is the name in contexts.
func (k Kubernetes) BindingName() string { return cmp.Or(k.Name, "kubernetes") }

// QueueName is the name of the queue that the binding's events wait in.
func (k Kubernetes) QueueName() string { return cmp.Or(k.Queue, "main") }

// NameSelector selects objects, or namespaces, by name.
type NameSelector struct{ MatchNames []string }

// FieldSelector selects objects by fields that the API server knows.
type FieldSelector struct {
	MatchExpressions []struct{ Field, Operator, Value string }
}

// NamespaceSelector selects namespaces.
type NamespaceSelector struct {
	NameSelector  *NameSelector
	LabelSelector *metav1.LabelSelector
}

// names reports whether the selector leaves out namespaces.
func (s *NamespaceSelector) names() bool {
	return s != nil && (s.LabelSelector != nil || s.NameSelector != nil && len(s.NameSelector.MatchNames) > 0)
}

// Admission is a binding to requests of the API server, to validate or mutate.
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

// Requests says which requests a webhook gets.
type Requests struct {
	APIGroups, APIVersions, Resources, Operations []string
	Scope                                         string
}

// Conversion is a binding to requests to convert objects of one CRD.
type Conversion struct {
	Name                 string
	Group                string
	IncludeSnapshotsFrom []string
	CRDName              string
	Conversions          []struct{ FromVersion, ToVersion string }
}

// judge collects findings about one source.
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

// Parse reads the configuration of a hook of shell-operator.
func Parse(text []byte) (*Config, []finding.Finding) { return Shell.Parse(text) }

// Parse reads a configuration, YAML or JSON, and judges it. Findings are in the
// order of their places. The configuration is nil when any of them refuses.
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
		err = json.Unmarshal(content, c) // all that fits
	}
	if len(j.findings) > 0 {
		j.expressions(c)
		return nil // what else there is to find relies on the shape
	}
	steps := j.steps()
	if version == "v0" {
		if c = j.legacy(); c != nil {
			c.Steps = steps
		}
		return c
	}
	if err != nil { // a number that is too large
		j.refuse(nil, ruleSchema, "%v", err)
		return nil
	}
	c.Steps = steps
	j.expressions(c)
	j.refusals(c)
	j.lints(c)
	return c
}

// anyOf is the object of a configuration; one that is empty is none at all.
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

// Events are those that run the hook, Added, Modified and Deleted unless the
// binding names others.
func (k Kubernetes) Events() []string {
	switch {
	case k.ExecuteHookOnEvent != nil:
		return k.ExecuteHookOnEvent
	case k.WatchEvent != nil:
		return k.WatchEvent
	}
	return []string{"Added", "Modified", "Deleted"}
}

// Synchronizes reports whether the hook is run with all objects at first.
func (k Kubernetes) Synchronizes() bool { return !off(k.ExecuteHookOnSynchronization) }

// KeepsObjects reports whether contexts and snapshots hold whole objects.
func (k Kubernetes) KeepsObjects() bool { return !off(k.KeepFullObjectsInMemory) }
