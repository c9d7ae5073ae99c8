package bundlecheck

import (
	"slices"

	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
)

// Suite is a set of rules that users select.
type Suite struct {
	Name       string
	Group      string // selects several suites; may be empty
	Summary    string
	Deprecated bool

	validator interfaces.Validator // nil for OLM v1
}

// framework is the group of suites that operator-sdk calls a suite.
const framework = "operatorframework"

// Suites are all suites. Their names are operator-sdk's.
var Suites = []Suite{
	{Name: "operatorhubv2", Group: framework, Summary: "What OperatorHub.io asks for: provider, maintainers, links, version, icon", validator: validation.OperatorHubV2Validator},
	{Name: "capabilities", Group: framework, Summary: "The capability level", validator: validation.StandardCapabilitiesValidator},
	{Name: "categories", Group: framework, Summary: "The categories in catalogs", validator: validation.StandardCategoriesValidator},
	{Name: "operatorhub", Summary: "operatorhubv2, capabilities and categories", Deprecated: true, validator: validation.OperatorHubValidator}, //nolint:staticcheck // operator-sdk has it
	{Name: "community", Summary: "The versions of OpenShift for APIs that Kubernetes 1.22 removed; --optional-values index-path=FILE", Deprecated: true, validator: validation.CommunityOperatorValidator},
	{Name: "alpha-deprecated-apis", Group: framework, Summary: "APIs that Kubernetes removed; --optional-values k8s-version=VERSION", validator: validation.AlphaDeprecatedAPIsValidator},
	{Name: "good-practices", Group: framework, Summary: "Resource requests, names of channels, descriptions, permissions", validator: validation.GoodPracticesValidator},
	{Name: "multiarch", Summary: "The platforms of images, which docker or podman pulls; --optional-values container-tools=podman", validator: validation.MultipleArchitecturesValidator},
	{Name: "olmv1", Summary: "What OLM v1 refuses, or handles differently"},
}

// SuitesOf returns the names of the suites that a name of a suite or group stands for.
func SuitesOf(name string) []string {
	var names []string
	for _, s := range Suites {
		if s.Name == name || s.Group == name {
			names = append(names, s.Name)
		}
	}
	return names
}

// SuiteNames returns the names of all suites and groups.
func SuiteNames() []string {
	names := []string{framework}
	for _, s := range Suites {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

func (s Suite) check(x *input, values map[string]string) {
	if s.validator == nil {
		x.olmv1Rules()
		return
	}
	x.run(s.rule(), s.validator, x.csv, x.bundle, values)
}

// rule is the rule for what the validator reports.
func (s Suite) rule() Rule { return errorRule(s.Name, s.Summary, "") }
