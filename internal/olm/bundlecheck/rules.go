package bundlecheck

import "github.com/operon-dev/operon/internal/finding"

// Rule is a rule of bundles with what to do about its findings.
type Rule struct {
	finding.Rule
	Fix string
}

func errorRule(name, summary, fix string) Rule {
	return Rule{finding.Rule{Name: name, Severity: finding.Error, Summary: summary}, fix}
}

func warningRule(name, summary, fix string) Rule {
	return Rule{finding.Rule{Name: name, Severity: finding.Warning, Summary: summary}, fix}
}

// The format of bundles.
var (
	ruleFolders           = errorRule("bundle-folders", "The bundle has the folders manifests and metadata", "run operon bundle generate")
	ruleManifestsEntry    = errorRule("manifests-entry", "The folder manifests has no folders and no hidden files", "move or remove the file")
	ruleManifestSyntax    = errorRule("manifest-syntax", "Each file in manifests is an object in YAML or JSON", "correct the file, or remove it")
	ruleManifestDocuments = warningRule("manifest-documents", "Each file in manifests has one document",
		"move the object to a file of its own")
	ruleManifestField   = errorRule("manifest-field", "Fields of the ClusterServiceVersion and of CRDs have values of the expected type", "correct the value")
	ruleMetadataSyntax  = errorRule("metadata-syntax", "The annotations, the dependencies and the properties are in YAML or JSON", "correct the file")
	ruleStrictYAML      = errorRule("strict-yaml", "Strict parsers can read the manifests and the metadata: no key occurs twice", "remove the key that is not meant, or correct the YAML")
	ruleAnnotationsFile = errorRule("annotations-file", "The folder metadata has a file with annotations", "run operon bundle generate")
	ruleAnnotation      = errorRule("bundle-annotation", "The annotations name the format, the folders, the package and the channels", "run operon bundle generate")
	rulePackage         = errorRule("package-name", "The name of the package is a DNS label, as in catalogs", "use lowercase letters, digits and hyphens")
	ruleDependencyType  = errorRule("dependency-type", "OLM knows the types of dependencies", "correct metadata/dependencies.yaml")
	ruleDependency      = errorRule("dependency", "Dependencies have a value of the expected form", "correct metadata/dependencies.yaml")
	ruleProperty        = errorRule("property", "Properties have a type, and a value of the expected form", "correct metadata/properties.yaml or the annotation olm.properties")
	ruleNumber          = warningRule("number", "A version in an annotation or a property is in quotes: the number 4.20 is 4.2", "put the value into quotes")
	ruleIcon            = warningRule("icon-data", "The data of the icon is base64; catalogs leave out another one", "encode the file of the icon with base64")
	ruleUnknownField    = warningRule("unknown-field", "The ClusterServiceVersion has no fields that its CRD lacks", "correct the name of the field, or remove it: API servers drop it")
	RuleObjectKind      = errorRule("object-kind", "OLM installs objects of the kind from bundles", "let the operator create the object, or remove it")
	RuleObjectMetadata  = errorRule("object-metadata", "The metadata of objects is valid, and has no namespace", "correct the metadata")
	RuleScorecardConfig = errorRule("scorecard-config", "operon scorecard can read the configuration of the tests", "correct the configuration, or run operon bundle generate")
	ruleCSVCount        = errorRule("csv-count", "The bundle has one ClusterServiceVersion", "run operon bundle generate, and remove other ones")
)

// What OLM refuses.
var (
	ruleObjectSize        = errorRule("object-size", "Objects have at most 1.5 MiB, which etcd takes; ConfigMaps and Secrets at most 1 MiB", "shorten it, as with crd:maxDescLen=0 for a CRD")
	ruleCSVSchema         = errorRule("csv-schema", "The ClusterServiceVersion is valid for the CRD of OLM, which the API server checks", "correct the value")
	ruleOwnedCRD          = errorRule("owned-crd", "CRDs of the bundle serve the kinds that the ClusterServiceVersion owns", "add the CRD, or correct spec.customresourcedefinitions.owned")
	ruleInstallModes      = errorRule("install-modes", "No install mode occurs twice, and only AllNamespaces is supported if OLM converts objects", "correct spec.installModes")
	ruleWebhook           = errorRule("webhook", "The generateName of a webhook is unique, and a valid label value, which OLM needs", "use at most 63 letters, digits, hyphens, dots and underscores")
	ruleConversionWebhook = errorRule("conversion-webhook", "Conversion webhooks convert CRDs that the bundle owns, and that preserve no unknown fields", "correct conversionCRDs or the CRD")
	ruleWebhookRule       = errorRule("webhook-rule", "Webhooks do not intercept all groups, OLM, or webhook configurations", "list the groups and resources of the operator")
	ruleConversion        = warningRule("conversion", "A CRD that OLM converts has no spec.conversion of its own", "remove spec.conversion, or run operon bundle generate")
)

// The validators of the library. The text of a finding says what to do.
var (
	ruleCRDAPIVersion = errorRule("crd-api-version", "CRDs have an apiVersion that OLM knows", "use apiextensions.k8s.io/v1")
	ruleBundle        = errorRule("bundle", "The ClusterServiceVersion, the CRDs, the ServiceAccounts and the images of the bundle belong together", "")
	ruleCSV           = errorRule("csv", "OLM can install the ClusterServiceVersion, and its examples and annotations are valid", "")
	ruleCRD           = errorRule("crd-invalid", "CRDs are valid for the API server", "")
	ruleValidator     = errorRule("validator", "External validators accept the bundle", "correct what the validator reports")
)

// OLM v1.
var (
	ruleV1Modes          = errorRule("olmv1-install-modes", "The operator supports AllNamespaces, SingleNamespace or OwnNamespace", "support AllNamespaces")
	ruleV1WatchNamespace = warningRule("olmv1-watch-namespace", "The operator supports AllNamespaces", "support AllNamespaces, or tell users to set watchNamespace in the ClusterExtension")
	ruleV1Dependency     = errorRule("olmv1-dependency", "The bundle requires no packages, kinds or constraints", "remove the dependency, and tell users to install it first")
	ruleV1APIService     = errorRule("olmv1-api-service", "The bundle has no API services", "serve the API with a CRD")
	ruleV1Conditions     = warningRule("olmv1-operator-conditions", "The operator does not use OperatorConditions", "run the operator without the API OperatorCondition")
	ruleV1Deployment     = errorRule("olmv1-deployment", "Deployments have unique names, which are DNS subdomains", "rename the Deployment")
	ruleV1Webhook        = errorRule("olmv1-webhook", "Webhooks have unique names, which are DNS subdomains, and a Deployment", "correct the webhook definition")
	ruleV1WebhookRule    = errorRule("olmv1-webhook-rule", "Webhooks do not intercept all groups, OLM, or webhook configurations", "list the groups and resources of the operator")
	ruleV1Conversion     = errorRule("olmv1-conversion", "A CRD has one conversion webhook", "correct conversionCRDs")
	ruleV1CRDVersion     = errorRule("olmv1-crd-version", "CRDs are of version v1", "use apiextensions.k8s.io/v1")
	ruleV1Package        = errorRule("olmv1-package", "metadata/annotations.yaml names the package", "run operon bundle generate")
)

// Upgrades.
var (
	ruleReplaces   = errorRule("replaces", "The catalog has the bundle that this one replaces", "correct spec.replaces, or add the replaced bundle to the catalog first")
	ruleCRDUpgrade = errorRule("crd-upgrade", "Objects of the previous version stay valid", "add a version to the CRD, and convert objects")
	ruleCRDRemoved = warningRule("crd-removed", "The bundle has the CRDs of the previous version", "keep the CRD, or tell users to replace their objects first")
)

// Rules are all rules, in the order of the documentation.
func Rules() []Rule {
	all := []Rule{
		ruleFolders, ruleManifestsEntry, ruleManifestSyntax, ruleManifestDocuments, ruleManifestField, ruleMetadataSyntax,
		ruleStrictYAML, ruleAnnotationsFile, ruleAnnotation, rulePackage, ruleDependencyType, ruleDependency,
		ruleProperty, ruleNumber, ruleIcon, ruleUnknownField,
		RuleObjectKind, RuleObjectMetadata,
		RuleScorecardConfig, ruleCSVCount, ruleCSVSchema, ruleObjectSize, ruleOwnedCRD, ruleInstallModes,
		ruleWebhook, ruleConversionWebhook, ruleWebhookRule, ruleConversion,
		ruleCRDAPIVersion, ruleBundle, ruleCSV, ruleCRD, ruleValidator,
	}
	for _, s := range Suites {
		if s.validator != nil {
			all = append(all, s.rule())
		}
	}
	return append(all,
		ruleV1Modes, ruleV1WatchNamespace, ruleV1Dependency, ruleV1APIService, ruleV1Conditions,
		ruleV1Deployment, ruleV1Webhook, ruleV1WebhookRule, ruleV1Conversion,
		ruleV1CRDVersion, ruleV1Package, ruleReplaces, ruleCRDUpgrade, ruleCRDRemoved)
}
