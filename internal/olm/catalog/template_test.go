package catalog

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

// rendered returns the bundle of an image such as example.org/fleet:1.2.0.
func rendered(image string) (Rendered, error) {
	_, version, ok := strings.Cut(image, ":")
	if !ok {
		return Rendered{}, errors.New("no such image")
	}
	return Rendered{
		Bundle: Bundle{
			Schema: SchemaBundle, Package: "fleet", Name: "fleet.v" + version, Image: image,
			Properties: []bundle.Property{{Type: bundle.PropertyPackage, Value: map[string]any{"packageName": "fleet", "version": version}}},
		},
		Description: "Fleet " + version, Icon: &Icon{"PHN2Zy8+", "image/svg+xml"},
	}, nil
}

// TestSemverTemplate has the channels of versions, and what the package takes from its head.
func TestSemverTemplate(t *testing.T) {
	t.Parallel()
	docs, err := RenderTemplate(t.Context(), []byte(`Schema: olm.semver
GenerateMajorChannels: true
GenerateMinorChannels: true
Candidate:
  Bundles:
  - Image: example.org/fleet:1.0.0
  - Image: example.org/fleet:1.1.0
  - Image: example.org/fleet:1.0.1
  - Image: example.org/fleet:2.0.0
Stable:
  Bundles:
  - Image: example.org/fleet:1.0.1
`), rendered)
	if err != nil {
		t.Fatal(err)
	}
	got, err := YAML(docs)
	if err != nil {
		t.Fatal(err)
	}
	channels, _, _ := strings.Cut(string(got), "---\nschema: olm.bundle\n")
	want := `---
schema: olm.package
name: fleet
defaultChannel: stable-v1.0
description: Fleet 1.0.1
icon:
  base64data: PHN2Zy8+
  mediatype: image/svg+xml
---
schema: olm.channel
package: fleet
name: candidate-v1
entries:
  - name: fleet.v1.0.0
  - name: fleet.v1.0.1
    skips:
      - fleet.v1.0.0
  - name: fleet.v1.1.0
    replaces: fleet.v1.0.1
    skips:
      - fleet.v1.0.0
---
schema: olm.channel
package: fleet
name: candidate-v1.0
entries:
  - name: fleet.v1.0.0
  - name: fleet.v1.0.1
    skips:
      - fleet.v1.0.0
---
schema: olm.channel
package: fleet
name: candidate-v1.1
entries:
  - name: fleet.v1.1.0
    replaces: fleet.v1.0.1
    skips:
      - fleet.v1.0.0
---
schema: olm.channel
package: fleet
name: candidate-v2
entries:
  - name: fleet.v2.0.0
---
schema: olm.channel
package: fleet
name: candidate-v2.0
entries:
  - name: fleet.v2.0.0
---
schema: olm.channel
package: fleet
name: stable-v1
entries:
  - name: fleet.v1.0.1
---
schema: olm.channel
package: fleet
name: stable-v1.0
entries:
  - name: fleet.v1.0.1
`
	if diff := cmp.Diff(want, channels); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(string(got), "schema: olm.bundle\n"); n != 4 {
		t.Errorf("%d bundles instead of 4", n)
	}
	if found := validate(t, string(got)); len(found) > 0 {
		t.Error(found)
	}
}

func TestBasicTemplate(t *testing.T) {
	t.Parallel()
	docs, err := RenderTemplate(t.Context(), []byte(`schema: olm.template.basic
entries:
- schema: olm.package
  name: fleet
  defaultChannel: stable # the only one
- schema: olm.bundle
  image: example.org/fleet:1.0.0
`), rendered)
	if err != nil {
		t.Fatal(err)
	}
	got, err := YAML(docs)
	if err != nil {
		t.Fatal(err)
	}
	want := `---
schema: olm.package
name: fleet
defaultChannel: stable
---
schema: olm.bundle
package: fleet
name: fleet.v1.0.0
image: example.org/fleet:1.0.0
properties:
  - type: olm.package
    value:
      packageName: fleet
      version: 1.0.0
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestTemplateErrors(t *testing.T) {
	t.Parallel()
	const list = "schema: olm.semver\nstable:\n  bundles:\n"
	for src, want := range map[string]string{
		"schema: [":               "error converting YAML to JSON: yaml: line 1: did not find expected node content",
		"schema: olm.other":       `the template has the unknown schema "olm.other"`,
		"schema: olm.semver":      "render: no bundles specified or no bundles could be rendered",
		list + "  - {img: a}":     `render: unable to read file: error unmarshaling JSON: while decoding JSON: json: unknown field "img"`,
		list + "  - {image: a}":   "no such image",
		list + "  - {image: a:1}": `render: unable to post-process bundle info: bundle "fleet.v1" has invalid version "1"`,
		list + "  - {image: a:1.0.0}\n  - {image: b:1.0.0+x}":                                          "render: unable to post-process bundle info: encountered bundle versions which differ only by build metadata",
		list + "  - {image: a:1.0.0}\ndefaultChannelTypePreference: major":                             "render: unable to read file: schema attribute mismatch: DefaultChannelTypePreference set to 'major'",
		list + "  - {image: a:1.0.0}\ndefaultChannelTypePreference: patch":                             `render: unable to read file: unknown DefaultChannelTypePreference: "patch"; Valid values`,
		"schema: olm.template.basic\nentries:\n- {schema: olm.bundle, image: a:1.0.0, package: fleet}": "unexpected fields present in basic template bundle",
	} {
		_, err := RenderTemplate(t.Context(), []byte(src), rendered)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", src, err, want)
		} else if want != "no such image" && fault.HintOf(err) == "" {
			t.Errorf("%q has no hint", want)
		}
	}
}
