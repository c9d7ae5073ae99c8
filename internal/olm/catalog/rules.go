package catalog

import "github.com/operon-dev/operon/internal/finding"

// The rules of catalogs. OLM refuses a catalog that breaks one with severity Error.
var (
	ruleSyntax            = finding.Rule{Name: "catalog-syntax", Severity: finding.Error, Summary: "Files have documents in YAML or JSON with a schema"}
	rulePackageName       = finding.Rule{Name: "package-name", Severity: finding.Error, Summary: "The name of a package is a DNS label"}
	ruleDuplicateName     = finding.Rule{Name: "duplicate-name", Severity: finding.Error, Summary: "Packages, channels, entries, bundles and deprecations are unique"}
	ruleDefaultChannel    = finding.Rule{Name: "default-channel", Severity: finding.Error, Summary: "The default channel of a package exists"}
	ruleUnknownPackage    = finding.Rule{Name: "unknown-package", Severity: finding.Error, Summary: "Channels, bundles and deprecations belong to a package of the catalog"}
	ruleChannelName       = finding.Rule{Name: "channel-name", Severity: finding.Error, Summary: "A channel has a name"}
	ruleChannelEmpty      = finding.Rule{Name: "channel-empty", Severity: finding.Error, Summary: "A channel has entries"}
	ruleChannelHead       = finding.Rule{Name: "channel-head", Severity: finding.Error, Summary: "A channel has one head: an entry that no other entry replaces or skips"}
	ruleChannelCycle      = finding.Rule{Name: "channel-cycle", Severity: finding.Error, Summary: "Upgrades in a channel do not form a cycle"}
	ruleEntryStranded     = finding.Rule{Name: "entry-stranded", Severity: finding.Error, Summary: "An upgrade leads from each entry to the head"}
	ruleEntryBundle       = finding.Rule{Name: "entry-bundle", Severity: finding.Error, Summary: "Each entry of a channel is a bundle of the package"}
	RuleEntrySkips        = finding.Rule{Name: "entry-skips", Severity: finding.Error, Summary: "The skips of an entry are names, and its skipRange is a range of versions"}
	ruleBundleChannel     = finding.Rule{Name: "bundle-channel", Severity: finding.Error, Summary: "Each bundle is in a channel"}
	ruleBundlePackage     = finding.Rule{Name: "bundle-package", Severity: finding.Error, Summary: "A bundle has one property olm.package, with its package and version"}
	ruleBundleVersion     = finding.Rule{Name: "bundle-version", Severity: finding.Error, Summary: "The version of a bundle is a semantic version, and unique in the package"}
	ruleBundleImage       = finding.Rule{Name: "bundle-image", Severity: finding.Error, Summary: "A bundle has a valid image, or its objects"}
	RulePropertyValue     = finding.Rule{Name: "property-value", Severity: finding.Error, Summary: "Properties that OLM knows have values of the expected form"}
	ruleDeprecationTarget = finding.Rule{Name: "deprecation-target", Severity: finding.Error, Summary: "A deprecation has a message, and refers to a package, channel or bundle"}
	ruleReplacesUnknown   = finding.Rule{Name: "replaces-unknown", Severity: finding.Warning, Summary: "An entry replaces a bundle of the catalog"}
	ruleDowngrade         = finding.Rule{Name: "downgrade", Severity: finding.Warning, Summary: "An entry replaces or skips lower versions only"}
	ruleNumber            = finding.Rule{Name: "number", Severity: finding.Warning, Summary: "A version in a property is in quotes: the number 4.20 is 4.2"}
	ruleIconData          = finding.Rule{Name: "icon-data", Severity: finding.Error, Summary: "The data of an icon is base64"}
	ruleIconEmpty         = finding.Rule{Name: "icon-empty", Severity: finding.Warning, Summary: "An icon has data and a media type"}
)

// Rules are all rules, in the order of the documentation.
var Rules = []finding.Rule{
	ruleSyntax, rulePackageName, ruleDuplicateName, ruleDefaultChannel, ruleUnknownPackage,
	ruleChannelName, ruleChannelEmpty, ruleChannelHead, ruleChannelCycle,
	ruleEntryStranded, ruleEntryBundle, RuleEntrySkips,
	ruleBundleChannel, ruleBundlePackage, ruleBundleVersion, ruleBundleImage, RulePropertyValue,
	ruleDeprecationTarget, ruleIconData, ruleReplacesUnknown, ruleDowngrade, ruleNumber, ruleIconEmpty,
}
