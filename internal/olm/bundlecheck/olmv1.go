package bundlecheck

import (
	"path"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"k8s.io/apimachinery/pkg/util/validation"
)

// olmv1Rules validates what operator-controller, the installer of OLM v1, asks for.
func (x *input) olmv1Rules() {
	x.v1Modes()
	x.v1Dependencies()
	x.v1Deployments()
	x.v1Webhooks()
	x.v1Conversions()
	spec := x.bundle.CSV.Spec
	for i, api := range spec.APIServiceDefinitions.Owned {
		x.report(ruleV1APIService, x.csv.at("spec", "apiservicedefinitions", "owned", i), "OLM v1 does not install the API service %s", api.Name)
	}
	for _, crd := range x.bundle.V1beta1CRDs {
		x.report(ruleV1CRDVersion, x.crds[crd].at("apiVersion"), "Kubernetes does not serve CRDs of version v1beta1")
	}
	if x.annotations != nil && path.Base(x.annotations.file) != path.Base(bundle.AnnotationsFile) {
		x.report(ruleV1Package, x.annotations.at(), "OLM v1 reads only %s", bundle.AnnotationsFile)
	} else if x.annotations != nil && x.bundle.Package == "" {
		x.report(ruleV1Package, x.annotations.at("annotations", bundle.PackageKey), "the package has no name")
	}
}

func (x *input) v1Modes() {
	supported := map[v1alpha1.InstallModeType]bool{}
	for _, mode := range x.bundle.CSV.Spec.InstallModes {
		supported[mode.Type] = mode.Supported
	}
	at := x.csv.at("spec", "installModes")
	switch {
	case supported[v1alpha1.InstallModeTypeAllNamespaces]:
	case supported[v1alpha1.InstallModeTypeSingleNamespace] || supported[v1alpha1.InstallModeTypeOwnNamespace]:
		x.report(ruleV1WatchNamespace, at, "OLM v1 installs the operator only with a namespace to watch")
	default:
		x.report(ruleV1Modes, at, "the operator supports none of AllNamespaces, SingleNamespace and OwnNamespace")
	}
}

// v1Dependencies reports what becomes the properties olm.gvk.required, olm.package.required and
// olm.constraint in catalogs.
func (x *input) v1Dependencies() {
	for _, d := range x.dependencies {
		if slices.Contains([]string{"olm.gvk", "olm.package", "olm.constraint"}, d.Type) {
			x.report(ruleV1Dependency, d.at, "OLM v1 does not install bundles with dependencies, such as %s", d.Type)
		}
	}
	for _, p := range x.properties {
		if slices.Contains([]string{"olm.gvk.required", "olm.package.required", "olm.constraint"}, p.Type) {
			x.report(ruleV1Dependency, p.at, "OLM v1 does not install bundles with the property %s", p.Type)
		}
	}
	for i, crd := range x.bundle.CSV.Spec.CustomResourceDefinitions.Required {
		x.report(ruleV1Dependency, x.csv.at("spec", "customresourcedefinitions", "required", i), "OLM v1 does not install bundles that require CRDs, such as %s", crd.Name)
	}
	for i, api := range x.bundle.CSV.Spec.APIServiceDefinitions.Required {
		x.report(ruleV1Dependency, x.csv.at("spec", "apiservicedefinitions", "required", i), "OLM v1 does not install bundles that require API services, such as %s of %s", api.Kind, api.Group)
	}
}

func (x *input) v1Deployments() {
	names := map[string]bool{}
	strategy := x.bundle.CSV.Spec.InstallStrategy.StrategySpec
	for i, d := range strategy.DeploymentSpecs {
		at := x.csv.at("spec", "install", "spec", "deployments", i)
		if problems := validation.IsDNS1123Subdomain(d.Name); len(problems) > 0 {
			x.report(ruleV1Deployment, at.child("name"), "%q is not a DNS subdomain", d.Name)
		}
		if names[d.Name] {
			x.report(ruleV1Deployment, at.child("name"), "there is another Deployment %s", d.Name)
		}
		names[d.Name] = true
		for j, c := range d.Spec.Template.Spec.Containers {
			for k, env := range c.Env {
				if env.Name == "OPERATOR_CONDITION_NAME" {
					x.report(ruleV1Conditions, at.child("spec", "template", "spec", "containers", j, "env", k), "OLM v1 creates no OperatorConditions")
				}
			}
		}
	}
	for list, permissions := range map[string][]v1alpha1.StrategyDeploymentPermissions{
		"permissions": strategy.Permissions, "clusterPermissions": strategy.ClusterPermissions,
	} {
		for i, p := range permissions {
			for j, rule := range p.Rules {
				if slices.ContainsFunc(rule.Resources, func(r string) bool { return strings.HasPrefix(r, "operatorconditions") }) {
					x.report(ruleV1Conditions, x.csv.at("spec", "install", "spec", list, i, "rules", j), "OLM v1 creates no OperatorConditions")
				}
			}
		}
	}
}

func (x *input) v1Webhooks() {
	deployments := map[string]bool{}
	for _, d := range x.bundle.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		deployments[d.Name] = true
	}
	for i, w := range x.bundle.CSV.Spec.WebhookDefinitions {
		at := x.csv.at("spec", "webhookdefinitions", i)
		if problems := validation.IsDNS1123Subdomain(w.GenerateName); len(problems) > 0 {
			x.report(ruleV1Webhook, at.child("generateName"), "%q is not a DNS subdomain", w.GenerateName)
		}
		if !deployments[w.DeploymentName] {
			x.report(ruleV1Webhook, at.child("deploymentName"), "the ClusterServiceVersion has no Deployment %q", w.DeploymentName)
		}
		if w.Type != v1alpha1.ConversionWebhook {
			x.intercepts(ruleV1WebhookRule, "olm.operatorframework.io", lowerSingular, at, w)
		}
	}
}

// lowerSingular is the form in which OLM v1 compares the names of resources.
func lowerSingular(resource string) string { return strings.TrimSuffix(strings.ToLower(resource), "s") }

func (x *input) v1Conversions() {
	converted := map[string]bool{}
	for i, w := range x.bundle.CSV.Spec.WebhookDefinitions {
		if w.Type != v1alpha1.ConversionWebhook {
			continue
		}
		for j, name := range w.ConversionCRDs {
			if converted[name] {
				x.report(ruleV1Conversion, x.csv.at("spec", "webhookdefinitions", i, "conversionCRDs", j), "another webhook converts %s, too", name)
			}
			converted[name] = true
		}
	}
}
