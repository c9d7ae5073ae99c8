package config

import (
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/finding"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// lintText reports text that the engine ignores or reads as something else.
func (j *validator) lintText() {
	if j.more != nil {
		j.add(finding.Finding{Line: j.more.Line, Column: j.more.Column, Rule: ruleDocuments, Message: "the engine reads the first document and ignores the others"}, nil, false)
	}
	stepsReported := slices.ContainsFunc(j.findings, func(f finding.Finding) bool { return f.Rule == ruleStep }) // steps already reported duplicate keys
	if j.root != nil && !stepsReported {
		j.lintNode(j.root, nil)
	}
}

// lints reports what the engine accepts silently.
func (j *validator) lints(c *Config) {
	j.lintText()
	j.lintUnserved(c)
	j.lintNames(c)
	j.lintGroups(c)
	j.lintSettings(c.Settings)
	for i, k := range c.Kubernetes {
		j.lintKubernetes(k, path{"kubernetes", i})
	}
	for i, a := range c.Validating {
		p := path{"kubernetesValidating", i}
		j.lintRules(a, p)
		j.lintConditions(a, p)
	}
	for i, a := range c.Mutating {
		p := path{"kubernetesMutating", i}
		j.lintRules(a, p)
		j.lintConditions(a, p)
		for _, e := range validation.IsFullyQualifiedName(field.NewPath("name"), a.Name) {
			j.lint(p.in("name"), ruleMutating, "%s is %q, which the API server refuses when the operator starts: %s", p.in("name"), a.Name, e.Detail)
		}
		if t := a.TimeoutSeconds; t != nil && (*t < 1 || *t > 30) {
			j.lint(p.in("timeoutSeconds"), ruleMutating,
				"%s must be from 1 to 30, or the API server refuses the webhook when the operator starts", p.in("timeoutSeconds"))
		}
	}
	for i, v := range c.Conversion {
		for n, r := range v.Conversions {
			if r.FromVersion == r.ToVersion {
				p := path{"kubernetesCustomResourceConversion", i, "conversions", n}
				j.lint(p, ruleSameVersion, "%s converts %s to itself, which is never requested", p, r.FromVersion)
			}
		}
	}
}

func (j *validator) lintKubernetes(k Kubernetes, p path) {
	if off(k.WaitForSynchronization) && k.Queue == "" {
		j.lint(p.in("waitForSynchronization"), ruleNoWait, "%s has no effect without a queue: set queue", p.in("waitForSynchronization"))
	}
	if off(k.KeepFullObjectsInMemory) && k.JQFilter == "" {
		j.lint(p.in("keepFullObjectsInMemory"), ruleNoObject, "%s without jqFilter keeps nothing of the objects for the hook", p)
	}
	if k.ResynchronizationPeriod != "" {
		j.lint(p.in("resynchronizationPeriod"), ruleNoEffect, "%s has no effect: no version of the engine reads it", p.in("resynchronizationPeriod"))
	}
	if k.ExecuteHookOnEvent != nil && k.WatchEvent != nil {
		j.lint(p.in("watchEvent"), ruleNoEffect, "%s has no effect beside executeHookOnEvent", p.in("watchEvent"))
	}
	everywhere := k.NameSelector == nil && k.LabelSelector == nil && k.FieldSelector == nil && k.Namespace == nil
	switch {
	case !everywhere || off(k.KeepFullObjectsInMemory):
	case isSecret(k.Kind):
		j.lint(p, ruleSecrets,
			"%s keeps every Secret of the cluster in memory: select fewer objects, or set jqFilter and keepFullObjectsInMemory: false", p)
	case IsNumerous(k.APIVersion, k.Kind) && k.JQFilter == "":
		j.lint(p, ruleNumerous,
			"%s keeps every %s of the cluster in memory: select fewer objects, or set jqFilter and keepFullObjectsInMemory: false", p, k.Kind)
	}
}

func isSecret(kind string) bool {
	return slices.Contains([]string{"secret", "secrets"}, strings.ToLower(kind))
}

// The names and groups of the kinds whose number of objects grows with the workload of a
// cluster.
var (
	numerousResources = []string{"pod", "pods", "po", "replicaset", "replicasets", "rs", "event", "events", "ev", "endpointslice", "endpointslices"}
	numerousGroups    = []string{"", "apps", "discovery.k8s.io", "events.k8s.io"}
)

// IsNumerous reports whether clusters typically have so many objects of a kind that a
// hook should not keep full objects in memory. kind may be any name of the kind.
func IsNumerous(apiVersion, kind string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && slices.Contains(numerousGroups, gv.Group) && slices.Contains(numerousResources, strings.ToLower(kind))
}

// lintNames reports bindings with the same name, which a hook cannot distinguish. It
// ignores schedules with an explicit name, which are probably meant to be one, and
// bindings of a group, whose contexts have no names of their own.
func (j *validator) lintNames(c *Config) {
	seen := map[string]bool{}
	for i, k := range c.Kubernetes {
		name := k.BindingName()
		if seen[name] {
			j.lint(path{"kubernetes", i}, ruleDuplicate, "kubernetes[%d] is another binding named %q: contexts and snapshots cannot tell them apart", i, name)
		}
		seen[name] = true
	}
	unnamed := false
	for i, s := range c.Schedule {
		if s.Name != "" || s.Group != "" {
			continue
		}
		if unnamed {
			j.lint(path{"schedule", i}, ruleUnnamed, "schedule[%d] is another schedule without a name: binding contexts name each of them %q", i, s.BindingName())
		}
		unnamed = true
	}
}

// lintGroups reports groups whose bindings use different queues. Their hook may run in
// both queues at once.
func (j *validator) lintGroups(c *Config) {
	queues := map[string]string{}
	look := func(group, queue string, p path) {
		if group == "" {
			return
		}
		if queue == "" {
			queue = "main"
		}
		if first, known := queues[group]; known && first != queue {
			j.lint(p, ruleGroupQueues, "%s of group %q waits in queue %q, and another member in %q: the hook may run for both at once", p, group, queue, first)
			return
		}
		queues[group] = queue
	}
	for i, k := range c.Kubernetes {
		look(k.Group, k.Queue, path{"kubernetes", i})
	}
	for i, s := range c.Schedule {
		look(s.Group, s.Queue, path{"schedule", i})
	}
}

// lintSettings reports a burst with which the engine's rate limiter never allows a run.
// The burst has no effect without an interval, and 0 means 1.
func (j *validator) lintSettings(s *Settings) {
	if s == nil || s.ExecutionBurst == nil || *s.ExecutionBurst >= 0 {
		return
	}
	if interval, err := time.ParseDuration(s.ExecutionMinInterval); err == nil && interval > 0 {
		j.lint(path{"settings", "executionBurst"}, ruleNeverRun, "settings.executionBurst is %v, so the engine never runs the hook", *s.ExecutionBurst)
	}
}

func (j *validator) lintRules(a Admission, p path) {
	if len(a.Rules) == 0 {
		j.lint(p, ruleNoRules, "%s has no rules, so it is never called", p)
	}
}

func off(b *bool) bool { return b != nil && !*b }
