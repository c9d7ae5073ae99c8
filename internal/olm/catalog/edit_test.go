package catalog

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAppendEntry checks that an entry is added in the style of the file, and that all other bytes
// stay.
func TestAppendEntry(t *testing.T) {
	t.Parallel()
	entry := Entry{Name: "fleet.v0.2.0", Replaces: "fleet.v0.1.0", Skips: []string{"fleet.v0.1.1"}}
	for _, tc := range []struct{ name, before, after string }{
		{"YAML", `# ours
schema: olm.channel
package: fleet
name: fast
entries: [{name: fleet.v0.1.0}]
--- # the channel for most users
schema: "olm.channel"
package: fleet   # the package
name: stable
entries:
# the first version
- name: fleet.v0.1.0   # no upgrade
description: |
  text
   --- no document
---
schema: olm.bundle
`, `# ours
schema: olm.channel
package: fleet
name: fast
entries: [{name: fleet.v0.1.0}]
--- # the channel for most users
schema: "olm.channel"
package: fleet   # the package
name: stable
entries:
# the first version
- name: fleet.v0.1.0   # no upgrade
- name: fleet.v0.2.0
  replaces: fleet.v0.1.0
  skips:
    - fleet.v0.1.1
description: |
  text
   --- no document
---
schema: olm.bundle
`},
		{"JSON", `{"schema": "olm.package", "name": "fleet"}
{
  "schema": "olm.channel", "package": "fleet",
  "entries": [
    {"name": "fleet.v0.1.0"}
  ],
  "name": "stable"
}
`, `{"schema": "olm.package", "name": "fleet"}
{
  "schema": "olm.channel", "package": "fleet",
  "entries": [
    {"name": "fleet.v0.1.0"},
    {
        "name": "fleet.v0.2.0",
        "replaces": "fleet.v0.1.0",
        "skips": [
            "fleet.v0.1.1"
        ]
    }
  ],
  "name": "stable"
}
`},
		{
			"one line of JSON", `{"schema":"olm.channel","package":"fleet","name":"stable","entries":[{"name":"fleet.v0.1.0"}]}`,
			`{"schema":"olm.channel","package":"fleet","name":"stable","entries":[{"name":"fleet.v0.1.0"},{"name":"fleet.v0.2.0","replaces":"fleet.v0.1.0","skips":["fleet.v0.1.1"]}]}`,
		},
		{
			"no entries in JSON", `{"schema":"olm.channel","package":"fleet","name":"stable","entries":[]}`,
			`{"schema":"olm.channel","package":"fleet","name":"stable","entries":[{"name":"fleet.v0.2.0","replaces":"fleet.v0.1.0","skips":["fleet.v0.1.1"]}]}`,
		},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			before, after := strings.ReplaceAll(tc.before, "\n", end), strings.ReplaceAll(tc.after, "\n", end)
			got, err := appendEntry([]byte(before), "fleet", "stable", entry)
			if err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
			if diff := cmp.Diff(after, string(got)); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.name, diff)
			}
		}
	}
}

// TestAppendEntryErrors checks that a place that cannot be edited is an error with its line.
func TestAppendEntryErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ src, message string }{
		{"schema: olm.channel\npackage: fleet\nname: fast\n", "cannot be edited"},
		{"schema: olm.package\n---\nschema: olm.channel\npackage: fleet\nname: stable\nentries: text\n", "6:"},
		{`{"schema":"olm.channel","package":"fleet","name":"stable","entries":1}`, "entries is not a list"},
	} {
		got, err := appendEntry([]byte(tc.src), "fleet", "stable", Entry{Name: "x"})
		if err == nil || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%q: got %v\n%s", tc.src, err, got)
		}
	}
}

// TestDocuments checks that documents are appended and replaced in the format of the file.
func TestDocuments(t *testing.T) {
	t.Parallel()
	old, next := Bundle{SchemaBundle, "fleet", "fleet.v1.0.0", "a.example/old:v1", nil, nil}, Bundle{SchemaBundle, "fleet", "fleet.v1.0.0", "a.example/new:v1", nil, nil}
	for _, before := range []string{
		"", "# ours\nschema: olm.package\nname: fleet", "{\"schema\": \"olm.package\"}\n",
		"# ours\r\nschema: olm.package\r\nname: fleet", "# ours\r\nschema: olm.package\r\n", "{\r\n\"schema\": \"olm.package\"}\r\n",
	} {
		var src []byte
		var err error
		for _, doc := range []any{old, Package{SchemaPackage, "navy", "beta", "", nil, nil}} {
			if src, err = appendDocument(append([]byte(before), src[min(len(src), len(before)):]...), doc); err != nil {
				t.Fatal(err)
			}
		}
		if src, err = replaceBundle(src, next); err != nil {
			t.Fatal(err)
		}
		c := &Catalog{}
		found := c.AddFile("catalog.yaml", src)
		if len(found) > 0 || len(c.Bundles) != 1 || c.Bundles[0].Value.Image != next.Image || c.Packages[len(c.Packages)-1].Value.Name != "navy" || !strings.HasPrefix(string(src), before) {
			t.Errorf("%v\n%s", found, src)
		}
		if crlf := bytes.Count(src, []byte("\r\n")); crlf != 0 != strings.Contains(before, "\r") || crlf != 0 && crlf != bytes.Count(src, []byte("\n")) {
			t.Errorf("line endings differ: %q", src)
		}
	}
}

// TestNewEntry checks what an added bundle replaces.
func TestNewEntry(t *testing.T) {
	t.Parallel()
	c := &Catalog{}
	c.AddFile("catalog.yaml", []byte(`
schema: olm.channel
package: fleet
name: stable
entries:
- {name: v1}
- {name: v2, replaces: v1}
- {name: v3, replaces: v2}
---
schema: olm.channel
package: fleet
name: forked
entries: [{name: v1}, {name: v2}]
`))
	for _, tc := range []struct {
		channel string
		upgrade Upgrade
		want    string // what it replaces, or a part of the error
	}{
		{"stable", Upgrade{}, "v3"},
		{"stable", Upgrade{SkipRange: "<4.0.0"}, "v3"},
		{"stable", Upgrade{Skips: []string{"v3"}}, "v2"},
		{"stable", Upgrade{Skips: []string{"v1", "v2", "v3"}}, ""},
		{"stable", Upgrade{Replaces: "v1"}, "v1"},
		{"new", Upgrade{}, ""},
		{"new", Upgrade{Replaces: "v0"}, "v0"},
		{"forked", Upgrade{Replaces: "v2"}, "v2"},
		{"forked", Upgrade{}, "error: channel forked has several heads"},
		{"stable", Upgrade{Replaces: "v0"}, "error: channel stable has no entry v0 to be replaced"},
		{"stable", Upgrade{SkipRange: "newest"}, `error: skip range "newest" is not a range of versions`},
	} {
		e, err := c.newEntry("fleet", tc.channel, "v4", tc.upgrade)
		got := e.Replaces
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tc.want {
			t.Errorf("%s %+v: got %q, want %q", tc.channel, tc.upgrade, got, tc.want)
		}
	}
}
