package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

const fleetPackage = `packageName: fleet
defaultChannel: alpha
channels:
- {name: stable, currentCSV: fleet.v0.3.0}
- {name: alpha, currentCSV: fleet.v0.4.0}
`

func versionOf(name, more string) []byte {
	return fmt.Appendf(nil, "kind: ClusterServiceVersion\nmetadata:\n  name: %s\n  annotations: {operators.operatorframework.io/builder: operator-sdk-v1.0.0}\nspec: {version: 0.1.0, %s}\n", name, more)
}

// TestPackageManifests checks that versions get the channels whose newest version leads to
// them, and that the configuration of the scorecard moves.
func TestPackageManifests(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		"fleet.package.yaml":   []byte(fleetPackage),
		"0.1.0/csv.yaml":       versionOf("fleet.v0.1.0", ""),
		"0.2.0/csv.yaml":       versionOf("fleet.v0.2.0", ""),
		"0.3.0/csv.yaml":       versionOf("fleet.v0.3.0", "replaces: fleet.v0.2.0"),
		"0.3.0/scorecard.yaml": []byte("apiVersion: scorecard.operatorframework.io/v1alpha3\nkind: Configuration\n"),
		"0.4.0/csv.yaml":       versionOf("fleet.v0.4.0", "replaces: fleet.v0.2.0, skips: [fleet.v0.3.0, fleet.v0.4.0]"),
		"0.4.0/crd.yaml":       []byte("kind: CustomResourceDefinition\n"),
	}
	for _, folder := range []string{"", "fleet/"} {
		below := map[string][]byte{}
		for name, content := range files {
			below[folder+name] = content
		}
		releases, err := fromPackageManifests(below)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]string{}
		for _, r := range releases {
			have[r.Folder] = strings.Join(r.Bundle.Channels(), ",") + " " + strings.Join(slices.Sorted(maps.Keys(r.Files)), " ")
			if r.Bundle.Package() != "fleet" || r.Bundle.Annotations[DefaultChannelKey] != "alpha" || r.Bundle.Annotations[prefix+"metrics.builder"] != "operator-sdk-v1.0.0" {
				t.Errorf("%s: annotations %v", r.Folder, r.Bundle.Annotations)
			}
		}
		want := map[string]string{
			"0.1.0": "alpha manifests/csv.yaml metadata/annotations.yaml",
			"0.2.0": "alpha,stable manifests/csv.yaml metadata/annotations.yaml",
			"0.3.0": "alpha,stable manifests/csv.yaml metadata/annotations.yaml tests/scorecard/config.yaml",
			"0.4.0": "alpha manifests/crd.yaml manifests/csv.yaml metadata/annotations.yaml",
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

func TestPackageManifestsErrors(t *testing.T) {
	t.Parallel()
	csv := versionOf("fleet.v0.1.0", "")
	scorecard := []byte("apiVersion: scorecard.operatorframework.io/v1alpha3\nkind: Configuration\n")
	for want, files := range map[string]map[string][]byte{
		"no file describes a package":                                  {"0.1.0/csv.yaml": csv},
		"the package fleet has no versions":                            {"p.yaml": []byte(fleetPackage)},
		"there are two packages: a.yaml and b.yaml":                    {"a.yaml": []byte(fleetPackage), "b.yaml": []byte(fleetPackage)},
		"p.yaml names no default channel":                              {"p.yaml": []byte("packageName: fleet\n"), "0.1.0/csv.yaml": csv},
		"0.1.0: the bundle has no ClusterServiceVersion in manifests":  {"p.yaml": []byte(fleetPackage), "0.1.0/crd.yaml": []byte("kind: CustomResourceDefinition\n")},
		"0.1.0/more/csv.yaml is in a folder below that of the version": {"p.yaml": []byte(fleetPackage), "0.1.0/more/csv.yaml": csv},
		"0.1.0: there are two configurations of a scorecard":           {"p.yaml": []byte(fleetPackage), "0.1.0/csv.yaml": csv, "0.1.0/a.yaml": scorecard, "0.1.0/b.yaml": scorecard},
	} {
		if _, err := fromPackageManifests(files); err == nil || err.Error() != want || fault.HintOf(err) == "" {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := ReadPackageManifests("testdata/missing"); err == nil {
		t.Error("a missing folder is accepted")
	}
}
