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
		is(`duplicate CRD "`+gvk+`" in bundle`, CRDDuplicate, "another CRD has $2 in $1, too", lastOf(crdVersions)),
		is(`owned CRD "`+gvk+`" not found in bundle`, CRDMissing, "no CRD of the bundle has $2 in $1", ownedVersions),
		is(`CRD "`+gvk+`" is present in bundle .* but not defined`, CRDUndeclared, "the ClusterServiceVersion does not own $2 in $1", crdVersions),
		is(`invalid service account found in bundle\. This service account (\S*) in`, ServiceAccountOwner, "OLM creates the ServiceAccount $1 of a Deployment", serviceAccount),
		is(`maximum bundle compressed size .*: size=~(.*) , max=(.*)\. Bundle`, BundleSize, "the manifests have $1 compressed, and OLM accepts $2; this is the largest file", largestFile),
		is(`nearing maximum bundle compressed size .*: size=~(.*) , max=(.*)\. Bundle`, BundleSizeNear, "the manifests have $1 compressed, and OLM accepts $2; this is the largest file", largestFile),
		is(`bundle name with release versioning (".*") does not match expected name (".*")`, CSVRelease, "the name is $1 instead of $2", csv("metadata.name")),
		is(`relatedImages\[(\d+)\] has an empty image`, RelatedImage, "the related image has no reference", relatedImage),
		is(`relatedImages\[(\d+)\] has an invalid image pullspec (".*"): (.*)`, RelatedImage, "$2 is not the reference of an image: $3", relatedImage),

		// The ClusterServiceVersion.
		is(`metadata\.name (".*") is invalid: (.*)`, CSVName, "the name $1 is not valid: $2", csv("metadata.name")),
		is(`spec\.replaces (".*") is invalid: (.*)`, CSVReplaces, "the name $1 is not valid: $2", csv("spec.replaces")),
		is(`annotations not found`, ExamplesUnset, "the ClusterServiceVersion has no annotation alm-examples", csv("metadata")),
		is(`example annotations not found`, ExamplesUnset, "the ClusterServiceVersion has no annotation alm-examples", csv("metadata.annotations")),
		is("both `alm-examples` and `olm.examples`", ExamplesAnnotation, "OLM ignores this annotation, because there is alm-examples", annotation("olm.examples")),
		is(`invalid example\ninvalid (?:character|value) at (\d+)`, ExamplesSyntax, "the examples are not valid JSON", invalidExample),
		is(`(?:invalid example|error decoding example CustomResource)\n(.*)`, ExamplesSyntax, "the examples are not a list of objects: $1", examples),
		is(`couldn't parse plural\.group from crd name: (.*)`, OwnedName, `the name "$1" is not <plural>.<group>`, ownedNames),
		is(`example must have a provided API\n`+gvk, ExampleUnknown, "the operator does not own $2 in $1", exampleOf),
		is(`provided API should have an example annotation\n`+gvk, ExampleMissing, "there is no example of $2 in $1", ownedVersions),
		is(`install modes not found`, InstallModes, "there are no install modes", csv("spec.installModes")),
		is(`duplicate install modes present`, InstallModes, "an install mode is listed twice", csv("spec.installModes")),
		is(`none of InstallModeTypes are supported`, InstallModes, "no install mode is supported", csv("spec.installModes")),
		is(`only AllNamespaces InstallModeType is supported when conversionCRDs`, ConversionModes, "the operator has conversion webhooks, and does not support only AllNamespaces", csv("spec.installModes")),
		is(`'apiVersion' is missing`, CSVAPIVersion, "the ClusterServiceVersion has no apiVersion", csv("")),
		is(`csv\.Spec\.minKubeVersion is not informed`, MinKubeVersionUnset, "any version of Kubernetes counts as supported", csv("spec.minKubeVersion")),
		is(`csv\.Spec\.MinKubeVersion has an invalid value: (.*)`, MinKubeVersion, `"$1" is not a semantic version`, csv("spec.minKubeVersion")),
		is(`unable to use csv\.Spec\.MinKubeVersion .* invalid value: (.*)`, MinKubeVersion, `"$1" is not a semantic version`, csv("spec.minKubeVersion")),
		is(`provided annotation (\S+) uses wrong case and should be (\S+)`, AnnotationCase, "$1 should be $2", misspelledAnnotation),
		is(`found olm\.properties annotation`, OLMProperties, "the ClusterServiceVersion has properties in an annotation", annotation("olm.properties")),

		// What catalogs ask for.
		is(`csv\.Spec\.Provider\.Name not specified`, Provider, "the provider has no name", csv("spec.provider")),
		is(`csv\.Spec\.Maintainers elements should contain both`, Maintainer, "a maintainer lacks a name or an email address", items("maintainers", lacks("name", "email"))),
		is(`csv\.Spec\.Maintainers email (.*) is invalid`, Maintainer, `"$1" is not an email address`, itemsWith("maintainers", "email")),
		is(`csv\.Spec\.Links elements should contain both`, Link, "a link lacks a name or a URL", items("links", lacks("name", "url"))),
		is(`csv\.Spec\.Links url (.*) is invalid: `, Link, `"$1" is not a URL`, itemsWith("links", "url")),
		is(`csv\.Metadata\.Annotations\.Capabilities (".*") is not`, Capabilities, "$1 is not a capability level", annotation("capabilities")),
		is(`csv\.Metadata\.Annotations\["categories"\] value "\s*(.*?)\s*" is not`, Categories, `there is no category "$1"`, annotation("categories")),
		is(`could not extract custom categories .*: (.*)`, Categories, "OPERATOR_BUNDLE_CATEGORIES does not name a file with categories: $1", annotation("categories")),
		is(`csv\.Spec\.Version must be set`, Version, "the ClusterServiceVersion has no version", csv("spec.version")),
		is(`csv\.Spec\.Icon should only have one`, Icon, "there are several icons", csv("spec.icon")),
		is(`csv\.Spec\.Icon elements should contain both`, Icon, "the icon has no data or no media type", csv("spec.icon.0")),
		is(`csv\.Spec\.Icon (\S*) does not have a valid mediatype`, Icon, "$1 is not a media type of icons", csv("spec.icon.0.mediatype")),
		is(`csv\.Spec\.Icon not specified`, IconUnset, "the operator has no icon", csv("spec.icon")),
		all(is(`this bundle is using APIs which were deprecated and removed in v(\S+)\. .*Migrate the API\(s\) for (.*)`, RemovedAPI, "Kubernetes $1 removed {}", removedAPIs)),
		is(`The "operatorhub" validator is deprecated`, Rule{}, "", discarded), // the list of suites says it
		is(`unable to find a deployment to install`, Deployments, "the ClusterServiceVersion has no Deployment", csv("spec.install.spec.deployments")),
		is(`unable to find the resource requests for the container: \((.*?)\)`, ResourceRequest, "the container $1 requests no CPU and memory", containers),
		is(`(owned|required) CRD "(.*)" has an empty description`, CRDDescription, "the $1 CRD $2 has no description", describedCRDs),
		is(`channel\(s\) \[(.*)\] are not following`, ChannelName, "{}: these names do not say how mature a channel is", channels),
		is(`CSV contains permissions to create CRD`, CRDPermission, "the operator may create CRDs, which OLM should manage", crdPermission),
		is(`csv\.metadata\.Name (\S*) is not following the versioning`, NameConvention, `the name "$1" does not end in a semantic version`, csv("metadata.name")),
		is(`csv\.metadata\.Name (\S*) is not following the recommended`, NameConvention, `the name "$1" is not <package>.v<version>`, csv("metadata.name")),
		is(`csv\.Annotations not specified olm\.maxOpenShiftVersion`, OpenShift, "manifests use APIs that Kubernetes 1.22 removed, and there is no property olm.maxOpenShiftVersion", annotation("olm.properties")),
		is(`please, inform the path of its index image file`, OpenShift, "manifests use APIs that Kubernetes 1.22 removed; name the Dockerfile with the label com.redhat.openshift.versions in --optional-values index-path=FILE", annotation("olm.properties")),
		is(`(.*(?:olm\.properties|index image|com\.redhat\.openshift\.versions).*)`, OpenShift, "$1", annotation("olm.properties")),
		is(`unable to inspect the image \((.*?)\) : ([^\n]*)`, Platform, "docker or podman cannot inspect $1: $2", image),
		is(`not all images specified .*: \((.*?)\) was not found for the image\(s\) (.*)`, Platform, "there is no image for $1: $2", image),
		is(`check if the image (\S+) should not support (\[.*?\])`, Platform, "the image $1 is not for $2, which the ClusterServiceVersion or the manager supports", image),
		is(`check if the CSV is missing the label \((.*?)\) for the \S+: (\[.*?\]).* manager image (\[.*?\])`, Platform, "there is no label $1 for $2, which the image $3 supports", image),
		is(`check if the CSV is missing a node affinity configuration for the image: (".*?")`, Platform, "there is no node affinity for the platforms of $1", image),
		is(`check if the CSV has a missing or invalid node affinity configuration for the image: (".*?").* supported: (.*)`, Platform, "the node affinity does not list the platforms of $1: $2", image),
		is(`the CSV includes (\[.*?\]) in the node affinity configuration for the image: (".*?")`, Platform, "the node affinity lists $1, and the image $2 is not for it", image),
		is(`the image data indicates (\[.*?\]) is supported for the image: (".*?")`, Platform, "the node affinity does not list $1, and the image $2 is for it", image),
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
