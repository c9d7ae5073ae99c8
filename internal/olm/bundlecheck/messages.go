package bundlecheck

import (
	"regexp"
	"sync"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

// message maps texts of the library to a rule.
type message struct {
	pattern func() *regexp.Regexp
	rule    Rule
	text    string // of our finding, with $1 for what the pattern captures
	places  func(x *input, groups []string) []subject
	each    bool // report all places, instead of the one for this occurrence of the text
}

// subject is a place that a text is about, and what stands for {} in the text of the message.
type subject struct {
	place
	what string
}

// messages returns all messages. The first that matches counts.
var messages = sync.OnceValue(func() []message {
	is := func(pattern string, r Rule, text string, places func(*input, []string) []subject) message {
		return message{pattern: lazyregexp.New("^" + pattern), rule: r, text: text, places: places}
	}
	all := func(m message) message { m.each = true; return m }
	csv := func(path string) func(*input, []string) []subject {
		return func(x *input, _ []string) []subject { return []subject{{place: x.csv.at(fieldPath(path)...)}} }
	}
	annotation := func(key string) func(*input, []string) []subject {
		return func(x *input, _ []string) []subject {
			return []subject{{place: x.csv.at("metadata", "annotations", key)}}
		}
	}
	const gvk = `(.*), Kind=(.*)`
	return []message{
		// The bundle.
		is(`duplicate CRD "`+gvk+`" in bundle`, ruleCRDDuplicate, "another CRD has $2 in $1, too", lastOf(crdVersions)),
		is(`owned CRD "`+gvk+`" not found in bundle`, ruleCRDMissing, "no CRD of the bundle has $2 in $1", ownedVersions),
		is(`CRD "`+gvk+`" is present in bundle .* but not defined`, ruleCRDUndeclared, "the ClusterServiceVersion does not own $2 in $1", crdVersions),
		is(`invalid service account found in bundle\. This service account (\S*) in`, ruleServiceAccountOwner, "OLM creates the ServiceAccount $1 of a Deployment", serviceAccount),
		is(`maximum bundle compressed size .*: size=~(.*) , max=(.*)\. Bundle`, ruleBundleSize, "the manifests have $1 compressed, and OLM accepts $2; this is the largest file", largestFile),
		is(`nearing maximum bundle compressed size .*: size=~(.*) , max=(.*)\. Bundle`, ruleBundleSizeNear, "the manifests have $1 compressed, and OLM accepts $2; this is the largest file", largestFile),
		is(`bundle name with release versioning (".*") does not match expected name (".*")`, ruleCSVRelease, "the name is $1 instead of $2", csv("metadata.name")),
		is(`relatedImages\[(\d+)\] has an empty image`, ruleRelatedImage, "the related image has no reference", relatedImage),
		is(`relatedImages\[(\d+)\] has an invalid image pullspec (".*"): (.*)`, ruleRelatedImage, "$2 is not the reference of an image: $3", relatedImage),

		// The ClusterServiceVersion.
		is(`metadata\.name (".*") is invalid: (.*)`, ruleCSVName, "the name $1 is not valid: $2", csv("metadata.name")),
		is(`spec\.replaces (".*") is invalid: (.*)`, ruleCSVReplaces, "the name $1 is not valid: $2", csv("spec.replaces")),
		is(`annotations not found`, ruleExamplesUnset, "the ClusterServiceVersion has no annotation alm-examples", csv("metadata")),
		is(`example annotations not found`, ruleExamplesUnset, "the ClusterServiceVersion has no annotation alm-examples", csv("metadata.annotations")),
		is("both `alm-examples` and `olm.examples`", ruleExamplesAnnotation, "OLM ignores this annotation, because there is alm-examples", annotation("olm.examples")),
		is(`invalid example\ninvalid (?:character|value) at (\d+)`, ruleExamplesSyntax, "the examples are not valid JSON", invalidExample),
		is(`(?:invalid example|error decoding example CustomResource)\n(.*)`, ruleExamplesSyntax, "the examples are not a list of objects: $1", examples),
		is(`couldn't parse plural\.group from crd name: (.*)`, ruleOwnedName, `the name "$1" is not <plural>.<group>`, ownedNames),
		is(`example must have a provided API\n`+gvk, ruleExampleUnknown, "the operator does not own $2 in $1", exampleOf),
		is(`provided API should have an example annotation\n`+gvk, ruleExampleMissing, "there is no example of $2 in $1", ownedVersions),
		is(`install modes not found`, ruleInstallModes, "there are no install modes", csv("spec.installModes")),
		is(`duplicate install modes present`, ruleInstallModes, "an install mode is listed twice", csv("spec.installModes")),
		is(`none of InstallModeTypes are supported`, ruleInstallModes, "no install mode is supported", csv("spec.installModes")),
		is(`only AllNamespaces InstallModeType is supported when conversionCRDs`, ruleConversionModes, "the operator has conversion webhooks, and does not support only AllNamespaces", csv("spec.installModes")),
		is(`'apiVersion' is missing`, ruleCSVAPIVersion, "the ClusterServiceVersion has no apiVersion", csv("")),
		is(`csv\.Spec\.minKubeVersion is not informed`, ruleMinKubeVersionUnset, "any version of Kubernetes counts as supported", csv("spec.minKubeVersion")),
		is(`csv\.Spec\.MinKubeVersion has an invalid value: (.*)`, ruleMinKubeVersion, `"$1" is not a semantic version`, csv("spec.minKubeVersion")),
		is(`unable to use csv\.Spec\.MinKubeVersion .* invalid value: (.*)`, ruleMinKubeVersion, `"$1" is not a semantic version`, csv("spec.minKubeVersion")),
		is(`provided annotation (\S+) uses wrong case and should be (\S+)`, ruleAnnotationCase, "$1 should be $2", misspelledAnnotation),
		is(`found olm\.properties annotation`, ruleOLMProperties, "the ClusterServiceVersion has properties in an annotation", annotation("olm.properties")),

		// What catalogs ask for.
		is(`csv\.Spec\.Provider\.Name not specified`, ruleProvider, "the provider has no name", csv("spec.provider")),
		is(`csv\.Spec\.Maintainers elements should contain both`, ruleMaintainer, "a maintainer lacks a name or an email address", items("maintainers", lacks("name", "email"))),
		is(`csv\.Spec\.Maintainers email (.*) is invalid`, ruleMaintainer, `"$1" is not an email address`, itemsWith("maintainers", "email")),
		is(`csv\.Spec\.Links elements should contain both`, ruleLink, "a link lacks a name or a URL", items("links", lacks("name", "url"))),
		is(`csv\.Spec\.Links url (.*) is invalid: `, ruleLink, `"$1" is not a URL`, itemsWith("links", "url")),
		is(`csv\.Metadata\.Annotations\.Capabilities (".*") is not`, ruleCapabilities, "$1 is not a capability level", annotation("capabilities")),
		is(`csv\.Metadata\.Annotations\["categories"\] value "\s*(.*?)\s*" is not`, ruleCategories, `there is no category "$1"`, annotation("categories")),
		is(`could not extract custom categories .*: (.*)`, ruleCategories, "OPERATOR_BUNDLE_CATEGORIES does not name a file with categories: $1", annotation("categories")),
		is(`csv\.Spec\.Version must be set`, ruleVersion, "the ClusterServiceVersion has no version", csv("spec.version")),
		is(`csv\.Spec\.Icon should only have one`, ruleIcon, "there are several icons", csv("spec.icon")),
		is(`csv\.Spec\.Icon elements should contain both`, ruleIcon, "the icon has no data or no media type", csv("spec.icon.0")),
		is(`csv\.Spec\.Icon (\S*) does not have a valid mediatype`, ruleIcon, "$1 is not a media type of icons", csv("spec.icon.0.mediatype")),
		is(`csv\.Spec\.Icon not specified`, ruleIconUnset, "the operator has no icon", csv("spec.icon")),
		all(is(`this bundle is using APIs which were deprecated and removed in v(\S+)\. .*Migrate the API\(s\) for (.*)`, ruleRemovedAPI, "Kubernetes $1 removed {}", removedAPIs)),
		is(`The "operatorhub" validator is deprecated`, Rule{}, "", discarded), // the list of suites says it
		is(`unable to find a deployment to install`, ruleDeployments, "the ClusterServiceVersion has no Deployment", csv("spec.install.spec.deployments")),
		is(`unable to find the resource requests for the container: \((.*?)\)`, ruleResourceRequest, "the container $1 requests no CPU and memory", containers),
		is(`(owned|required) CRD "(.*)" has an empty description`, ruleCRDDescription, "the $1 CRD $2 has no description", describedCRDs),
		is(`channel\(s\) \[(.*)\] are not following`, ruleChannelName, "{}: these names do not say how mature a channel is", channels),
		is(`CSV contains permissions to create CRD`, ruleCRDPermission, "the operator may create CRDs, which OLM should manage", crdPermission),
		is(`csv\.metadata\.Name (\S*) is not following the versioning`, ruleNameConvention, `the name "$1" does not end in a semantic version`, csv("metadata.name")),
		is(`csv\.metadata\.Name (\S*) is not following the recommended`, ruleNameConvention, `the name "$1" is not <package>.v<version>`, csv("metadata.name")),
		is(`csv\.Annotations not specified olm\.maxOpenShiftVersion`, ruleOpenShift, "manifests use APIs that Kubernetes 1.22 removed, and there is no property olm.maxOpenShiftVersion", annotation("olm.properties")),
		is(`please, inform the path of its index image file`, ruleOpenShift, "manifests use APIs that Kubernetes 1.22 removed; name the Dockerfile with the label com.redhat.openshift.versions in --optional-values index-path=FILE", annotation("olm.properties")),
		is(`(.*(?:olm\.properties|index image|com\.redhat\.openshift\.versions).*)`, ruleOpenShift, "$1", annotation("olm.properties")),
		is(`unable to inspect the image \((.*?)\) : ([^\n]*)`, rulePlatform, "docker or podman cannot inspect $1: $2", image),
		is(`not all images specified .*: \((.*?)\) was not found for the image\(s\) (.*)`, rulePlatform, "there is no image for $1: $2", image),
		is(`check if the image (\S+) should not support (\[.*?\])`, rulePlatform, "the image $1 is not for $2, which the ClusterServiceVersion or the manager supports", image),
		is(`check if the CSV is missing the label \((.*?)\) for the \S+: (\[.*?\]).* manager image (\[.*?\])`, rulePlatform, "there is no label $1 for $2, which the image $3 supports", image),
		is(`check if the CSV is missing a node affinity configuration for the image: (".*?")`, rulePlatform, "there is no node affinity for the platforms of $1", image),
		is(`check if the CSV has a missing or invalid node affinity configuration for the image: (".*?").* supported: (.*)`, rulePlatform, "the node affinity does not list the platforms of $1: $2", image),
		is(`the CSV includes (\[.*?\]) in the node affinity configuration for the image: (".*?")`, rulePlatform, "the node affinity lists $1, and the image $2 is not for it", image),
		is(`the image data indicates (\[.*?\]) is supported for the image: (".*?")`, rulePlatform, "the node affinity does not list $1, and the image $2 is for it", image),
	}
})

// discarded drops a text.
func discarded(*input, []string) []subject { return nil }

// channelsAt is the place of the channels in the annotations.
func (x *input) channelsAt() place {
	if x.annotations == nil {
		return place{file: bundle.AnnotationsFile}
	}
	return x.annotations.at("annotations", bundle.ChannelsKey)
}
