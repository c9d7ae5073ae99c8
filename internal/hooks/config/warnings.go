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

// checkText reports parts of the text that the engine ignores or reads differently than they
// look.
func (v *validator) checkText() {
	if v.second != nil {
		v.add(ruleDocuments.At("", v.second.Line, v.second.Column, "the engine reads the first document and ignores the others"))
	}
	// Findings about steps include duplicate keys.
	hasStepErrors := slices.ContainsFunc(v.findings, func(f finding.Finding) bool { return f.Rule == ruleStep.Name })
	if v.root != nil && !hasStepErrors {
		v.checkNode(v.root, nil)
	}
}

// checkWarnings reports mistakes that the engine accepts without a message.
func (v *validator) checkWarnings(c *Config) {
	v.checkText()
	v.checkAddonWebhooks(c)
	v.checkNames(c)
	v.checkGroups(c)
	v.checkBurst(c.Settings)
	for i, k := range c.Kubernetes {
		v.checkKubernetesWarnings(k, path{"kubernetes", i})
	}
	for i, a := range c.Validating {
		p := path{"kubernetesValidating", i}
		v.checkRules(a, p)
		v.checkConditions(a, p)
	}
	for i, a := range c.Mutating {
		p := path{"kubernetesMutating", i}
		v.checkRules(a, p)
		v.checkConditions(a, p)
		for _, e := range validation.IsFullyQualifiedName(field.NewPath("name"), a.Name) {
			v.report(p.in("name"), ruleMutating, "%s is %q, which the API server rejects when the operator starts: %s", p.in("name"), a.Name, e.Detail)
		}
		if t := a.TimeoutSeconds; t != nil && (*t < 1 || *t > 30) {
			v.report(p.in("timeoutSeconds"), ruleMutating,
				"%s must be from 1 to 30: otherwise the API server rejects the webhook when the operator starts", p.in("timeoutSeconds"))
		}
	}
	for i, conversion := range c.Conversion {
		for n, r := range conversion.Conversions {
			if r.FromVersion == r.ToVersion {
				p := path{"kubernetesCustomResourceConversion", i, "conversions", n}
				v.report(p, ruleSameVersion, "%s converts %s to itself, which the API server never requests", p, r.FromVersion)
			}
		}
	}
}

func (v *validator) checkKubernetesWarnings(k Kubernetes, p path) {
	if isFalse(k.WaitForSynchronization) && k.Queue == "" {
		v.report(p.in("waitForSynchronization"), ruleNoWait, "%s has no effect without a queue: set queue", p.in("waitForSynchronization"))
	}
	if isFalse(k.KeepFullObjectsInMemory) && k.JQFilter == "" {
		v.report(p.in("keepFullObjectsInMemory"), ruleNothingKept, "%s keeps neither objects nor filter results for the hook: set jqFilter", p)
	}
	if k.ResynchronizationPeriod != "" {
		v.report(p.in("resynchronizationPeriod"), ruleNoEffect, "%s has no effect: no version of the engine reads it", p.in("resynchronizationPeriod"))
	}
	if k.ExecuteHookOnEvent != nil && k.WatchEvent != nil {
		v.report(p.in("watchEvent"), ruleNoEffect, "%s has no effect if executeHookOnEvent is set", p.in("watchEvent"))
	}
	selectsAll := k.NameSelector == nil && k.LabelSelector == nil && k.FieldSelector == nil && k.Namespace == nil
	switch {
	case !selectsAll || isFalse(k.KeepFullObjectsInMemory):
	case isSecret(k.Kind):
		v.report(p, ruleSecrets,
			"%s keeps every Secret of the cluster in memory: select fewer objects, or set jqFilter and keepFullObjectsInMemory: false", p)
	case IsNumerous(k.APIVersion, k.Kind) && k.JQFilter == "":
		v.report(p, ruleNumerous,
			"%s keeps every %s of the cluster in memory: select fewer objects, or set jqFilter and keepFullObjectsInMemory: false", p, k.Kind)
	}
}

func isSecret(kind string) bool {
	return slices.Contains([]string{"secret", "secrets"}, strings.ToLower(kind))
}

// The names and groups of the kinds whose number of objects grows with the workload of the
// cluster.
var (
	numerousResources = []string{
		"pod", "pods", "po", "replicaset", "replicasets", "rs", "event", "events", "ev", "endpointslice", "endpointslices",
	}
	numerousGroups = []string{"", "apps", "discovery.k8s.io", "events.k8s.io"}
)

// IsNumerous reports whether clusters typically have too many objects of a kind to keep full
// objects in memory. kind may be any name of the kind.
func IsNumerous(apiVersion, kind string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && slices.Contains(numerousGroups, gv.Group) && slices.Contains(numerousResources, strings.ToLower(kind))
}

// checkNames reports bindings with the same name, which a hook cannot distinguish. It ignores
// schedules with an explicit name, because the name is probably shared on purpose, and
// schedules of a group, because group contexts do not have the names of bindings.
func (v *validator) checkNames(c *Config) {
	seen := map[string]bool{}
	for i, k := range c.Kubernetes {
		name := k.BindingName()
		if seen[name] {
			v.report(path{"kubernetes", i}, ruleDuplicate, "kubernetes[%d] is another binding named %q: contexts and snapshots cannot tell them apart", i, name)
		}
		seen[name] = true
	}
	unnamed := false
	for i, s := range c.Schedule {
		if s.Name != "" || s.Group != "" {
			continue
		}
		if unnamed {
			v.report(path{"schedule", i}, ruleUnnamed, "schedule[%d] is another schedule without a name: binding contexts name all of them %q", i, s.BindingName())
		}
		unnamed = true
	}
}

// checkGroups reports groups whose bindings use different queues. The hook may run in both
// queues at the same time.
func (v *validator) checkGroups(c *Config) {
	queues := map[string]string{}
	check := func(group, queue string, p path) {
		if group == "" {
			return
		}
		if queue == "" {
			queue = "main"
		}
		if first, known := queues[group]; known && first != queue {
			v.report(p, ruleGroupQueues, "%s of group %q uses the queue %q, but another member uses %q: the hook may run for both at the same time", p, group, queue, first)
			return
		}
		queues[group] = queue
	}
	for i, k := range c.Kubernetes {
		check(k.Group, k.Queue, path{"kubernetes", i})
	}
	for i, s := range c.Schedule {
		check(s.Group, s.Queue, path{"schedule", i})
	}
}

// checkBurst reports a burst that prevents the engine's rate limiter from allowing any run.
// The burst has no effect without an interval, and 0 means 1.
func (v *validator) checkBurst(s *Settings) {
	if s == nil || s.ExecutionBurst == nil || *s.ExecutionBurst >= 0 {
		return
	}
	if interval, err := time.ParseDuration(s.ExecutionMinInterval); err == nil && interval > 0 {
		v.report(path{"settings", "executionBurst"}, ruleNeverRun, "settings.executionBurst is %v, so the engine never runs the hook", *s.ExecutionBurst)
	}
}

func (v *validator) checkRules(a Admission, p path) {
	if len(a.Rules) == 0 {
		v.report(p, ruleNoRules, "%s has no rules, so it is never called", p)
	}
}

func isFalse(b *bool) bool { return b != nil && !*b }
