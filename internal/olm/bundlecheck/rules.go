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
	ruleManifestDocuments = warningRule("manifest-documents", "Each file in manifests has one document", "move the object to a file of its own")
	ruleManifestField     = errorRule("manifest-field", "Fields of the ClusterServiceVersion and of CRDs have values of the expected type", "correct the value")
	ruleMetadataSyntax    = errorRule("metadata-syntax", "The annotations, the dependencies and the properties are in YAML or JSON", "correct the file")
	ruleStrictYAML        = errorRule("strict-yaml", "Strict parsers can read the manifests and the metadata: no key occurs twice", "remove the key that is not meant, or correct the YAML")
	ruleAnnotationsFile   = errorRule("annotations-file", "The folder metadata has a file with annotations", "run operon bundle generate")
	ruleAnnotation        = errorRule("bundle-annotation", "The annotations name the format, the folders, the package and the channels", "run operon bundle generate")
	ruleDependency        = errorRule("dependency", "Dependencies have a type that OLM knows, and a value of the expected form", "correct metadata/dependencies.yaml")
	RuleObjectKind        = errorRule("object-kind", "OLM installs objects of the kind from bundles", "let the operator create the object, or remove it")
	RuleObjectMetadata    = errorRule("object-metadata", "The metadata of objects is valid, and has no namespace", "correct the metadata")
	RuleScorecardConfig   = errorRule("scorecard-config", "operon scorecard can read the configuration of the tests", "correct the configuration, or run operon bundle generate")
	ruleCSVCount          = errorRule("csv-count", "The bundle has one ClusterServiceVersion", "run operon bundle generate, and remove other ones")
)

// What belongs together in a bundle.
var (
	ruleCRDAPIVersion       = errorRule("crd-api-version", "CRDs have an apiVersion that OLM knows", "use apiextensions.k8s.io/v1")
	ruleCRDDuplicate        = errorRule("crd-duplicate", "Each version of a kind is in one CRD", "remove one of them")
	ruleCRDMissing          = errorRule("crd-missing", "The bundle has a CRD for each version of a kind that the ClusterServiceVersion owns", "add the CRD, or remove the entry")
	ruleCRDUndeclared       = errorRule("crd-undeclared", "The ClusterServiceVersion owns the CRDs of the bundle", "add it to spec.customresourcedefinitions.owned, or remove the CRD")
	ruleCRDInvalid          = errorRule("crd-invalid", "CRDs are valid for the API server", "correct the CRD")
	ruleServiceAccountOwner = errorRule("service-account", "OLM creates the ServiceAccounts of Deployments", "remove the ServiceAccount from manifests, or rename it")
	ruleBundleSize          = errorRule("bundle-size", "The compressed manifests have at most 1 MiB", "shorten descriptions of CRDs, or the icon")
	ruleBundleSizeNear      = warningRule("bundle-size-near", "The compressed manifests are well below 1 MiB", "shorten descriptions of CRDs, or the icon")
	ruleRelatedImage        = errorRule("related-image", "Related images are valid references", "use a reference such as registry.example.org/fleet:v1.0.0")
)

// The ClusterServiceVersion.
var (
	ruleCSVAPIVersion       = errorRule("csv-api-version", "The ClusterServiceVersion has an apiVersion", "use operators.coreos.com/v1alpha1")
	ruleCSVName             = errorRule("csv-name", "The name of the ClusterServiceVersion is a DNS subdomain of at most 63 characters", "use a name such as fleet.v1.0.0")
	ruleCSVReplaces         = errorRule("csv-replaces", "The name of the replaced version is a DNS subdomain of at most 63 characters", "use a name such as fleet.v1.0.0")
	ruleCSVRelease          = errorRule("csv-release", "With spec.release, the name is <package>-v<version>-<release>", "rename the ClusterServiceVersion")
	ruleCSVField            = errorRule("csv-field", "The ClusterServiceVersion has a display name and an install strategy", "add the field")
	ruleInstallModes        = errorRule("install-modes", "The operator supports one install mode at least", "set supported: true for AllNamespaces in spec.installModes")
	ruleConversionModes     = errorRule("conversion-install-modes", "Conversion webhooks need an operator that supports AllNamespaces only", "support only AllNamespaces in spec.installModes")
	ruleMinKubeVersion      = errorRule("min-kube-version", "The lowest version of Kubernetes is a semantic version", "use a version such as 1.30.0")
	ruleMinKubeVersionUnset = warningRule("min-kube-version-unset", "The ClusterServiceVersion names the lowest version of Kubernetes", "set spec.minKubeVersion, such as 1.30.0")
	ruleExamplesUnset       = warningRule("examples-unset", "The ClusterServiceVersion has examples", "add samples to the kustomization, and run operon bundle generate")
	ruleExamplesAnnotation  = warningRule("examples-annotation", "There is one annotation with examples", "remove the annotation olm.examples")
	ruleExamplesSyntax      = errorRule("examples-syntax", "The examples are a list of objects in JSON", "correct the annotation alm-examples")
	ruleExampleUnknown      = errorRule("example-unknown", "Examples are objects of owned kinds", "remove the example, or correct its apiVersion and kind")
	ruleExampleMissing      = warningRule("example-missing", "Each owned kind has an example", "add a sample to the kustomization, and run operon bundle generate")
	ruleOwnedName           = errorRule("owned-name", "The name of an owned CRD is its plural and its group, joined by a dot", "use the name of the CRD")
	ruleAnnotationCase      = errorRule("annotation-case", "Annotations of OLM are in the right case", "correct the name of the annotation")
	ruleOLMProperties       = warningRule("olm-properties", "Properties are in metadata/properties.yaml", "move them from the annotation olm.properties to metadata/properties.yaml")
)

// What catalogs ask for.
var (
	ruleVersion         = errorRule("csv-version", "The ClusterServiceVersion has a version above 0.0.0", "set spec.version")
	ruleProvider        = errorRule("provider", "The provider of the operator has a name", "set spec.provider.name")
	ruleMaintainer      = errorRule("maintainer", "Maintainers have a name and a valid email address", "correct spec.maintainers")
	ruleLink            = errorRule("link", "Links have a name and a valid URL", "correct spec.links")
	ruleIcon            = errorRule("icon", "There is one icon, a GIF, JPEG, PNG or SVG", "put one icon into spec.icon, with base64data and mediatype")
	ruleIconUnset       = warningRule("icon-unset", "The operator has an icon", "put icon.svg beside the base of the ClusterServiceVersion, and run operon bundle generate")
	ruleCapabilities    = errorRule("capabilities", "The capability level is one of the five levels", "use Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights or Auto Pilot")
	ruleCategories      = errorRule("categories", "Categories are those of OperatorHub.io", "use categories such as Database, Monitoring or Networking")
	ruleRemovedAPI      = warningRule("removed-api", "Manifests use APIs that Kubernetes still serves", "migrate to the current version of the API")
	ruleDeployments     = errorRule("deployments", "The ClusterServiceVersion has a Deployment", "add spec.install.spec.deployments")
	ruleResourceRequest = warningRule("resource-requests", "Containers request CPU and memory", "add resources.requests with cpu and memory")
	ruleCRDDescription  = warningRule("crd-description", "Owned and required CRDs have a description", "describe the kind: in Go above its type, otherwise in the schema of its CRD")
	ruleChannelName     = warningRule("channel-name", "Channels start with candidate, fast or stable", "rename the channels")
	ruleCRDPermission   = warningRule("crd-permission", "The operator does not create CRDs", "put the CRDs into the bundle, or depend on the operator that has them")
	ruleNameConvention  = warningRule("csv-name-convention", "The name of the ClusterServiceVersion has the package and the version", "use a name such as fleet.v1.0.0")
	ruleOpenShift       = errorRule("openshift-version", "A bundle with APIs that Kubernetes 1.22 removed is limited to OpenShift 4.8", "migrate to the current version of the API")
	rulePlatform        = warningRule("platform", "Labels and node affinity of the operator match the platforms of its images", "correct the labels of the ClusterServiceVersion, or build the image for the platform")
	ruleValidator       = errorRule("validator", "External validators, and the library's newer ones, accept the bundle", "correct what the validator reports")
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
	ruleV1Conversion     = errorRule("olmv1-conversion", "Conversion webhooks convert CRDs that the bundle owns; each of these CRDs has one webhook and preserves no unknown fields", "correct conversionCRDs or the CRD")
	ruleV1CRDVersion     = errorRule("olmv1-crd-version", "CRDs are of version v1", "use apiextensions.k8s.io/v1")
	ruleV1Package        = errorRule("olmv1-package", "metadata/annotations.yaml names the package", "run operon bundle generate")
	ruleV1Properties     = errorRule("olmv1-properties", "The annotation olm.properties is a list in JSON", "correct the annotation, or use metadata/properties.yaml")
)

// Upgrades.
var (
	ruleCRDUpgrade = errorRule("crd-upgrade", "Objects of the previous version stay valid", "add a version to the CRD, and convert objects")
	ruleCRDRemoved = warningRule("crd-removed", "The bundle has the CRDs of the previous version", "keep the CRD, or tell users to replace their objects first")
)

// Rules are all rules, in the order of the documentation.
func Rules() []Rule {
	return []Rule{
		ruleFolders, ruleManifestsEntry, ruleManifestSyntax, ruleManifestDocuments, ruleManifestField, ruleMetadataSyntax, ruleStrictYAML, ruleAnnotationsFile, ruleAnnotation, ruleDependency, RuleObjectKind, RuleObjectMetadata, RuleScorecardConfig, ruleCSVCount,
		ruleCRDAPIVersion, ruleCRDDuplicate, ruleCRDMissing, ruleCRDUndeclared, ruleCRDInvalid, ruleServiceAccountOwner, ruleBundleSize, ruleBundleSizeNear, ruleRelatedImage,
		ruleCSVAPIVersion, ruleCSVName, ruleCSVReplaces, ruleCSVRelease, ruleCSVField, ruleInstallModes, ruleConversionModes, ruleMinKubeVersion, ruleMinKubeVersionUnset,
		ruleExamplesUnset, ruleExamplesAnnotation, ruleExamplesSyntax, ruleExampleUnknown, ruleExampleMissing, ruleOwnedName, ruleAnnotationCase, ruleOLMProperties,
		ruleVersion, ruleProvider, ruleMaintainer, ruleLink, ruleIcon, ruleIconUnset, ruleCapabilities, ruleCategories, ruleRemovedAPI, ruleDeployments, ruleResourceRequest,
		ruleCRDDescription, ruleChannelName, ruleCRDPermission, ruleNameConvention, ruleOpenShift, rulePlatform, ruleValidator,
		ruleV1Modes, ruleV1WatchNamespace, ruleV1Dependency, ruleV1APIService, ruleV1Conditions, ruleV1Deployment, ruleV1Webhook, ruleV1WebhookRule, ruleV1Conversion,
		ruleV1CRDVersion, ruleV1Package, ruleV1Properties, ruleCRDUpgrade, ruleCRDRemoved,
	}
}
