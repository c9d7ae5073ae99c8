package bundlecheck

import (
	"slices"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// webhookRules validates webhooks as OLM does before it installs them.
func (x *input) webhookRules() {
	for i, w := range x.bundle.CSV.Spec.WebhookDefinitions {
		at := x.csv.at("spec", "webhookdefinitions", i)
		if w.Type == v1alpha1.ConversionWebhook {
			x.presetConversions(w)
			continue
		}
		if problems := validation.IsValidLabelValue(w.GenerateName); len(problems) > 0 { // OLM puts it into a label
			x.report(ruleWebhook, at.child("generateName"), "%q is not a valid label value: %s", w.GenerateName, problems[0])
		}
		x.intercepts(ruleWebhookRule, v1alpha1.GroupName, []string{"*", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}, at, w)
	}
}

// intercepts reports rules with which a webhook could block its own removal: those for all groups, for the group of OLM,
// and for configurations of webhooks. An installer compares the names of these resources as they are.
func (x *input) intercepts(r Rule, olm string, configurations []string, at place, w v1alpha1.WebhookDescription) {
	for i, rule := range w.Rules {
		for j, group := range rule.APIGroups {
			if group == "*" || group == olm {
				x.report(r, at.child("rules", i, "apiGroups", j), "the webhook %s must not intercept the group %q", w.GenerateName, group)
			}
			for k, resource := range rule.Resources {
				if group == "admissionregistration.k8s.io" && slices.Contains(configurations, resource) {
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
