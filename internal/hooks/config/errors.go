package config

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// refusals reports what the engine rejects in a configuration with a valid structure.
func (j *validator) refusals(c *Config) {
	if s := c.Settings; s != nil {
		j.settings(s)
	}
	for i, k := range c.Kubernetes {
		j.kubernetes(c, k, path{"kubernetes", i})
	}
	for i, s := range c.Schedule {
		p := path{"schedule", i}
		if s.Crontab == "" {
			j.refuse(p.in("crontab"), ruleCrontab, "%s is empty", p.in("crontab"))
		}
		j.snapshots(c, s.IncludeSnapshotsFrom, p)
	}
	names := map[string]bool{}
	for i, a := range c.Validating {
		p := path{"kubernetesValidating", i}
		j.admission(c, a, p)
		j.webhook(a, p)
		if names[a.Name] {
			j.refuse(p.in("name"), ruleWebhook, "%s: there is another webhook %q", p.in("name"), a.Name)
		}
		names[a.Name] = true
	}
	for i, a := range c.Mutating {
		j.admission(c, a, path{"kubernetesMutating", i})
	}
	for i, v := range c.Conversion {
		j.snapshots(c, v.IncludeSnapshotsFrom, path{"kubernetesCustomResourceConversion", i})
	}
}

// expressions reports syntax errors in expressions.
func (j *validator) expressions(c *Config) {
	for i, k := range c.Kubernetes {
		if err := compileJQ(k.JQFilter); err != nil {
			p := path{"kubernetes", i, "jqFilter"}
			j.refuse(p, ruleJQ, "%s: %v", p, err)
		}
	}
	for i, s := range c.Schedule {
		if err := parseCrontab(s.Crontab); s.Crontab != "" && err != "" {
			p := path{"schedule", i, "crontab"}
			j.refuse(p, ruleCrontab, "%s: %s", p, err)
		}
	}
}

// settings reports if only one of the two settings is set.
func (j *validator) settings(s *Settings) {
	p := path{"settings"}
	if _, err := time.ParseDuration(s.ExecutionMinInterval); err != nil {
		if s.ExecutionMinInterval == "" {
			j.refuse(p, ruleSettings, "settings lacks executionMinInterval, a duration such as 3s")
		} else {
			j.refuse(p.in("executionMinInterval"), ruleSettings, "settings.executionMinInterval is %q, and no duration such as 3s", s.ExecutionMinInterval)
		}
	}
	switch burst := s.ExecutionBurst; {
	case burst == nil:
		j.refuse(p, ruleSettings, "settings lacks executionBurst, which counts runs")
	case *burst > math.MaxInt32 || *burst < math.MinInt32:
		j.refuse(p.in("executionBurst"), ruleSettings, "settings.executionBurst is too large")
	}
}

func (j *validator) kubernetes(c *Config, k Kubernetes, p path) {
	if _, err := schema.ParseGroupVersion(k.APIVersion); err != nil {
		j.refuse(p.in("apiVersion"), ruleKind, "%s is %q, and must be a version, or group/version", p.in("apiVersion"), k.APIVersion)
	}
	j.selector(k.LabelSelector, p.in("labelSelector"))
	if k.NameSelector != nil && len(k.NameSelector.MatchNames) > 0 && k.FieldSelector != nil {
		for i, e := range k.FieldSelector.MatchExpressions {
			if e.Field == "metadata.name" {
				j.refuse(p.in("fieldSelector").in("matchExpressions").in(i), ruleSelector,
					"%s selects by name in both nameSelector and fieldSelector", p)
			}
		}
	}
	j.snapshots(c, k.IncludeSnapshotsFrom, p)
}

// snapshots reports names in includeSnapshotsFrom that do not identify exactly one
// binding.
func (j *validator) snapshots(c *Config, names []string, p path) {
	for i, name := range names {
		var known []string
		for _, k := range c.Kubernetes {
			known = append(known, k.BindingName())
		}
		at := p.in("includeSnapshotsFrom").in(i)
		switch same := slices.DeleteFunc(slices.Clone(known), func(n string) bool { return n != name }); len(same) {
		case 0:
			j.refuse(at, ruleSnapshots, "%s: no kubernetes binding is named %q%s", p, name, suggestion(name, known))
		case 1:
		default:
			j.refuse(at, ruleSnapshots, "%s: %d kubernetes bindings are named %q", p, len(same), name)
		}
	}
}

// selector reports an invalid label selector.
func (j *validator) selector(s *metav1.LabelSelector, p path) {
	if s == nil {
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		j.refuse(p, ruleSelector, "%s: %v", p, err)
	}
}

func (j *validator) admission(c *Config, a Admission, p path) {
	j.snapshots(c, a.IncludeSnapshotsFrom, p)
	j.selector(a.LabelSelector, p.in("labelSelector"))
	if a.Namespace != nil {
		j.selector(a.Namespace.LabelSelector, p.in("namespace").in("labelSelector"))
	}
}

// webhook reports what the API server rejects in a webhook. The engine checks this for
// validating webhooks only.
func (j *validator) webhook(a Admission, p path) {
	for _, e := range validation.IsFullyQualifiedName(field.NewPath("name"), a.Name) {
		j.refuse(p.in("name"), ruleWebhook, "%s is %q: %s", p.in("name"), a.Name, e.Detail)
	}
	if t := a.TimeoutSeconds; t != nil && (*t < 1 || *t > 30) {
		j.refuse(p.in("timeoutSeconds"), ruleWebhook, "%s must be from 1 to 30", p.in("timeoutSeconds"))
	}
	for i, r := range a.Rules {
		j.requests(r, p.in("rules").in(i))
	}
	j.labels(a.LabelSelector, p.in("labelSelector"))
	if a.Namespace != nil {
		j.labels(a.Namespace.LabelSelector, p.in("namespace"))
	}
}

// labels reports what the API server rejects in a webhook's label selector.
func (j *validator) labels(s *metav1.LabelSelector, p path) {
	if s == nil {
		return
	}
	for _, e := range metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, nil) {
		j.refuse(p, ruleSelector, "%s: %s", p, e.ErrorBody())
	}
}

func (j *validator) requests(r Requests, p path) {
	for _, list := range []struct {
		name   string
		values []string
		alone  bool // * must be the only item
		full   bool // items must not be empty
	}{{"apiGroups", r.APIGroups, true, false}, {"apiVersions", r.APIVersions, true, true}, {"operations", r.Operations, true, false}, {"resources", r.Resources, false, true}} {
		at := p.in(list.name)
		if list.alone && len(list.values) > 1 && slices.Contains(list.values, "*") {
			j.refuse(at, ruleWebhook, "%s: * stands alone", at)
		}
		if i := slices.Index(list.values, ""); list.full && i >= 0 {
			j.refuse(at.in(i), ruleWebhook, "%s is empty", at.in(i))
		}
	}
	j.resources(r.Resources, p.in("resources"))
}

// resources reports a wildcard together with resources that it already covers.
func (j *validator) resources(all []string, p path) {
	anySub, anyOf := map[string]bool{}, map[string]bool{} // x in x/*, y in */y
	plain := false
	for i, name := range all {
		resource, sub, isSub := strings.Cut(name, "/")
		if !isSub {
			if name != "" {
				plain = name != "*" // like the engine, the last one decides
			}
			continue
		}
		if anySub[resource] || anyOf[sub] {
			j.refuse(p.in(i), ruleWebhook, "%s: %s is among what a wildcard before it names", p.in(i), name)
		}
		anySub[resource] = anySub[resource] || sub == "*"
		anyOf[sub] = anyOf[sub] || resource == "*"
	}
	if len(all) > 1 && slices.Contains(all, "*/*") {
		j.refuse(p, ruleWebhook, "%s: */* stands alone", p)
	}
	if plain && slices.Contains(all, "*") {
		j.refuse(p, ruleWebhook, "%s: * leaves no resources to be named beside it", p)
	}
}

var crontab = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// parseCrontab returns the problem of a crontab, or "". The engine has an older version
// of the same library, which supports only one notation for time zones.
func parseCrontab(spec string) string {
	if strings.HasPrefix(spec, "CRON_TZ=") {
		return "the engine reads a time zone from TZ=, not from CRON_TZ="
	}
	if zone := strings.HasPrefix(spec, "TZ="); zone && !strings.Contains(spec, " ") {
		return "nothing comes after the time zone"
	}
	if _, err := crontab.Parse(spec); err != nil {
		return err.Error()
	}
	return ""
}
