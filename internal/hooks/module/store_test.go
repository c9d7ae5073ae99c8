package module

import (
	"encoding/json"
	"strings"
	"testing"
)

// ownValues returns the values of a module web.
func ownValues(t *testing.T) Values {
	t.Helper()
	s, err := ParseSchemas([]byte(`{type: object, properties: {replicas: {type: integer, default: 1}}}`),
		[]byte(`{x-extend: {schema: config-values.yaml}, type: object, x-required-for-helm: [secret], properties: {secret: {type: string},
  static: {}, list: {type: array, items: {}}, internal: {type: object, additionalProperties: true, default: {}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return Values{Key: "web", Static: map[string]any{"static": "yes"}, Schemas: s}
}

func text(t *testing.T, v any) string {
	t.Helper()
	content, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestStore applies the patches of consecutive runs.
func TestStore(t *testing.T) {
	t.Parallel()
	type run struct{ values, config, refused string }
	const start = `{"global":{"zone":"a"},"web":{"internal":{},"replicas":1,"static":"yes"}}`
	for name, c := range map[string]struct {
		config map[string]any
		runs   []run
		values string
		stored string
	}{
		"nothing": {runs: []run{{}}, values: start, stored: `{"global":null,"web":null}`},
		"single operations, lists, and what is neither": {
			runs:   []run{{values: `1 "x" {"op":"add","path":"/web/internal/a","value":1} [{"op":"add","path":"/web/internal/b","value":null}]`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{"a":1,"b":null},"replicas":1,"static":"yes"}}`},
		"no JSON":            {runs: []run{{values: `{`, refused: "$VALUES_JSON_PATCH_PATH: unexpected EOF"}}, values: start},
		"no JSON for config": {runs: []run{{config: `x`, refused: "$CONFIG_VALUES_JSON_PATCH_PATH: invalid character"}}, values: start},
		"replace":            {runs: []run{{values: `{"op":"replace","path":"/web/replicas","value":2}`, refused: "replace of /web/replicas is refused"}}, values: start},
		"values of others":   {runs: []run{{values: `{"op":"add","path":"/global/zone","value":"b"}`, refused: "add of /global/zone is refused: a hook of this module may change only values below /web"}}, values: start},
		"a switch":           {runs: []run{{values: `{"op":"add","path":"/webEnabled","value":true}`, refused: "add of /webEnabled is refused"}}, values: start},
		"move":               {runs: []run{{values: `{"op":"move","from":"/web/static","path":"/web/secret"}`, refused: "from"}}, values: start},
		"no parent":          {runs: []run{{values: `{"op":"add","path":"/web/internal/a/b","value":1}`, refused: "missing path"}}, values: start},
		"nothing to remove":  {runs: []run{{values: `{"op":"remove","path":"/web/internal/a"}`, refused: "nonexistent key"}}, values: start},
		"no object any more": {runs: []run{{values: `{"op":"add","path":"/web","value":1}`, refused: "web must stay an object"}}, values: start},
		"a misfit":           {runs: []run{{values: `{"op":"add","path":"/web/other","value":1}`, refused: "$VALUES_JSON_PATCH_PATH: web.other"}}, values: start},
		"a type":             {runs: []run{{values: `{"op":"add","path":"/web/replicas","value":"two"}`, refused: "web.replicas must be of type integer, not string"}}, values: start},
		"what is required for the chart alone": {runs: []run{{values: `{"op":"add","path":"/web/internal/a","value":1}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{"a":1},"replicas":1,"static":"yes"}}`},
		"of several at one path the last is kept": {
			runs: []run{{values: `{"op":"add","path":"/web/list","value":[]} {"op":"add","path":"/web/list/-","value":1} {"op":"add","path":"/web/list/-","value":2}`},
				{values: `{"op":"add","path":"/web/internal/a","value":1}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{"a":1},"list":[2],"replicas":1,"static":"yes"}}`},
		"a parent voids what is below it": {
			runs: []run{{values: `{"op":"add","path":"/web/internal/a","value":{}} {"op":"add","path":"/web/internal/a/b","value":1}`},
				{values: `{"op":"add","path":"/web/internal","value":{"c":1}}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{"c":1},"replicas":1,"static":"yes"}}`},
		"what is removed comes back no more": {
			runs:   []run{{values: `{"op":"add","path":"/web/internal/a","value":1}`}, {values: `{"op":"remove","path":"/web/internal/a"}`}},
			values: start},
		"the ConfigMap": {config: map[string]any{"web": map[string]any{"replicas": 2.0}},
			runs:   []run{{config: `{"op":"add","path":"/web/replicas","value":3}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{},"replicas":3,"static":"yes"}}`, stored: `{"global":null,"web":{"replicas":3}}`},
		"a section that is not there takes no keys": {runs: []run{{config: `{"op":"add","path":"/web/replicas","value":3}`, refused: "missing path"},
			{config: `{"op":"add","path":"/web","value":{"replicas":3}}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{},"replicas":3,"static":"yes"}}`, stored: `{"global":null,"web":{"replicas":3}}`},
		"a misfit of the ConfigMap": {config: map[string]any{"web": map[string]any{"replicas": 2.0}},
			runs:   []run{{config: `{"op":"add","path":"/web/secret","value":"x"}`, refused: "$CONFIG_VALUES_JSON_PATCH_PATH: web.secret"}},
			values: `{"global":{"zone":"a"},"web":{"internal":{},"replicas":2,"static":"yes"}}`},
		"the ConfigMap comes first and stays": {config: map[string]any{"web": map[string]any{}},
			runs:   []run{{config: `{"op":"add","path":"/web/replicas","value":3}`, values: `{"op":"test","path":"/web/replicas","value":3}`, refused: "$VALUES_JSON_PATCH_PATH: testing value /web/replicas failed"}},
			values: `{"global":{"zone":"a"},"web":{"internal":{},"replicas":3,"static":"yes"}}`, stored: `{"global":null,"web":{"replicas":3}}`},
	} {
		t.Run(name, func(t *testing.T) {
			own := ownValues(t)
			s, err := NewStore(Values{Key: "global"}, &own, c.config, map[string]any{"global": map[string]any{"zone": "a"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range c.runs {
				applyPatches(t, s, r.values, r.config, r.refused)
			}
			if got := text(t, s.Values()); got != c.values {
				t.Errorf("values\n got %s\nwant %s", got, c.values)
			}
			if got := text(t, s.Config()); c.stored != "" && got != c.stored {
				t.Errorf("config\n got %s\nwant %s", got, c.stored)
			}
		})
	}
}

// applyPatches applies the patches of a run to a store. refused is the expected error, or
// "".
func applyPatches(t *testing.T, s *Store, values, config, refused string) {
	t.Helper()
	take, err := s.Read([]byte(values), []byte(config))
	if err == nil {
		err = take()
	}
	switch {
	case err == nil && refused != "":
		t.Errorf("%s%s is taken, want %q", values, config, refused)
	case err != nil && (refused == "" || !strings.Contains(err.Error(), refused)):
		t.Errorf("%s%s: %v, want %q", values, config, err, refused)
	}
}

// TestStoreGlobal applies patches of global hooks, which also enable modules.
func TestStoreGlobal(t *testing.T) {
	t.Parallel()
	s, err := NewStore(Values{Key: "global"}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	applyPatches(t, s, `{"op":"add","path":"/global/zone","value":"a"}`, `{"op":"add","path":"/webEnabled","value":true}`, "")
	applyPatches(t, s, `{"op":"add","path":"/web/replicas","value":1}`, "", "a global hook may change only values below /global and switches")
	applyPatches(t, s, `{"op":"add","path":"/webEnabled","value":"true"}`, "", "needs the value true or false")
	applyPatches(t, s, `{"op":"add","path":"/dnsEnabled","value":false}`, "", "")
	applyPatches(t, s, `{"op":"remove","path":"/webEnabled","value":true}`, "", "")
	// If a patch has one enabled key, the engine expects only enabled keys in it.
	applyPatches(t, s, `{"op":"add","path":"/global/late","value":"b"} {"op":"add","path":"/webEnabled","value":true}`, "", "in one patch with a switch")
	if got, want := text(t, s.Values()), `{"dnsEnabled":false,"global":{"late":"b","zone":"a"}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	values, config, err := s.Files()
	if err != nil || string(values) != `{"global":{"late":"b","zone":"a"}}` || string(config) != `{"global":null}` {
		t.Errorf("a hook is given %s and %s, %v", values, config, err)
	}
}

// TestStoreGiven checks that invalid initial values are errors.
func TestStoreGiven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config, before map[string]any
		want           string
	}{
		{config: map[string]any{"wbe": map[string]any{}}, want: "configValues: wbe is not known here: global or web"},
		{before: map[string]any{"web": 1}, want: "values: web must be an object"},
		{config: map[string]any{"web": map[string]any{"replicas": "x"}}, want: "configValues: web.replicas must be of type integer, not string"},
		{before: map[string]any{"web": map[string]any{"replica": 1}}, want: "values: web.replica"},
	} {
		own := ownValues(t)
		if _, err := NewStore(Values{Key: "global"}, &own, c.config, c.before); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v: %v, want %q", c.config, c.before, err, c.want)
		}
	}
}
