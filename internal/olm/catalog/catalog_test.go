package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

const sound = `schema: olm.package
name: fleet
defaultChannel: stable
icon: {base64data: PHN2Zy8+, mediatype: image/svg+xml}
---
schema: olm.channel
package: fleet
name: stable
entries:
- name: fleet.v1.2.0
  replaces: fleet.v1.1.0
  skips: [fleet.v1.1.1]
- name: fleet.v1.1.1
- name: fleet.v1.1.0
  skipRange: ">=1.0.0 <1.1.0"
---
schema: olm.bundle
package: fleet
name: fleet.v1.1.0
image: example.org/fleet-bundle:v1.1.0
properties:
- type: olm.package
  value: {packageName: fleet, version: 1.1.0}
- type: olm.gvk
  value: {group: ship.example.org, kind: Frigate, version: v1}
---
schema: olm.bundle
package: fleet
name: fleet.v1.1.1
image: example.org/fleet-bundle:v1.1.1
properties:
- type: olm.package
  value: {packageName: fleet, version: 1.1.1}
---
schema: olm.bundle
package: fleet
name: fleet.v1.2.0
image: example.org/fleet-bundle:v1.2.0
properties:
- type: olm.package
  value: {packageName: fleet, version: 1.2.0}
---
schema: olm.deprecations
package: fleet
entries:
- reference: {schema: olm.bundle, name: fleet.v1.1.0}
  message: Upgrade to 1.2.0.
---
schema: example.org.notes
text: kept
`

// validate returns the findings of a catalog of one file: line, rule and message.
func validate(t *testing.T, src string) []string {
	t.Helper()
	c, found, err := Read(fstest.MapFS{"fleet/catalog.yaml": {Data: []byte(src)}})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, f := range append(found, c.Validate()...) {
		lines = append(lines, fmt.Sprintf("%d %s: %s", f.Line, f.Rule, f.Message))
	}
	return lines
}

func TestValidate(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, tt := range []struct{ old, new, want string }{
		{"", "", ""},
		{"name: stable", "name: [", "9 catalog-syntax: did not find expected node content"},
		{"schema: example.org.notes", "kind: Notes", "49 catalog-syntax: the document has no schema"},
		{"text: kept", "--- [1]", "50 catalog-syntax: the document is not an object"},
		{"defaultChannel: stable", "defaultChannel: [a]", "3 catalog-syntax: cannot unmarshal !!seq into string"},
		{"name: fleet\n", "name: Fleet_1\n", `2 package-name: the package name "Fleet_1" is not a DNS label`},
		{"schema: example.org.notes", "schema: olm.package\nname: fleet", "50 duplicate-name: there is another package fleet"},
		{"schema: example.org.notes", "schema: olm.channel\npackage: fleet\nname: stable", "51 duplicate-name: package fleet has another channel stable"},
		{"- name: fleet.v1.1.1\n", "- name: fleet.v1.1.1\n- name: fleet.v1.1.1\n", "14 duplicate-name: channel stable has another entry fleet.v1.1.1"},
		{"  message: Upgrade to 1.2.0.", "  message: Upgrade.\n- reference: {schema: olm.bundle, name: fleet.v1.1.0}\n  message: Again.", "48 duplicate-name: bundle fleet.v1.1.0 is deprecated twice"},
		{"defaultChannel: stable", `defaultChannel: ""`, "1 default-channel: package fleet has no defaultChannel"},
		{"defaultChannel: stable", "defaultChannel: beta", "3 default-channel: package fleet has no channel beta, its default"},
		{"schema: example.org.notes", "schema: olm.package\nname: empty", "49 default-channel: package empty has no channel"},
		{"package: fleet\nentries:\n- reference", "package: navy\nentries:\n- reference", `44 unknown-package: deprecations of package "navy", which the catalog lacks`},
		{"schema: example.org.notes", "schema: olm.bundle\npackage: navy\nname: navy.v1.0.0", `50 unknown-package: bundle navy.v1.0.0 belongs to package "navy", which the catalog lacks`},
		{"schema: example.org.notes", "schema: olm.channel\npackage: fleet", "49 channel-name: a channel of package fleet has no name"},
		{"schema: example.org.notes", "schema: olm.channel\npackage: fleet\nname: beta", "49 channel-empty: channel beta has no entries"},
		{"  skips: [fleet.v1.1.1]\n", "", "10 channel-head: channel stable has several heads: fleet.v1.1.1, fleet.v1.2.0"},
		{"- name: fleet.v1.1.0\n", "- name: fleet.v1.1.0\n  skips: [fleet.v1.2.0]\n", "10 channel-head: channel stable has no head: each entry is replaced or skipped by another one"},
		{"- name: fleet.v1.1.0\n", "- name: fleet.v1.1.0\n  replaces: fleet.v1.2.0\n", "10 channel-cycle: the upgrades in channel stable form a cycle: fleet.v1.2.0 replaces fleet.v1.1.0 replaces fleet.v1.2.0"},
		{"- name: fleet.v1.1.0\n", "- name: fleet.v1.1.0\n  replaces: fleet.v1.1.0\n", "10 channel-cycle: the upgrades in channel stable form a cycle: fleet.v1.1.0 replaces fleet.v1.1.0"},
		{"  replaces: fleet.v1.1.0\n  skips: [fleet.v1.1.1]\n- name: fleet.v1.1.1\n", "  skips: [fleet.v1.1.1]\n- name: fleet.v1.1.1\n  replaces: fleet.v1.1.0\n", "14 entry-stranded: no upgrade leads from fleet.v1.1.0 to the head fleet.v1.2.0 of channel stable"},
		{"- name: fleet.v1.1.1\n", "- name: fleet.v1.1.1\n  replaces: fleet.v1.0.0\n", "13 replaces-unknown: entry fleet.v1.1.1 replaces fleet.v1.0.0, which is not a bundle of package fleet"},
		{"[fleet.v1.1.1]", "[fleet.v1.1.1, fleet.v1.0.9]\n- name: fleet.v1.0.9", `13 entry-bundle: channel stable has the entry "fleet.v1.0.9", which is not a bundle of package fleet`},
		{"[fleet.v1.1.1]", `[fleet.v1.1.1, ""]`, "10 entry-skips: entry fleet.v1.2.0 skips an empty name"},
		{">=1.0.0 <1.1.0", "1.0", `14 entry-skips: skipRange "1.0" of entry fleet.v1.1.0 is not a range of versions such as >=1.0.0 <1.2.0`},
		{"  skips: [fleet.v1.1.1]\n- name: fleet.v1.1.1\n", "", "27 bundle-channel: bundle fleet.v1.1.1 is in no channel"},
		{"- type: olm.gvk\n  value: {group: ship.example.org, kind: Frigate, version: v1}", "- type: olm.package\n  value: {packageName: fleet, version: 1.1.0}", "22 bundle-package: bundle fleet.v1.1.0 has 2 properties olm.package instead of one"},
		{"{packageName: fleet, version: 1.2.0}", "{packageName: navy, version: 1.2.0}", `40 bundle-package: property olm.package of bundle fleet.v1.2.0 names package "navy" instead of fleet`},
		{"version: 1.2.0}", "version: v1.2.0}", `40 bundle-version: version "v1.2.0" of bundle fleet.v1.2.0 is not a semantic version such as 1.0.0`},
		{"version: 1.2.0}", "version: 1.1.1}", "40 bundle-version: bundles fleet.v1.1.1 and fleet.v1.2.0 have the same version 1.1.1"},
		{"version: 1.2.0}", `version: 1.2.0, release: "1"}`, "37 bundle-version: bundle fleet.v1.2.0 has a release, so its name must be fleet-v1.2.0-1"},
		{"image: example.org/fleet-bundle:v1.2.0\n", "", "35 bundle-image: bundle fleet.v1.2.0 has no image"},
		{"fleet-bundle:v1.2.0", "Fleet:v1.2.0", `38 bundle-image: image "example.org/Fleet:v1.2.0" of bundle fleet.v1.2.0 is not a valid reference`},
		{"kind: Frigate, ", "", "24 property-value: bundle fleet.v1.1.0: property olm.gvk needs kind, a string"},
		{"olm.gvk\n  value: {group: ship.example.org, kind: Frigate, version: v1}", "olm.bundle.object\n  value: {data: '%'}", "24 property-value: bundle fleet.v1.1.0: property olm.bundle.object: illegal base64 data at input byte 0"},
		{"olm.gvk\n  value: {group: ship.example.org, kind: Frigate, version: v1}", "olm.constraint\n  value: all", "24 property-value: bundle fleet.v1.1.0: the value of property olm.constraint is not an object"},
		{"  message: Upgrade to 1.2.0.\n", "", "46 deprecation-target: a deprecation of package fleet has no message"},
		{"{schema: olm.bundle, name: fleet.v1.1.0}", "{schema: olm.channel, name: beta}", "46 deprecation-target: the deprecated channel beta does not exist"},
		{"replaces: fleet.v1.1.0\n  skips: [fleet.v1.1.1]\n- name: fleet.v1.1.1\n", "replaces: fleet.v1.1.0\n  skips: [fleet.v1.1.1]\n- name: fleet.v1.1.1\n  skips: [fleet.v1.2.1]\n", ""},
		{"- name: fleet.v1.1.0\n", "- name: fleet.v1.1.0\n  skips: [fleet.v1.1.1]\n", "14 downgrade: entry fleet.v1.1.0 replaces or skips fleet.v1.1.1, which has a higher version"},
		{"olm.gvk\n  value: {group: ship.example.org, kind: Frigate, version: v1}", "olm.csv.metadata\n  value: {annotations: {certified: true}}", "24 property-value: bundle fleet.v1.1.0: property olm.csv.metadata: annotations: a bool is not valid here"},
		{"olm.gvk\n  value: {group: ship.example.org, kind: Frigate, version: v1}", "olm.csv.metadata\n  value: {keywords: [2024]}", "24 property-value: bundle fleet.v1.1.0: property olm.csv.metadata: keywords: a number is not valid here"},
		{"olm.gvk\n  value: {group: ship.example.org, kind: Frigate, version: v1}", "olm.maxOpenShiftVersion\n  value: 4.20", "24 number: bundle fleet.v1.1.0: the value of olm.maxOpenShiftVersion is the number 4.2, not a version"},
		{"olm.gvk\n  value: {group: ship.example.org, kind: Frigate, version: v1}", "olm.maxOpenShiftVersion\n  value: \"4.20\"", ""},
		{"defaultChannel: stable", "defaultChannel: off", "3 catalog-syntax: defaultChannel: a bool is not valid here, put it into quotes"},
		{"defaultChannel: stable", "defaultChannel: 4.10", "3 catalog-syntax: defaultChannel: a number is not valid here, put it into quotes"},
		{"PHN2Zy8+", "", "4 icon-empty: the icon lacks data or a media type"},
		{"PHN2Zy8+", "data:image/png;base64,AAAA", "4 icon-data: the data of the icon is not base64, so opm cannot read the catalog"},
	} {
		src := strings.Replace(sound, tt.old, tt.new, 1)
		if !strings.Contains(sound, tt.old) {
			t.Errorf("%q is not in the catalog", tt.old)
		}
		want := []string{}
		if tt.want != "" {
			want = append(want, tt.want)
		}
		got := validate(t, src)
		for _, line := range got {
			_, rest, _ := strings.Cut(line, " ")
			rule, _, _ := strings.Cut(rest, ":")
			seen[rule] = true
		}
		if tt.want == "" && len(got) > 0 || !slices.Contains(append(got, ""), tt.want) {
			t.Errorf("%q instead of %q:\n%s", tt.new, tt.old, cmp.Diff(want, got))
		}
	}
	for _, r := range Rules {
		if !seen[r.Name] {
			t.Errorf("no case breaks the rule %s", r.Name)
		}
	}
}

// TestReadJSON reads the catalog as a stream of JSON objects, with the lines of the values.
func TestReadJSON(t *testing.T) {
	t.Parallel()
	c, _, err := Read(fstest.MapFS{"c.yaml": {Data: []byte(sound)}})
	if err != nil {
		t.Fatal(err)
	}
	src, err := JSON(c.Documents())
	if err != nil {
		t.Fatal(err)
	}
	if got := validate(t, string(src)); len(got) > 0 {
		t.Error(got)
	}
	src = []byte(strings.Replace(string(src), `"v1"`, `1`, 1))
	line := 1 + strings.Count(string(src[:strings.Index(string(src), `"type": "olm.gvk"`)]), "\n")
	want := []string{fmt.Sprintf("%d property-value: bundle fleet.v1.1.0: property olm.gvk needs version, a string", line-1)}
	if diff := cmp.Diff(want, validate(t, string(src))); diff != "" {
		t.Error(diff)
	}
	if got := validate(t, `{"schema": "a"} {`); len(got) != 1 {
		t.Error(got)
	}
}

// TestDocumentedRules compares the page about catalogs with the rules.
func TestDocumentedRules(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/catalogs.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, r := range Rules {
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", r.Name, r.Severity, r.Summary)
	}
	if !strings.Contains(string(page), want.String()) {
		t.Errorf("docs/catalogs.md lacks this table:\n%s", want.String())
	}
}

func TestIgnore(t *testing.T) {
	t.Parallel()
	c, found, err := Read(fstest.MapFS{
		".indexignore":         {Data: []byte("# notes\n*.md\n/old/\n!keep.md\nsub/*.txt\n")},
		"README.md":            {Data: []byte("- no catalog")},
		"a/README.md":          {Data: []byte("- no catalog")},
		"a/keep.md":            {Data: []byte("schema: a")},
		"old/c.yaml":           {Data: []byte("schema: b")},
		"a/old/c.yaml":         {Data: []byte("schema: c")},
		"sub/x.txt":            {Data: []byte("-")},
		"sub/.indexignore":     {Data: []byte("c.yaml")},
		"sub/deeper/c.yaml":    {Data: []byte("-")},
		"sub/deeper/more.yaml": {Data: []byte("schema: d\n---\n---\nschema: e\n")},
	})
	if err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	var got []string
	for _, d := range c.Others {
		got = append(got, fmt.Sprintf("%s:%d", d.File, d.Line))
	}
	if diff := cmp.Diff([]string{"a/keep.md:1", "a/old/c.yaml:1", "sub/deeper/more.yaml:1", "sub/deeper/more.yaml:4"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestSyntaxOrder expects that documents that cannot be read are reported by file and line.
func TestSyntaxOrder(t *testing.T) {
	t.Parallel()
	_, found, err := Read(fstest.MapFS{
		"b.yaml": {Data: []byte("name: fleet\n---\nschema: olm.channel\nentries: fleet\n---\nname: [\n")},
		"a.json": {Data: []byte("{\"name\": \"a\"}\n{\"name\": ")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s:%d", f.File, f.Line))
	}
	if diff := cmp.Diff([]string{"a.json:1", "a.json:2", "b.yaml:1", "b.yaml:4", "b.yaml:6"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestScalarsOfOpm writes words that are booleans, numbers, dates or nothing for some parsers of YAML, as a name, as a key
// and as the value of a property. operon reads a catalog if and only if opm does, with the same properties.
func TestScalarsOfOpm(t *testing.T) {
	t.Parallel()
	refused := 0
	for _, word := range []string{
		"a", "y", "Y", "yes", "Yes", "yES", "n", "NO", "no", "on", "On", "off", "OFF", "true", "False", "tRUE", "~", "null", "Null", "NaN", ".nan", ".inf", "010", "08", "0o10",
		"0x1F", "0b1", "1_000", "4.10", "1e3", "1:20", "2001-01-01", "2001-01-01T10:00:00Z", "=", "'yes'", `"no"`, "!!str on", "|\n  yes", "+1", "-0", "&a yes",
	} {
		for _, src := range []string{
			"schema: olm.package\nname: fleet\ndefaultChannel: " + word + "\n",
			"schema: " + word + "\nname: fleet\n",
			"schema: olm.channel\npackage: fleet\nname: a\nentries:\n- {name: a, skips: [" + strings.ReplaceAll(word, "|\n", "") + "]}\n",
			"schema: olm.bundle\npackage: fleet\nname: a\nimage: a\nproperties:\n- type: a\n  value: " + word + "\n",
			"schema: olm.bundle\npackage: fleet\nname: a\nimage: a\nproperties:\n- type: a\n  value: {b: {? " + strings.ReplaceAll(word, "|\n", "") + " : 1}}\n",
		} {
			if strings.Contains(src, "? .") { // keys that nobody writes
				continue
			}
			theirs, err := declcfg.LoadReader(strings.NewReader(src))
			var c Catalog
			found := c.AddFile("catalog.yaml", []byte(src))
			if (err != nil) != (len(found) > 0) {
				t.Errorf("opm: %v; operon: %v\n%s", err, found, src)
			}
			if err != nil {
				refused++
			}
			if err != nil || len(found) > 0 || len(theirs.Bundles) == 0 || theirs.Bundles[0].Properties == nil {
				continue
			}
			ours, err := json.Marshal(c.Bundles[0].Value.Properties[0].Value)
			if err != nil || !bytes.Equal(ours, theirs.Bundles[0].Properties[0].Value) {
				t.Errorf("opm reads %s; operon %s (%v)\n%s", theirs.Bundles[0].Properties[0].Value, ours, err, src)
			}
		}
	}
	if refused < 20 {
		t.Errorf("opm refuses %d catalogs: this compares little", refused)
	}
}
