package bundlecheck

import (
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// webhookRules validates webhooks as OLM does before it installs them.
func (x *input) webhookRules() {
	for i, w := range x.bundle.CSV.Spec.WebhookDefinitions {
		at := x.csv.at("spec", "webhookdefinitions", i)
		if len(validation.IsValidLabelValue(w.GenerateName)) > 0 {
			x.report(ruleWebhook, at.child("generateName"), "OLM cannot use the name %q as a label, of up to 63 characters", w.GenerateName)
		}
		if w.Type == v1alpha1.ConversionWebhook {
			x.presetConversions(w)
			continue
		}
		x.intercepts(ruleWebhookRule, v1alpha1.GroupName, at, w)
	}
}

// intercepts reports rules with which a webhook could block its own removal. The group is that of OLM.
func (x *input) intercepts(r Rule, olm string, at place, w v1alpha1.WebhookDescription) {
	configurations := []string{
		"*", "mutatingwebhookconfiguration", "mutatingwebhookconfigurations",
		"validatingwebhookconfiguration", "validatingwebhookconfigurations",
	}
	for i, rule := range w.Rules {
		for j, group := range rule.APIGroups {
			if group == "*" || group == olm {
				x.report(r, at.child("rules", i, "apiGroups", j), "the webhook %s must not intercept the group %q", w.GenerateName, group)
			}
			for k, resource := range rule.Resources {
				if group == "admissionregistration.k8s.io" && slices.Contains(configurations, strings.ToLower(resource)) {
					x.report(r, at.child("rules", i, "resources", k), "the webhook %s must not intercept %s of %s", w.GenerateName, resource, group)
				}
			}
		}
	}
}

// presetConversions reports CRDs with a conversion that OLM replaces after it has applied them.
func (x *input) presetConversions(w v1alpha1.WebhookDescription) {
	for _, crd := range x.bundle.V1CRDs {
		if slices.Contains(w.ConversionCRDs, crd.Name) && crd.Spec.Conversion != nil && crd.Spec.Conversion.Webhook != nil {
			x.report(ruleConversion, x.crds[crd].at("spec", "conversion"), "OLM applies the CRD before it sets its conversion, which until then calls a Service that OLM does not make")
		}
	}
}
