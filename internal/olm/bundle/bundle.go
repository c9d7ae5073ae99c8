// Package bundle knows the format of bundles: registry+v1, a folder with manifests and
// metadata of an operator, from which a Dockerfile makes an image.
//
// https://olm.operatorframework.io/docs/tasks/creating-operator-bundle/
package bundle

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// The folders of a bundle, and the file with the configuration of its tests.
const (
	ManifestsDir    = "manifests"
	MetadataDir     = "metadata"
	ScorecardDir    = "tests/scorecard"
	AnnotationsFile = MetadataDir + "/annotations.yaml"
	ScorecardFile   = ScorecardDir + "/config.yaml"
)

// testsDir is the folder with ScorecardDir, and with the configuration that a bundle has elsewhere.
const testsDir = "tests"

// Folders returns the folders of a bundle, which its image has, too.
func Folders() []string { return []string{ManifestsDir, MetadataDir, testsDir} }

// CSVFile returns the usual name of the file with the ClusterServiceVersion of a package.
func CSVFile(pkg string) string { return pkg + ".clusterserviceversion.yaml" }

// IsName reports whether a text can be the name of a bundle, such as fleet.v0.1.0. A version such
// as 0.1.0 is not a name.
func IsName(text string) bool {
	_, err := semver.ParseTolerant(text)
	return err != nil && len(validation.IsDNS1123Subdomain(text)) == 0
}

// IsRange reports whether a text is a range of versions, such as >=1.0.0 <2.0.0.
func IsRange(text string) bool {
	_, err := semver.ParseRange(text)
	return err == nil
}

// Dockerfile returns the path of the Dockerfile for the bundle in a folder.
func Dockerfile(dir string) string { return path.Clean(dir) + ".Dockerfile" }

// supported are the kinds that OLM installs from files of a bundle, by API group.
var supported = map[string][]string{
	"":                          {"ConfigMap", "Secret", "Service", "ServiceAccount"},
	"apiextensions.k8s.io":      {"CustomResourceDefinition"},
	"autoscaling.k8s.io":        {"VerticalPodAutoscaler"},
	"console.openshift.io":      {"ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin", "ConsoleQuickStart", "ConsoleYAMLSample"},
	"monitoring.coreos.com":     {"PodMonitor", "PrometheusRule", "ServiceMonitor"},
	"networking.k8s.io":         {"NetworkPolicy"},
	"operators.coreos.com":      {"ClusterServiceVersion"},
	"policy":                    {"PodDisruptionBudget"},
	"rbac.authorization.k8s.io": {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"},
	"scheduling.k8s.io":         {"PriorityClass"},
}

// Supports reports whether OLM installs objects of the kind from files of a bundle.
func Supports(group, kind string) bool { return slices.Contains(supported[group], kind) }

// SupportsKind reports whether OLM installs objects of a kind of that name, in whichever group.
func SupportsKind(kind string) bool {
	for _, kinds := range supported {
		if slices.Contains(kinds, kind) {
			return true
		}
	}
	return false
}

// maxSize is the size of the compressed manifests that OLM accepts, in bytes: they go into
// one object in the cluster.
const maxSize = 1 << 20

// Encode returns manifests as YAML, by file name. It is an error if OLM would refuse their
// size.
func Encode(manifests map[string]map[string]any) (map[string][]byte, error) {
	files := map[string][]byte{}
	var compressed bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		text, err := yaml.Marshal(manifests[name])
		if err != nil {
			return nil, fault.In(name, err)
		}
		files[name] = text
		if _, err := zip.Write(text); err != nil {
			return nil, err
		}
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	if n := compressed.Len(); n > maxSize {
		return nil, fault.Usage("shorten descriptions in the CRDs, as with crd:maxDescLen=0, or the description and the icon of the base ClusterServiceVersion",
			"the manifests have %s compressed, and OLM accepts %s", size(n), size(maxSize))
	}
	return files, nil
}

func size(n int) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
