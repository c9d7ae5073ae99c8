package csv_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/csv"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// TestValidators checks bundles of the golden projects with the validators of the Operator
// Framework. The base has what the validators ask users for.
func TestValidators(t *testing.T) {
	for _, project := range []string{"harbor", "aerospike", "s3-operator"} {
		dir := t.TempDir()
		writeBundle(t, project, dir)
		b, err := manifests.GetBundleFromDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, validator := range []interfaces.Validator{
			validation.BundleValidator, validation.ClusterServiceVersionValidator, validation.CustomResourceDefinitionValidator, validation.ObjectValidator,
		} {
			for _, result := range validator.Validate(b.ObjectsToValidate()...) {
				for _, e := range append(result.Errors, result.Warnings...) {
					t.Errorf("%s: %v", project, e)
				}
			}
		}
	}
}

// writeBundle writes the bundle of a golden project.
func writeBundle(t *testing.T, project, dir string) {
	t.Helper()
	var objects []csv.Object
	for _, folder := range []string{"config/default", "config/samples"} {
		built, err := kustomize.Build(repository.Path("testdata", "golden", project), folder, kustomize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range built.Objects {
			objects = append(objects, csv.Object{Unstructured: o.Unstructured, File: o.File})
		}
	}
	base := map[string]any{"kind": "ClusterServiceVersion", "spec": map[string]any{"displayName": project, "description": project, "minKubeVersion": "1.30.0"}}
	result, err := csv.Generate(objects, csv.Options{Package: project, Version: "0.1.0", Base: base, CreatedAt: "2026-01-01T00:00:00Z"})
	if err != nil {
		t.Fatalf("%s: %v\n%s", project, err, fault.HintOf(err))
	}
	files, err := bundle.Encode(result.Manifests)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string][]byte{bundle.AnnotationsFile: bundle.Metadata{Package: project, Channels: []string{"alpha"}}.NewAnnotations()}
	for name, text := range files {
		contents[filepath.Join(bundle.ManifestsDir, name)] = text
	}
	for name, text := range contents {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
