package config

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkErrors reports the parts of a configuration that the engine rejects although the
// structure is valid.
func (v *validator) checkErrors(c *Config) {
	if s := c.Settings; s != nil {
		v.checkSettings(s)
	}
	for i, k := range c.Kubernetes {
		v.checkKubernetes(c, k, path{"kubernetes", i})
	}
	for i, s := range c.Schedule {
		p := path{"schedule", i}
		if s.Crontab == "" {
			v.report(p.in("crontab"), ruleCrontab, "%s is empty", p.in("crontab"))
		}
		v.checkSnapshots(c, s.IncludeSnapshotsFrom, p)
	}
	names := map[string]bool{}
	for i, a := range c.Validating {
		p := path{"kubernetesValidating", i}
		v.checkAdmission(c, a, p)
		v.checkWebhook(a, p)
		if names[a.Name] {
			v.report(p.in("name"), ruleWebhook, "%s: another webhook is named %q", p.in("name"), a.Name)
		}
		names[a.Name] = true
	}
	for i, a := range c.Mutating {
		v.checkAdmission(c, a, path{"kubernetesMutating", i})
	}
	for i, conversion := range c.Conversion {
		v.checkSnapshots(c, conversion.IncludeSnapshotsFrom, path{"kubernetesCustomResourceConversion", i})
	}
}

// checkExpressions reports syntax errors in filters and crontabs.
func (v *validator) checkExpressions(c *Config) {
	for i, k := range c.Kubernetes {
		if err := CheckJQ(k.JQFilter); err != nil {
			p := path{"kubernetes", i, "jqFilter"}
			v.report(p, ruleJQ, "%s: %v", p, err)
		}
	}
	for i, s := range c.Schedule {
		if err := checkCrontab(s.Crontab); s.Crontab != "" && err != nil {
			p := path{"schedule", i, "crontab"}
			v.report(p, ruleCrontab, "%s: %v", p, err)
		}
	}
}

// checkSettings reports invalid settings. If one of the two is set, both are required.
func (v *validator) checkSettings(s *Settings) {
	p := path{"settings"}
	if _, err := time.ParseDuration(s.ExecutionMinInterval); err != nil {
		if s.ExecutionMinInterval == "" {
			v.report(p, ruleSettings, "settings lacks executionMinInterval, a duration such as 3s")
		} else {
			v.report(p.in("executionMinInterval"), ruleSettings, "settings.executionMinInterval is %q, but must be a duration such as 3s", s.ExecutionMinInterval)
		}
	}
	burst := s.ExecutionBurst
	switch {
	case burst == nil:
		v.report(p, ruleSettings, "settings lacks executionBurst, a number of runs")
	case *burst > math.MaxInt32 || *burst < math.MinInt32:
		v.report(p.in("executionBurst"), ruleSettings, "settings.executionBurst is too large")
	}
}

func (v *validator) checkKubernetes(c *Config, k Kubernetes, p path) {
	if _, err := schema.ParseGroupVersion(k.APIVersion); err != nil {
		v.report(p.in("apiVersion"), ruleKind, "%s is %q, but must be a version or group/version", p.in("apiVersion"), k.APIVersion)
	}
	v.checkSelector(k.LabelSelector, p.in("labelSelector"))
	if k.NameSelector != nil && len(k.NameSelector.MatchNames) > 0 && k.FieldSelector != nil {
		for i, e := range k.FieldSelector.MatchExpressions {
			if e.Field == "metadata.name" {
				v.report(p.in("fieldSelector").in("matchExpressions").in(i), ruleSelector,
					"%s selects by name in both nameSelector and fieldSelector", p)
			}
		}
	}
	v.checkSnapshots(c, k.IncludeSnapshotsFrom, p)
}

// checkSnapshots reports names in includeSnapshotsFrom that do not identify exactly one
// binding.
func (v *validator) checkSnapshots(c *Config, names []string, p path) {
	for i, name := range names {
		var known []string
		for _, k := range c.Kubernetes {
			known = append(known, k.BindingName())
		}
		at := p.in("includeSnapshotsFrom").in(i)
		switch same := slices.DeleteFunc(slices.Clone(known), func(n string) bool { return n != name }); len(same) {
		case 0:
			v.report(at, ruleSnapshots, "%s: no kubernetes binding is named %q%s", p, name, fault.DidYouMean(name, known))
		case 1:
		default:
			v.report(at, ruleSnapshots, "%s: %d kubernetes bindings are named %q", p, len(same), name)
		}
	}
}

// checkSelector reports an invalid label selector.
func (v *validator) checkSelector(s *metav1.LabelSelector, p path) {
	if s == nil {
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		v.report(p, ruleSelector, "%s: %v", p, err)
	}
}

func (v *validator) checkAdmission(c *Config, a Admission, p path) {
	v.checkSnapshots(c, a.IncludeSnapshotsFrom, p)
	v.checkSelector(a.LabelSelector, p.in("labelSelector"))
	if a.Namespace != nil {
		v.checkSelector(a.Namespace.LabelSelector, p.in("namespace").in("labelSelector"))
	}
}

// checkWebhook reports the parts of a webhook that the API server rejects. The engine checks
// them for validating webhooks only.
func (v *validator) checkWebhook(a Admission, p path) {
	for _, e := range validation.IsFullyQualifiedName(field.NewPath("name"), a.Name) {
		v.report(p.in("name"), ruleWebhook, "%s is %q: %s", p.in("name"), a.Name, e.Detail)
	}
	if t := a.TimeoutSeconds; t != nil && (*t < 1 || *t > 30) {
		v.report(p.in("timeoutSeconds"), ruleWebhook, "%s must be from 1 to 30", p.in("timeoutSeconds"))
	}
	for i, r := range a.Rules {
		v.checkRequests(r, p.in("rules").in(i))
	}
	v.checkLabels(a.LabelSelector, p.in("labelSelector"))
	if a.Namespace != nil {
		v.checkLabels(a.Namespace.LabelSelector, p.in("namespace"))
	}
}

// checkLabels reports the parts of a webhook's label selector that the API server rejects.
func (v *validator) checkLabels(s *metav1.LabelSelector, p path) {
	if s == nil {
		return
	}
	for _, e := range metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, nil) {
		v.report(p, ruleSelector, "%s: %s", p, e.ErrorBody())
	}
}

func (v *validator) checkRequests(r Requests, p path) {
	for _, list := range []struct {
		name         string
		values       []string
		onlyWildcard bool // * must be the only item
		nonEmpty     bool // items must not be empty
	}{
		{"apiGroups", r.APIGroups, true, false}, {"apiVersions", r.APIVersions, true, true},
		{"operations", r.Operations, true, false}, {"resources", r.Resources, false, true},
	} {
		at := p.in(list.name)
		if list.onlyWildcard && len(list.values) > 1 && slices.Contains(list.values, "*") {
			v.report(at, ruleWebhook, "%s: * must be the only item", at)
		}
		if i := slices.Index(list.values, ""); list.nonEmpty && i >= 0 {
			v.report(at.in(i), ruleWebhook, "%s is empty", at.in(i))
		}
	}
	v.checkResources(r.Resources, p.in("resources"))
}

// checkResources reports resources that a wildcard before them already matches.
func (v *validator) checkResources(all []string, p path) {
	anySubresource, anyResource := map[string]bool{}, map[string]bool{} // x in x/*, y in */y
	plain := false
	for i, name := range all {
		resource, subresource, isSubresource := strings.Cut(name, "/")
		if !isSubresource {
			if name != "" {
				plain = name != "*" // as in the engine, only the last one counts
			}
			continue
		}
		if anySubresource[resource] || anyResource[subresource] {
			v.report(p.in(i), ruleWebhook, "%s: a wildcard before %s already matches it", p.in(i), name)
		}
		anySubresource[resource] = anySubresource[resource] || subresource == "*"
		anyResource[subresource] = anyResource[subresource] || resource == "*"
	}
	if len(all) > 1 && slices.Contains(all, "*/*") {
		v.report(p, ruleWebhook, "%s: */* must be the only item", p)
	}
	if plain && slices.Contains(all, "*") {
		v.report(p, ruleWebhook, "%s: * already matches all other resources", p)
	}
}

var crontab = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// checkCrontab returns an error for an invalid crontab. The engine has an older version of
// the same library, which supports only one notation for time zones.
func checkCrontab(spec string) error {
	if strings.HasPrefix(spec, "CRON_TZ=") {
		return errors.New("the engine supports the prefix TZ= for time zones, but not CRON_TZ=")
	}
	if strings.HasPrefix(spec, "TZ=") && !strings.Contains(spec, " ") {
		return errors.New("the fields after the time zone are missing")
	}
	_, err := crontab.Parse(spec)
	return err
}
