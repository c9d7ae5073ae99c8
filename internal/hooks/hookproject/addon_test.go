package hookproject

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/testkit/enginetest"
)

// The files of a project with which addon-operator starts.
const (
	allValues    = "modules/values.yaml"
	ownValues    = "modules/010-web/values.yaml"
	configSchema = "modules/010-web/openapi/config-values.yaml"
	valuesSchema = "modules/010-web/openapi/values.yaml"
	ownHook      = "modules/010-web/hooks/a.sh"
	globalHook   = "global-hooks/hooks/a.sh"
)

var startingProject = map[string]string{
	allValues:                "global: {}\nwebEnabled: true\n",
	ownValues:                "web: {}\n",
	configSchema:             "type: object\nproperties: {replicas: {type: integer, default: 1, minimum: 0}}\n",
	valuesSchema:             "x-extend: {schema: config-values.yaml}\ntype: object\nproperties: {internal: {type: object, additionalProperties: true, default: {}}}\n",
	"global-hooks/README.md": "",
}

// absent marks a file that does not exist.
const absent = "\x00"

const failing = "#!/bin/sh\nexit 1\n"

// configHook returns a hook that prints a configuration.
func configHook(config string) string { return "#!/bin/sh\ncat <<'END'\n" + config + "\nEND\n" }

// oddFiles are unusual contents of a single file, which replace or extend the starting
// project.
var oddFiles = []struct {
	file  string
	texts []string
}{
	{allValues, []string{
		absent, "", "# nothing\n", "---\n", "{}", "null", "[]", "x", "a: b: c", "\ta: 1", "a: 1\na: 2", "global: {a: 1, a: 2}", "web: {replicas: 1, replicas: 2}", "x: &x {b: 1}\n<<: *x\n<<: *x",
		"webEnabled: true", "webEnabled: yes", "webEnabled: on", "webEnabled: off", "webEnabled: y", "webEnabled: True", "webEnabled: \"true\"", "webEnabled: !!bool yes", "webEnabled: 1", "webEnabled:", "webEnabled: {}",
		"%YAML 1.1\n---\nwebEnabled: yes", "otherEnabled: false", "otherEnabled: no", "Enabled: true", "Enabled: x", "webEnabled: true\n---\nwebEnabled: x", "x: &x {webEnabled: true}\n<<: *x", "<<: {webEnabled: x}", "enabled: x",
		"global: {a: 1}", "global: 1", "global: [1]", "global:", "web: {replicas: 2}", "web: 1", "web:", "web: []", "web: {replicas: two}", "none: 1", "1: x", "true: x", "~: x", "? [a]\n: 1", "a: !!int x", "x: &a {b: 1}\nweb: {<<: *a}",
	}},
	{ownValues, []string{
		absent, "", "web: {replicas: 2}", "web: {replicas: two}", "web: {replicas: -1}", "web: {replicas: 2.0}", "web: {replicas: 2.5}", "web: {replicas: null}", "web: {replicas: 1, replicas: 2}", "web: {}\nweb: {replicas: two}",
		"web: {other: 1}", "web: 1", "web:", "other: {a: 1}", "- 1", "x", "a: b: c", "webEnabled: x", "webEnabled: yes",
	}},
	{configSchema, []string{
		"", "# nothing\n", "type: object", "[]", "x", "type: [object", "properties: []", "type: nothing", "properties: {a: {type: integer, default: x}}", "properties: {a: {type: integer, minimum: x}}",
		"properties: {b: {$ref: '#/definitions/x'}}", "definitions: {x: {type: string}}\nproperties: {b: {$ref: '#/definitions/x'}}",
	}},
	{valuesSchema, []string{"properties: {a: {type: integer, default: x}}", "x-extend: {schema: config-values.yaml}\nproperties: {a: {type: string}}", "x-extend: config-values.yaml", "x-extend: {schema: 1}"}},
	{"modules/010-web/openapi/values.yml", []string{"x"}},
	{"modules/010-web/openapi/more.yaml", []string{"a: b: c"}},
	{"global-hooks/openapi/values.yaml", []string{"type: [object"}},
	{ownHook, []string{
		failing, "#!/no/such/program\n", "#!/bin/sh\r\n", configHook(""), configHook(`{"configVersion": "v1", "beforeHelm": 1}`), configHook(`{"configVersion": "v1", "beforeAll": 1}`),
		configHook("configVersion: v1\nbeforeHelm: 1\nbeforeHelm: 2"), configHook("configVersion: v1\nschedule:\n- crontab: x"),
	}},
	{"modules/010-web/hooks/lib/a.sh", []string{failing}},
	{"modules/010-web/hooks/venv/a.sh", []string{failing}},
	{"modules/010-web/hooks/.x/a.sh", []string{failing}},
	{"modules/010-web/hooks/sub/a.sh", []string{failing}},
	{"modules/010-web/hooks/a.yaml", []string{failing}},
	{"modules/010-web/hooks/plain", []string{configHook(`{"configVersion": "v1", "afterHelm": 1}`)}},
	{"modules/010-web/hooks/a.py", []string{"#!/usr/bin/env python3\nprint('configVersion: v1\\nafterHelm: 1')\n", "#!/usr/bin/env python3\nraise SystemExit(2)\n"}},
	{globalHook, []string{configHook(`{"configVersion": "v1", "beforeAll": 1}`), configHook(`{"configVersion": "v1", "beforeHelm": 1}`)}},
	{"global-hooks/a.sh", []string{configHook(`{"configVersion": "v1", "afterAll": 1}`), configHook("nothing")}},
	{"global-hooks/hooks/lib/a.sh", []string{configHook("nothing")}},
	{"modules/010-web/enabled", []string{failing, "text"}},
}

// oddFolders are unusual names in the folder of modules.
var oddFolders = []string{"web2", "web-2", "020-Web", "020-dns_x", "020-web", ".hidden", "-x", "010-", "99999999999-x", "a-b-c", "020-ümlaut", "020-a1-b", "020-web-enabled"}

// oddPairs are files whose combination matters.
var oddPairs = []map[string]string{
	{allValues: "web: 1", ownValues: ""}, {allValues: "web:", ownValues: ""}, {allValues: "web: {replicas: 2}", ownValues: ""}, {allValues: "web: 1", ownValues: absent}, {allValues: "web: {replicas: two}", ownValues: "web: {replicas: 2}"},
	{allValues: "web: 1", ownValues: "web: {replicas: two}"}, {allValues: "web: {replicas: 2}", ownValues: "web:"}, {allValues: "global: {a: 1}", "global-hooks/openapi/values.yaml": "properties: {a: {type: string}}"},
	{valuesSchema: "additionalProperties: true", ownValues: "web: {any: 1}"}, {valuesSchema: "properties: {a: {type: object, properties: {b: {type: string}}}}", ownValues: "web: {a: {b: x}}"},
	{valuesSchema: "properties: {a: {type: object}}", ownValues: "web: {a: {b: x}}"}, {valuesSchema: "properties: {a: {type: array, items: {type: object, properties: {b: {}}}}}", ownValues: "web: {a: [{b: 1}, {c: 1}]}"},
	{valuesSchema: "properties: {a: {type: string, pattern: '^[a-z]+$'}}", ownValues: "web: {a: A}"}, {valuesSchema: "properties: {a: {type: string, pattern: '('}}", ownValues: "web: {a: A}"},
	{valuesSchema: "properties: {a: {type: string, enum: [x, y]}}", ownValues: "web: {a: z}"}, {valuesSchema: "properties: {a: {oneOf: [{type: string}, {type: integer}]}}", ownValues: "web: {a: true}"},
	{valuesSchema: "properties: {a: {type: string, format: ipv4}}", ownValues: "web: {a: nope}"}, {valuesSchema: "patternProperties: {'^x': {type: string}}", ownValues: "web: {xy: z}"},
	{valuesSchema: "properties: {a: {type: string, x-nullable: true}}", ownValues: "web: {a: null}"}, {valuesSchema: "properties: {a: {type: string, nullable: true}}", ownValues: "web: {a: null}"},
	{valuesSchema: "properties: {a: {allOf: [{required: [b]}], additionalProperties: true}}", ownValues: "web: {a: {c: 1}}"}, {valuesSchema: "properties: {a: {minLength: 3}}", ownValues: "web: {a: ab}"},
	{valuesSchema: "a: &x {type: string}\nproperties: {a: *x}", ownValues: "web: {a: 1}"}, {globalHook: configHook("configVersion: v1\nonStartup: 1"), "global-hooks/b.sh": configHook("nothing")},
}

// projects returns the projects for addon-operator, in the format of ../testdata/addon.
func projects(t *testing.T) []string {
	t.Helper()
	changes := []map[string]string{{}, {"modules/file.txt": "x"}}
	for _, odd := range oddFiles {
		for _, text := range odd.texts {
			changes = append(changes, map[string]string{odd.file: text})
		}
	}
	for _, name := range oddFolders {
		changes = append(changes, map[string]string{"modules/" + name + "/x": ""})
	}
	var texts []string
	for _, change := range append(changes, oddPairs...) {
		files := maps.Clone(startingProject)
		maps.Copy(files, change)
		maps.DeleteFunc(files, func(_, text string) bool { return text == absent })
		text, err := json.Marshal(map[string]any{"files": files})
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// TestModulesStart checks that Validate rejects exactly the projects with which
// addon-operator does not start or cannot run a module.
func TestModulesStart(t *testing.T) {
	t.Parallel()
	enginetest.Compare(t, "../testdata/addon", "start", projects(t), func(text string) string {
		var p struct{ Files map[string]string }
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for name, content := range p.Files {
			name = filepath.Join(dir, filepath.FromSlash(name))
			mode := os.FileMode(0o644)
			if strings.HasPrefix(content, "#!") {
				mode = 0o755
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(content), mode); err != nil {
				t.Fatal(err)
			}
		}
		v, err := Loader{Path: os.Getenv("PATH"), Timeout: 10 * time.Second}.validateAddon(t.Context(), dir, Addon{Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		return enginetest.Verdict(slices.ContainsFunc(v.Findings, finding.Finding.IsError), nil)
	})
}
