package bundlecheck

import (
	"slices"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// webhookRules validates webhooks as OLM does before it installs them.
func (x *input) webhookRules() {
	names := map[string]bool{}
	for i, w := range x.bundle.CSV.Spec.WebhookDefinitions {
		at := x.csv.at("spec", "webhookdefinitions", i)
		if names[w.GenerateName] {
			x.report(ruleWebhook, at.child("generateName"), "there is another webhook %s", w.GenerateName)
		}
		names[w.GenerateName] = true
		x.intercepts(ruleWebhookRule, v1alpha1.GroupName, func(resource string) string { return resource }, at, w)
		if w.Type == v1alpha1.ConversionWebhook {
			x.conversionRules(at, w)
		} else if problems := validation.IsValidLabelValue(w.GenerateName); len(problems) > 0 { // OLM puts it into a label
			x.report(ruleWebhook, at.child("generateName"), "%q is not a valid label value: %s", w.GenerateName, problems[0])
		}
	}
}

// intercepts reports rules with which a webhook could block its own removal: those for all groups, for the group of OLM,
// and for configurations of webhooks. normalize returns a name as the installer compares it.
func (x *input) intercepts(r Rule, olm string, normalize func(string) string, at place, w v1alpha1.WebhookDescription) {
	configurations := []string{"*", normalize("MutatingWebhookConfiguration"), normalize("ValidatingWebhookConfiguration")}
	for i, rule := range w.Rules {
		for j, group := range rule.APIGroups {
			if group == "*" || group == olm {
				x.report(r, at.child("rules", i, "apiGroups", j), "the webhook %s must not intercept the group %q", w.GenerateName, group)
			}
			for k, resource := range rule.Resources {
				if group == "admissionregistration.k8s.io" && slices.Contains(configurations, normalize(resource)) {
					x.report(r, at.child("rules", i, "resources", k), "the webhook %s must not intercept %s of %s", w.GenerateName, resource, group)
				}
			}
		}
	}
}

// conversionRules validates a webhook for CRDs, whose conversion OLM sets.
func (x *input) conversionRules(at place, w v1alpha1.WebhookDescription) {
	for _, mode := range x.bundle.CSV.Spec.InstallModes {
		if mode.Supported != (mode.Type == v1alpha1.InstallModeTypeAllNamespaces) {
			x.report(ruleInstallModes, x.csv.at("spec", "installModes"), "OLM converts objects only for operators that support AllNamespaces and no other mode")
			break
		}
	}
	if len(w.ConversionCRDs) == 0 {
		x.report(ruleConversionWebhook, at, "the webhook %s converts no CRDs", w.GenerateName)
	}
	for i, name := range w.ConversionCRDs {
		owns := func(crd v1alpha1.CRDDescription) bool { return crd.Name == name }
		if !slices.ContainsFunc(x.bundle.CSV.Spec.CustomResourceDefinitions.Owned, owns) {
			x.report(ruleConversionWebhook, at.child("conversionCRDs", i), "the bundle does not own the CRD %s", name)
		}
	}
	for _, crd := range x.bundle.V1CRDs {
		if !slices.Contains(w.ConversionCRDs, crd.Name) {
			continue
		}
		if crd.Spec.PreserveUnknownFields {
			x.report(ruleConversionWebhook, x.crds[crd].at("spec", "preserveUnknownFields"), "a CRD with a conversion webhook must not preserve unknown fields")
		}
		if crd.Spec.Conversion != nil && crd.Spec.Conversion.Webhook != nil { // OLM replaces it
			x.report(ruleConversion, x.crds[crd].at("spec", "conversion"), "OLM applies the CRD before it sets its conversion, which until then calls a Service that OLM does not make")
		}
	}
}
