package module

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/enginetest"
)

// project is the input of the program in ../testdata/addon.
type project struct {
	Files  map[string]string         `json:"files"`
	Config map[string]map[string]any `json:"config"`
	Runs   []hookOutput              `json:"runs"`
}

// hookOutput has the patches that a hook writes in one run.
type hookOutput struct {
	Values string `json:"values"`
	Config string `json:"config"`
}

// state is the state after a run.
type state struct {
	Refused  bool             `json:"refused"`
	Values   map[string]any   `json:"values"`
	Config   map[string]any   `json:"config"`
	Switches map[string]*bool `json:"switches"`
}

// The files of a project whose hook patches values.
const (
	patchedHook = `#!/bin/sh
if [ "$1" = --config ]; then
  echo '{"configVersion": "v1", "STEP": 1}'
else
  cat values >"$VALUES_JSON_PATCH_PATH"
  cat config >"$CONFIG_VALUES_JSON_PATCH_PATH"
fi
`
	patchedStatic = "global: {zone: a}\nweb: {static: {deep: 1}}\n"
	patchedConfig = `{type: object, properties: {replicas: {type: integer, default: 1}, labels: {type: object, additionalProperties: {type: string}}}}`
	patchedValues = `{type: object, x-extend: {schema: config-values.yaml}, x-required-for-helm: [secret], properties: {secret: {type: string},
  static: {type: object, additionalProperties: true}, list: {type: array, items: {}}, internal: {type: object, additionalProperties: true, default: {}}}}`
	globalValues = `{type: object, additionalProperties: true, properties: {zone: {type: string}, size: {type: integer, default: 3}}}`
)

// TestPatches applies thousands of values patches and compares the results with the results of
// addon-operator.
func TestPatches(t *testing.T) {
	t.Parallel()
	enginetest.Compare(t, "../testdata/addon", "patches", patchedProjects(t), func(text string) string {
		var p project
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		states, err := p.run(t)
		return enginetest.Verdict(err != nil, states)
	})
}

// run applies the patches of a project, run by run. The error is an error before the first run.
func (p project) run(t *testing.T) ([]state, error) {
	t.Helper()
	read := func(file string) []byte { return []byte(p.Files[file]) }
	static := object(t, p.Files["modules/values.yaml"])
	section := func(key string) map[string]any { s, _ := static[key].(map[string]any); return s }
	schemas, err := ParseSchemas(read("global-hooks/openapi/config-values.yaml"), read("global-hooks/openapi/values.yaml"))
	if err != nil {
		return nil, err
	}
	global := Values{Key: "global", Static: section("global"), Schemas: schemas}
	var own *Values
	if _, exists := p.Files["modules/010-web/hooks/hook.sh"]; exists {
		if schemas, err = ParseSchemas(read("modules/010-web/openapi/config-values.yaml"), read("modules/010-web/openapi/values.yaml")); err != nil {
			return nil, err
		}
		own = &Values{Key: "web", Static: section("web"), Schemas: schemas}
	}
	config := map[string]any{}
	for key, values := range p.Config {
		config[key] = values
	}
	s, err := NewStore(global, own, config, nil)
	if err != nil {
		return nil, err
	}
	var states []state
	for _, r := range p.Runs {
		apply, err := s.Read([]byte(r.Values), []byte(r.Config))
		if err == nil {
			err = apply()
		}
		after := state{Refused: err != nil, Values: s.Values(), Config: s.Config(), Switches: map[string]*bool{}}
		for _, name := range []string{"dns", "web"} {
			if enabled, isSet := after.Values[name+enabledSuffix].(bool); isSet {
				after.Switches[name] = &enabled
			} else if own == nil {
				after.Switches[name] = nil
			}
		}
		for key := range after.Values {
			if strings.HasSuffix(key, enabledSuffix) {
				delete(after.Values, key)
			}
		}
		states = append(states, after)
	}
	return states, nil
}

// The parts of generated patches.
var (
	patchOps   = []string{"add", "add", "add", "add", "add", "add", "remove", "remove", "remove", "test", "test", "replace", "move", "copy", "", "Add", "nope"}
	ownPaths   = []string{"", "/web", "/internal", "/internal/a", "/internal/a", "/internal/a/b", "/internal/~1x", "/internal/~0x", "/internal/~01", "/internal/~2", "/internal/ü", "/internal/", "/internal//", "/list", "/list", "/list/0", "/list/1", "/list/-", "/list/-", "/list/-1", "/list/-9", "/list/01", "/list/x", "/list/0/k", "/replicas", "/replicas/x", "/labels", "/labels/x", "/secret", "/other", "/static", "/static/deep", "/static/deep/er", "/"}
	otherPaths = []string{"", "/", "//", "web", "web/replicas", "/other/x", "/global", "/globalx/y", "/web~1x", "/we~0b/x", "/Enabled", "/webEnabled", "/webEnabled/x", "/dnsEnabled", "/dnsEnabled", "/webenabled", "/x/dnsEnabled"}
	globals    = []string{"/zone", "/zone", "/zone/x", "/size", "/size", "/new", "/new/deep", "", "/enabledModules", "/"}
	patchValue = []string{"1", "2", "1.0", "1.5", "2e3", "12345678901234567890", "true", "false", "true", `"true"`, `"x"`, `"<&>\u2028"`, "null", "{}", "{}", `{"b": 1}`, `{"a": {"b": [1, {"k": null}]}}`, "[]", "[]", "[1, 2]", `[{"k": 1}]`, `{"replicas": 3}`, `{"labels": {"x": "y"}, "internal": {"a": {}}, "list": [1]}`, `{"deep": 1}`, `"TRUE"`}
)

// patchedProjects returns generated projects, the same in every run.
func patchedProjects(t *testing.T) []string {
	t.Helper()
	var texts []string
	add := func(global, schema bool, config map[string]map[string]any, runs ...hookOutput) {
		p := project{Config: config, Runs: runs, Files: map[string]string{
			"modules/values.yaml": patchedStatic, "modules/010-web/openapi/config-values.yaml": patchedConfig,
			"modules/010-web/openapi/values.yaml": patchedValues, "modules/020-dns/README.md": "", "global-hooks/README.md": ""}}
		hook, step := "modules/010-web/hooks/hook.sh", "beforeHelm"
		if global {
			hook, step = "global-hooks/hooks/hook.sh", "beforeAll"
		}
		p.Files[hook] = strings.Replace(patchedHook, "STEP", step, 1)
		if schema {
			p.Files["global-hooks/openapi/values.yaml"], p.Files["global-hooks/openapi/config-values.yaml"] = globalValues, globalValues
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, unusual := range unusualPatches {
		add(false, false, nil, hookOutput{Values: unusual}, hookOutput{Values: `{"op": "add", "path": "/web/internal/last", "value": 1}`})
		add(true, false, nil, hookOutput{Values: unusual}, hookOutput{Values: `{"op": "add", "path": "/global/last", "value": 1}`})
		add(false, false, map[string]map[string]any{"web": {"replicas": 2}}, hookOutput{Config: unusual})
	}
	r := rand.New(rand.NewPCG(5, 6))
	configs := []map[string]map[string]any{nil, {"web": {}}, {"web": {"replicas": 2}}, {"web": {"labels": map[string]any{"x": "y"}}, "global": {"zone": "c"}}}
	for range 1200 {
		global := r.IntN(4) == 0
		config := configs[r.IntN(len(configs))]
		var runs []hookOutput
		for range 1 + r.IntN(3) {
			output := hookOutput{}
			if r.IntN(8) > 0 {
				output.Values = generatePatch(r, global)
			}
			if r.IntN(3) == 0 {
				output.Config = generatePatch(r, global)
			}
			runs = append(runs, output)
		}
		if global { // global hooks have no values of modules
			config = map[string]map[string]any{"global": {"zone": "b"}}
		}
		add(global, r.IntN(2) == 0, config, runs...)
	}
	return texts
}

// generatePatch returns a patch file in one of the accepted forms.
func generatePatch(r *rand.Rand, global bool) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var ops []string
	for range 1 + r.IntN(4)*r.IntN(2) {
		path := pick(otherPaths)
		allowed := r.IntN(12) > 0
		switch {
		case global && allowed && r.IntN(3) > 0:
			path = "/global" + pick(globals)
		case !global && allowed:
			path = "/web" + pick(ownPaths)
		}
		op := fmt.Sprintf(`{"op": %q, "path": %q`, pick(patchOps), path)
		if r.IntN(8) > 0 {
			op += `, "value": ` + pick(patchValue)
		}
		if r.IntN(30) == 0 {
			op += `, "OP": "add"`
		}
		if r.IntN(8) == 0 {
			op += `, "from": "/web/static"`
		}
		ops = append(ops, op+"}")
	}
	if r.IntN(3) == 0 {
		return "[" + strings.Join(ops, ", ") + "]"
	}
	return strings.Join(ops, "\n")
}

// unusualPatches are patch files of unusual forms.
var unusualPatches = []string{
	"", " \n", "null", "1", `"x"`, "true", "[]", "{}", "[{}]", "[[]]", "[1]", "[null]", `["x"]`, `{"op": "add"}`, `{"path": "/web/internal/a"}`, "x", "{", "[", `{"op": "add"} x`,
	`{"op": 1, "path": "/web/internal/a", "value": 1}`, `{"op": null, "path": "/web/internal/a", "value": 1}`, `{"op": "add", "path": 1, "value": 1}`, `{"op": "add", "path": null, "value": 1}`,
	`{"op": "add", "path": "/web/internal/a", "value": null}`, `{"op": "add", "path": "/web/internal/a"}`, `{"Op": "add", "PATH": "/web/internal/a", "Value": 1}`,
	`{"op": "remove", "op": "add", "path": "/web/internal/a", "value": 1}`, `{"op": "add", "OP": "remove", "path": "/web/internal/a", "value": 1}`, `{"op": "add", "path": "/web/internal/a", "value": 1, "more": 2}`,
	`{"op": "add", "path": "/web/internal/a", "value": 1}{"op": "add", "path": "/web/internal/b", "value": 2}`, `{"op": "add", "path": "/web/internal/a", "value": 1}, {"op": "add", "path": "/web/internal/b", "value": 2}`,
	`[{"op": "add", "path": "/web/internal/a", "value": 1}, 5]`, `[{"op": "add", "path": "/web/internal/a", "value": 1}, null]`, `[[{"op": "add", "path": "/web/internal/a", "value": 1}]]`,
	"---\nop: add\npath: /web/internal/a\nvalue: 1\n", "\xef\xbb\xbf{}", `{"op": "add", "path": "/web/internal/a", "value": 1} {"op": "add", "path": "/web/internal/b", "value":`,
	`{"op": "test", "path": "/web/replicas", "value": 1}`, `{"op": "test", "path": "/web/replicas", "value": 1.0}`, `{"op": "test", "path": "/web/internal/none", "value": null}`, `{"op": "test", "path": "/web/internal/none"}`,
	`{"op": "test", "path": "", "value": {}}`, `{"op": "add", "path": "", "value": {"web": {}}}`, `{"op": "remove", "path": ""}`, `{"op": "remove", "path": "/web"}`, `{"op": "add", "path": "/web", "value": null}`,
	`{"op": "add", "path": "/global/a", "value": 1} {"op": "test", "path": "/global/a", "value": 1}`, `{"op": "remove", "path": "/dnsEnabled"}`, `{"op": "remove", "path": "/dnsEnabled", "value": false}`,
	`{"op": "add", "path": "/dnsEnabled", "value": true} {"op": "add", "path": "/global/a", "value": true}`, `{"op": "add", "path": "/global/a", "value": 1} {"op": "add", "path": "/dnsEnabled", "value": true}`,
	`{"op": "test", "path": "/dnsEnabled", "value": true}`, `{"op": "add", "path": "/dnsEnabled", "value": "false"}`, `{"op": "add", "path": "/dnsEnabled", "value": 0}`,
}
