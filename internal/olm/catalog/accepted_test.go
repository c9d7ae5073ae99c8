package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/bundlecheck"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

// TestAcceptedBundles changes values of a valid bundle at random. What operon accepts, OLM's and opm's types decode: the
// ClusterServiceVersion, and the bundle in a catalog.
func TestAcceptedBundles(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("../bundlecheck/testdata/fleet.txtar")
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused := 0, 0
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 7))
		files := map[string][]byte{"metadata/properties.yaml": []byte("properties:\n- {type: olm.maxOpenShiftVersion, value: \"4.20\"}\n- {type: a.b/c, value: {d: [e]}}\n")}
		for _, f := range archive.Files {
			files[f.Name] = f.Data
		}
		names := []string{"manifests/fleet.clusterserviceversion.yaml", "metadata/properties.yaml", "metadata/annotations.yaml"}
		name := names[min(r.IntN(6), len(names)-1)]
		if r.IntN(3) > 0 {
			name = names[0]
		}
		files[name] = changed(t, r, files[name])
		if len(bundlecheck.Refused(files)) > 0 {
			refused++
			continue
		}
		b, err := bundle.Parse(files)
		var rendered Rendered
		if err == nil {
			rendered, err = FromBundle(b, "example.org/fleet-bundle:v1.0.0")
		}
		if err != nil {
			if !finding.HasErrors(bundlecheck.Check(files, bundlecheck.Options{})) {
				t.Errorf("seed %d: bundle validate accepts what catalog add refuses: %v\n%s", seed, err, files[name])
			}
			continue
		}
		accepted++
		decodes(t, seed, b, rendered, files[name])
	}
	if accepted < 50 || refused < 50 {
		t.Errorf("%d accepted, %d refused: this compares little", accepted, refused)
	}
}

// decodes decodes an accepted bundle with the types of OLM and opm.
func decodes(t *testing.T, seed uint64, b *bundle.Bundle, rendered Rendered, src []byte) {
	t.Helper()
	text, err := json.Marshal(b.CSV.Object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v1alpha1.ClusterServiceVersion{}); err != nil {
		t.Errorf("seed %d: the API server: %v\n%s", seed, err, src)
	}
	pkg := Package{Schema: SchemaPackage, Name: b.Package(), DefaultChannel: "stable", Icon: rendered.Icon}
	channel := Channel{Schema: SchemaChannel, Package: b.Package(), Name: "stable", Entries: []Entry{{Name: b.Name()}}}
	docs, err := JSON([]any{pkg, channel, rendered.Bundle})
	if err != nil {
		t.Fatal(err)
	}
	config, err := declcfg.LoadReader(bytes.NewReader(docs))
	if err == nil {
		_, err = declcfg.ConvertToModel(*config)
	}
	var c Catalog
	own := finding.Errors(append(c.AddFile("c.json", docs), c.Validate()...))
	if err != nil || len(own) > 0 {
		t.Errorf("seed %d: opm: %v; operon catalog validate: %v\n%s", seed, err, own, src)
	}
}

// changed returns a file in YAML with another value at a random place.
func changed(t *testing.T, r *rand.Rand, src []byte) []byte {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(src, &object); err != nil {
		t.Fatal(err)
	}
	values := []any{"x", "", 1, 4.5, true, nil, []any{}, []any{"x"}, map[string]any{}, map[string]any{"x": 1}}
	value := values[r.IntN(len(values))]
	var in any = object
	for {
		var set func(any)
		var next any
		switch v := in.(type) {
		case map[string]any:
			keys := slices.Sorted(maps.Keys(v))
			key := keys[r.IntN(len(keys))]
			next, set = v[key], func(value any) { v[key] = value }
			if r.IntN(8) == 0 {
				set = func(any) { delete(v, key) }
			}
		case []any:
			i := r.IntN(len(v))
			next, set = v[i], func(value any) { v[i] = value }
		}
		m, isMap := next.(map[string]any)
		list, isList := next.([]any)
		if isMap && len(m) > 0 && r.IntN(8) > 0 || isList && len(list) > 0 && r.IntN(8) > 0 {
			in = next
			continue
		}
		set(value)
		break
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
