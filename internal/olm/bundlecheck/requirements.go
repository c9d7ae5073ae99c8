package bundlecheck

import (
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// requirementRules validates what OLM asks for before it installs the operator. Until then, it waits.
func (x *input) requirementRules() {
	spec := x.bundle.CSV.Spec
	name := x.bundle.Name // OLM puts it into labels
	if problems := slices.Concat(validation.IsDNS1123Subdomain(name), validation.IsValidLabelValue(name)); len(problems) > 0 {
		x.report(ruleCSVSchema, x.csv.at("metadata", "name"), "the name %q is not valid: %s", shortened(name), problems[0])
	}
	if _, err := v1alpha1.NewInstallModeSet(spec.InstallModes); err != nil {
		x.report(ruleInstallModes, x.csv.at("spec", "installModes"), "an install mode occurs twice, so OLM cannot read them")
	}
	served := map[string]bool{}
	kind := func(crd, version, kind string) string { return strings.Join([]string{crd, version, kind}, "/") }
	for _, crd := range x.bundle.V1CRDs {
		for _, v := range crd.Spec.Versions {
			served[kind(crd.Name, v.Name, crd.Spec.Names.Kind)] = v.Served
		}
	}
	for _, crd := range x.bundle.V1beta1CRDs {
		for _, v := range crd.Spec.Versions {
			served[kind(crd.Name, v.Name, crd.Spec.Names.Kind)] = v.Served
		}
		if len(crd.Spec.Versions) == 0 {
			served[kind(crd.Name, crd.Spec.Version, crd.Spec.Names.Kind)] = true
		}
	}
	for i, owned := range spec.CustomResourceDefinitions.Owned {
		if !served[kind(owned.Name, owned.Version, owned.Kind)] {
			x.report(ruleOwnedCRD, x.csv.at("spec", "customresourcedefinitions", "owned", i),
				"no CRD %s in the bundle serves the version %s of %s", owned.Name, owned.Version, owned.Kind)
		}
	}
}
