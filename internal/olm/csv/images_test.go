package csv

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// TestDigests checks that all images are replaced, and become related images that can be mirrored.
// A repeat with the result changes nothing.
func TestDigests(t *testing.T) {
	t.Parallel()
	text := strings.Replace(operator, "{name: OTHER, value: x}", "{name: RELATED_IMAGE_DB, value: registry.example.org/db:v2}", 1)
	text = strings.Replace(text, "containers:\n", "initContainers: [{name: init, image: registry.example.org/init:v1}]\n      containers:\n", 1)
	o := options()
	o.Base = map[string]any{"spec": map[string]any{"relatedImages": []any{map[string]any{"name": "cache", "image": "registry.example.org/cache:v1"}}}}
	first := generate(t, o, text)
	if len(first.Images) != 4 {
		t.Fatalf("images %v", first.Images)
	}
	o.Digests = map[string]string{}
	var want []string
	for _, image := range first.Images {
		name, _, _ := strings.Cut(image, ":")
		o.Digests[image] = name + "@sha256:" + strings.Repeat("0", 64)
		want = append(want, o.Digests[image])
	}
	second := generate(t, o, text)
	if diff := cmp.Diff(want, second.Images); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	related := map[string]any{}
	for _, item := range jsonvalue.List(second.Manifests[second.CSV], "spec", "relatedImages") {
		related[jsonvalue.String(item, "name")] = jsonvalue.At(item, "image")
	}
	if diff := cmp.Diff(map[string]any{
		"cache": o.Digests["registry.example.org/cache:v1"], "db": o.Digests["registry.example.org/db:v2"],
		"init": o.Digests["registry.example.org/init:v1"], "manager": o.Digests[first.Images[2]],
	}, related); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestUpgrades checks that the base says what a version replaces, and otherwise the options.
func TestUpgrades(t *testing.T) {
	t.Parallel()
	o := options()
	o.Replaces, o.Skips, o.SkipRange = "fleet.v1.0.0", []string{"fleet.v1.1.0"}, "<1.0.0"
	upgrades := func() []any {
		result := generate(t, o, operator)
		csv := result.Manifests[result.CSV]
		return []any{jsonvalue.At(csv, "spec", "replaces"), jsonvalue.At(csv, "spec", "skips"), jsonvalue.At(csv, "metadata", "annotations", "olm.skipRange")}
	}
	if diff := cmp.Diff([]any{"fleet.v1.0.0", []any{"fleet.v1.1.0"}, "<1.0.0"}, upgrades()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	o.Base = map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"olm.skipRange": "<0.5.0"}},
		"spec":     map[string]any{"replaces": "fleet.v0.9.0", "skips": []any{"fleet.v0.8.0"}},
	}
	if diff := cmp.Diff([]any{"fleet.v0.9.0", []any{"fleet.v0.8.0"}, "<0.5.0"}, upgrades()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestEmptyRelatedImage checks that an empty variable is no related image, which bundle validate would refuse.
func TestEmptyRelatedImage(t *testing.T) {
	t.Parallel()
	result := generate(t, options(), strings.Replace(operator, "{name: OTHER, value: x}", `{name: RELATED_IMAGE_DB, value: ""}`, 1))
	if related := result.Manifests[result.CSV]["spec"].(map[string]any)["relatedImages"]; related != nil {
		t.Errorf("related images %v", related)
	}
}
