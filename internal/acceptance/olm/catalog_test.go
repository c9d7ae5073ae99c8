//go:build testall

package olm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"sigs.k8s.io/yaml"
)

// TestCatalogVerdicts checks that operon and opm refuse the same random catalogs.
func TestCatalogVerdicts(t *testing.T) {
	t.Parallel()
	opm := peertest.OLM(t, "opm")
	refused, accepted := 0, 0
	for seed := range uint64(150) {
		src, mistakes := randomCatalog(t, rand.New(rand.NewPCG(seed, 1)))
		dir := t.TempDir()
		write(t, filepath.Join(dir, "catalog.yaml"), string(src))
		c := &catalog.Catalog{}
		found := c.AddFile("catalog.yaml", src)
		found = slices.DeleteFunc(append(found, c.Validate()...), func(f finding.Finding) bool { return !f.IsError() })
		theirs := peertest.Cached(t, []string{opm, "validate", string(src)}, func() (string, bool) {
			out, err := exec.Command(opm, "validate", dir).CombinedOutput()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			} else if err != nil {
				return "refused: " + string(out), true
			}
			return "", true
		})
		if theirs != "" {
			refused++
		} else {
			accepted++
			found = slices.DeleteFunc(found, stricter)
		}
		if (theirs != "") != (len(found) > 0) {
			t.Errorf("seed %d, mistakes %v: operon finds %v, opm says %q\n%s", seed, mistakes, found, theirs, src)
		}
	}
	if refused < 20 || accepted < 20 {
		t.Errorf("%d catalogs are refused, %d are accepted: this compares little", refused, accepted)
	}
}

// stricter reports whether operon refuses what opm accepts, because OLM cannot use it: ranges that are
// none, and properties without the values that OLM needs.
func stricter(f finding.Finding) bool {
	return f.Rule == catalog.RulePropertyValue.Name || f.Rule == catalog.RuleEntrySkips.Name && strings.HasPrefix(f.Message, "skipRange")
}

type document = map[string]any

// randomCatalog returns a catalog, and the mistakes in it.
func randomCatalog(t *testing.T, r *rand.Rand) ([]byte, []string) {
	t.Helper()
	pkg := document{"schema": "olm.package", "name": "fleet", "defaultChannel": "stable"}
	var bundles, channels []document
	var names []string
	for i := range 2 + r.IntN(4) {
		version := fmt.Sprintf("%d.%d.%d", i/3, i%3, r.IntN(3))
		names = append(names, "fleet.v"+version)
		bundles = append(bundles, document{
			"schema": "olm.bundle", "package": "fleet", "name": "fleet.v" + version, "image": "example.org/fleet:v" + version,
			"properties": []any{
				document{"type": "olm.package", "value": document{"packageName": "fleet", "version": version}},
				document{"type": "olm.gvk", "value": document{"group": "ship.example.org", "kind": "Frigate", "version": "v1"}},
			},
		})
	}
	for _, name := range []string{"stable", "fast"}[:1+r.IntN(2)] {
		var entries []any
		for i, bundle := range names {
			entry := document{"name": bundle}
			switch {
			case i > 1 && r.IntN(4) == 0:
				entry["replaces"], entry["skips"] = names[i-2], []any{names[i-1]}
			case i > 0:
				entry["replaces"] = names[i-1]
			}
			if r.IntN(4) == 0 {
				entry["skipRange"] = "<" + strings.TrimPrefix(bundle, "fleet.v")
			}
			entries = append(entries, entry)
		}
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		channels = append(channels, document{"schema": "olm.channel", "package": "fleet", "name": name, "entries": entries})
	}
	deprecations := document{"schema": "olm.deprecations", "package": "fleet", "entries": []any{
		document{"reference": document{"schema": "olm.bundle", "name": names[0]}, "message": "Upgrade."},
	}}
	docs := &documents{pkg, channels, bundles, deprecations, nil}
	var made []string
	for range r.IntN(3) {
		m := mistakes[r.IntN(len(mistakes))]
		m.make(docs, r)
		made = append(made, m.name)
	}
	var out bytes.Buffer
	for _, d := range docs.all() {
		text, err := yaml.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), made
}

// documents are a catalog.
type documents struct {
	pkg          document
	channels     []document
	bundles      []document
	deprecations document
	more         []document
}

func (d *documents) all() []document {
	return slices.Concat([]document{d.pkg}, d.channels, d.bundles, []document{d.deprecations}, d.more)
}

// channel, entry and bundle return random ones.
func (d *documents) channel(r *rand.Rand) document { return d.channels[r.IntN(len(d.channels))] }
func (d *documents) bundle(r *rand.Rand) document  { return d.bundles[r.IntN(len(d.bundles))] }
func (d *documents) entry(r *rand.Rand) document {
	entries := d.channel(r)["entries"].([]any)
	if len(entries) == 0 {
		return document{}
	}
	return entries[r.IntN(len(entries))].(document)
}

// property sets a property of a bundle.
func (d *documents) property(r *rand.Rand, kind string, value any) {
	b := d.bundle(r)
	b["properties"] = append(b["properties"].([]any), document{"type": kind, "value": value})
}

// reference sets what a deprecation refers to.
func (d *documents) reference(reference document, message string) {
	d.deprecations["entries"] = append(d.deprecations["entries"].([]any), document{"reference": reference, "message": message})
}

// mistakes change a catalog. Some are none.
var mistakes = []struct {
	name string
	make func(*documents, *rand.Rand)
}{
	{"default channel", func(d *documents, _ *rand.Rand) { d.pkg["defaultChannel"] = "fast" }},
	{"no default channel", func(d *documents, _ *rand.Rand) { delete(d.pkg, "defaultChannel") }},
	{"package name", func(d *documents, _ *rand.Rand) { d.pkg["name"] = "Fleet" }},
	{"other package", func(d *documents, r *rand.Rand) { d.bundle(r)["package"] = "navy" }},
	{"other package of a channel", func(d *documents, r *rand.Rand) { d.channel(r)["package"] = "navy" }},
	{"package twice", func(d *documents, _ *rand.Rand) { d.more = append(d.more, d.pkg) }},
	{"channel twice", func(d *documents, r *rand.Rand) { d.more = append(d.more, d.channel(r)) }},
	{"bundle twice", func(d *documents, r *rand.Rand) { d.more = append(d.more, d.bundle(r)) }},
	{"no entries", func(d *documents, r *rand.Rand) { d.channel(r)["entries"] = []any{} }},
	{"channel name", func(d *documents, r *rand.Rand) { d.channel(r)["name"] = "" }},
	{"entry name", func(d *documents, r *rand.Rand) { d.entry(r)["name"] = "fleet.v9.9.9" }},
	{"replaces", func(d *documents, r *rand.Rand) { d.entry(r)["replaces"] = d.bundle(r)["name"] }},
	{"replaces nothing", func(d *documents, r *rand.Rand) { delete(d.entry(r), "replaces") }},
	{"replaces what is missing", func(d *documents, r *rand.Rand) { d.entry(r)["replaces"] = "fleet.v0.0.0-old" }},
	{"skips", func(d *documents, r *rand.Rand) { d.entry(r)["skips"] = []any{d.bundle(r)["name"]} }},
	{"skips two", func(d *documents, r *rand.Rand) {
		d.entry(r)["skips"] = []any{d.bundle(r)["name"], d.bundle(r)["name"]}
	}},
	{"skips nothing", func(d *documents, r *rand.Rand) { d.entry(r)["skips"] = []any{""} }},
	{"skip range", func(d *documents, r *rand.Rand) { d.entry(r)["skipRange"] = "newest" }},
	{"image", func(d *documents, r *rand.Rand) { d.bundle(r)["image"] = "" }},
	{"image reference", func(d *documents, r *rand.Rand) { d.bundle(r)["image"] = "example.org/Fleet:v1" }},
	{"related image", func(d *documents, r *rand.Rand) {
		d.bundle(r)["relatedImages"] = []any{document{"name": "db", "image": "example.org/db:v1"}}
	}},
	{"bundle name", func(d *documents, r *rand.Rand) { d.bundle(r)["name"] = "" }},
	{"no properties", func(d *documents, r *rand.Rand) { d.bundle(r)["properties"] = []any{} }},
	{"version", func(d *documents, r *rand.Rand) {
		d.bundle(r)["properties"] = []any{document{"type": "olm.package", "value": document{"packageName": "fleet", "version": "v1"}}}
	}},
	{"two versions", func(d *documents, r *rand.Rand) {
		d.property(r, "olm.package", document{"packageName": "fleet", "version": "7.0.0"})
	}},
	{"package of a property", func(d *documents, r *rand.Rand) {
		d.bundle(r)["properties"] = []any{document{"type": "olm.package", "value": document{"packageName": "navy", "version": "7.0.0"}}}
	}},
	{"same version", func(d *documents, r *rand.Rand) { d.bundle(r)["properties"] = d.bundle(r)["properties"] }},
	{"kind", func(d *documents, r *rand.Rand) {
		d.property(r, "olm.gvk", document{"group": "ship.example.org", "version": "v1"})
	}},
	{"required kind", func(d *documents, r *rand.Rand) {
		d.property(r, "olm.gvk.required", document{"group": "ship.example.org", "kind": "Crew", "version": "v1"})
	}},
	{"required package", func(d *documents, r *rand.Rand) {
		d.property(r, "olm.package.required", document{"packageName": "navy", "versionRange": "later"})
	}},
	{"property with another type", func(d *documents, r *rand.Rand) {
		d.property(r, "olm.csv.metadata", document{"annotations": document{"certified": true}})
	}},
	{"list with another type", func(d *documents, r *rand.Rand) {
		d.property(r, "olm.csv.metadata", document{"keywords": []any{2024}, "provider": document{"name": "navy"}})
	}},
	{"metadata", func(d *documents, r *rand.Rand) {
		d.property(r, "olm.csv.metadata", document{"annotations": document{"certified": "true"}, "keywords": []any{"ships"}})
	}},
	{"icon", func(d *documents, _ *rand.Rand) {
		d.pkg["icon"] = document{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}
	}},
	{"icon that is no base64", func(d *documents, _ *rand.Rand) {
		d.pkg["icon"] = document{"base64data": "data:image/png;base64,AAAA", "mediatype": "image/png"}
	}},
	{"channel as a number", func(d *documents, _ *rand.Rand) { d.pkg["defaultChannel"] = 4.1 }},
	{"icon without data", func(d *documents, _ *rand.Rand) { d.pkg["icon"] = document{"mediatype": "image/png"} }},
	{"version as a number", func(d *documents, r *rand.Rand) { d.property(r, "olm.maxOpenShiftVersion", 4.2) }},
	{"own property", func(d *documents, r *rand.Rand) { d.property(r, "example.org/notes", []any{"a"}) }},
	{"property without type", func(d *documents, r *rand.Rand) { d.property(r, "", "a") }},
	{"object", func(d *documents, r *rand.Rand) { d.property(r, "olm.bundle.object", document{"data": "e30="}) }},
	{"deprecated channel", func(d *documents, _ *rand.Rand) {
		d.reference(document{"schema": "olm.channel", "name": "fast"}, "Use stable.")
	}},
	{"deprecated package", func(d *documents, _ *rand.Rand) { d.reference(document{"schema": "olm.package"}, "Leave.") }},
	{"deprecated package with a name", func(d *documents, _ *rand.Rand) {
		d.reference(document{"schema": "olm.package", "name": "fleet"}, "Leave.")
	}},
	{"deprecated nothing", func(d *documents, _ *rand.Rand) {
		d.reference(document{"schema": "olm.bundle", "name": "fleet.v8"}, "Upgrade.")
	}},
	{"deprecated without message", func(d *documents, _ *rand.Rand) {
		d.reference(document{"schema": "olm.channel", "name": "stable"}, "")
	}},
	{"deprecations twice", func(d *documents, _ *rand.Rand) { d.more = append(d.more, d.deprecations) }},
	{"own schema", func(d *documents, _ *rand.Rand) {
		d.more = append(d.more, document{"schema": "example.org.notes", "a": 1})
	}},
	{"no schema", func(d *documents, _ *rand.Rand) { d.more = append(d.more, document{"package": "fleet", "a": 1}) }},
	{"empty package", func(d *documents, _ *rand.Rand) {
		d.more = append(d.more, document{"schema": "olm.package", "name": "navy"})
	}},
	{"icon", func(d *documents, _ *rand.Rand) {
		d.pkg["icon"] = document{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}
	}},
}

// TestCatalogTemplates checks that operon renders bundles and templates as opm does.
func TestCatalogTemplates(t *testing.T) {
	t.Parallel()
	opm := peertest.OLM(t, "opm")
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	versions := []string{"0.1.0", "0.1.1", "0.2.0", "1.0.0", "1.0.1", "1.1.0", "2.0.0"}
	for _, version := range versions {
		pushBundle(t, host+"/bundle:v"+version, version)
	}
	dir, home := t.TempDir(), t.TempDir()
	policy := filepath.Join(home, ".config", "containers", "policy.json") // without one, opm pulls nothing
	if err := os.MkdirAll(filepath.Dir(policy), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, policy, `{"default": [{"type": "insecureAcceptAnything"}]}`)
	compare := func(t *testing.T, ours, theirs []string) {
		t.Helper()
		got := operontest.Run(t, dir, append([]string{"catalog", "render", "--plain-http", "--output", "json"}, ours...)...)
		cmd := exec.Command(opm, append(theirs, "--use-http", "--migrate-level", "bundle-object-to-csv-metadata", "--output", "json")...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "TMPDIR="+home)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		want, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
		}
		if diff := cmp.Diff(decode(t, want), decode(t, []byte(got))); diff != "" {
			t.Errorf("-opm +operon\n%s", diff)
		}
	}
	one := host + "/bundle:v1.0.0"
	compare(t, []string{one}, []string{"render", one})

	basic := fmt.Sprintf("schema: olm.template.basic\nentries:\n- {schema: olm.package, name: aerospike, defaultChannel: stable}\n- {schema: olm.channel, package: aerospike, name: stable, entries: [{name: aerospike.v1.0.0}]}\n- {schema: olm.bundle, image: %q}\n", one)
	write(t, filepath.Join(dir, "basic.yaml"), basic)
	compare(t, []string{"basic.yaml"}, []string{"alpha", "render-template", "basic", "basic.yaml"})

	// opm finds the catalog in the image that operon makes without it.
	operontest.Run(t, dir, "catalog", "add", host+"/bundle:v0.1.0", "--plain-http")
	operontest.Run(t, dir, "catalog", "add", one, "--plain-http", "--channels", "fast,stable")
	operontest.Run(t, dir, "catalog", "image", "--image", host+"/catalog:v1", "--push", "--plain-http")
	compare(t, []string{"catalog"}, []string{"render", host + "/catalog:v1"})

	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 2))
		var template strings.Builder
		fmt.Fprintf(&template, "schema: olm.semver\ngenerateMajorChannels: %v\ngenerateMinorChannels: %v\n", seed%3 != 0, seed%3 != 1)
		if seed == 5 {
			template.WriteString("defaultChannelTypePreference: major\n")
		}
		for _, maturity := range []string{"candidate", "fast", "stable"} {
			fmt.Fprintf(&template, "%s:\n  bundles:\n", maturity)
			for _, i := range r.Perm(len(versions))[:2+r.IntN(5)] {
				fmt.Fprintf(&template, "  - image: %s/bundle:v%s\n", host, versions[i])
			}
		}
		write(t, filepath.Join(dir, "semver.yaml"), template.String())
		compare(t, []string{"semver.yaml"}, []string{"alpha", "render-template", "semver", "semver.yaml"})
	}
}

// pushBundle pushes the bundle of a golden project with another version.
func pushBundle(t *testing.T, ref, version string) {
	t.Helper()
	files, err := bundle.ReadFolder(filepath.Join(goldentest.Dir("aerospike"), "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	var content []image.File
	for name, src := range files {
		content = append(content, image.Text(name, bytes.ReplaceAll(src, []byte("0.1.0"), []byte(version))))
	}
	base, err := image.Scratch(v1.Platform{})
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Build(t.Context(), base, content, image.Config{Labels: b.Annotations}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := (image.Registry{PlainHTTP: true}).Push(t.Context(), ref, image.Content{Image: img}); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// decode returns the documents in a stream of JSON, without what operon prints in another way:
// opm prints empty metadata, and operon the description and the icon of packages.
func decode(t *testing.T, src []byte) []document {
	t.Helper()
	var docs []document
	for dec := json.NewDecoder(bytes.NewReader(src)); ; {
		var doc document
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			return docs
		} else if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if doc["schema"] == catalog.SchemaPackage {
			delete(doc, "description")
			delete(doc, "icon")
		}
		properties, _ := doc["properties"].([]any)
		for _, p := range properties {
			metadata, _ := p.(document)["value"].(document)
			if services, ok := metadata["apiServiceDefinitions"].(document); ok && len(services) == 0 {
				delete(metadata, "apiServiceDefinitions")
			}
		}
		docs = append(docs, doc)
	}
}
