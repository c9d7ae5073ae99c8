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

// text returns a value as JSON.
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
	type run struct{ values, config, err string }
	const start = `{"global":{"zone":"a"},"web":{"internal":{},"replicas":1,"static":"yes"}}`
	for name, c := range map[string]struct {
		config map[string]any
		runs   []run
		values string
		stored string
	}{
		"no patch": {runs: []run{{}}, values: start, stored: `{"global":null,"web":null}`},
		"operations, lists of operations, and other values": {
			runs:   []run{{values: `1 "x" {"op":"add","path":"/web/internal/a","value":1} [{"op":"add","path":"/web/internal/b","value":null}]`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{"a":1,"b":null},"replicas":1,"static":"yes"}}`},
		"invalid JSON":                  {runs: []run{{values: `{`, err: "$VALUES_JSON_PATCH_PATH: unexpected EOF"}}, values: start},
		"invalid JSON for config":       {runs: []run{{config: `x`, err: "$CONFIG_VALUES_JSON_PATCH_PATH: invalid character"}}, values: start},
		"replace":                       {runs: []run{{values: `{"op":"replace","path":"/web/replicas","value":2}`, err: "replace of /web/replicas is not allowed"}}, values: start},
		"values of another key":         {runs: []run{{values: `{"op":"add","path":"/global/zone","value":"b"}`, err: "add of /global/zone is not allowed: a hook of this module may change only values below /web"}}, values: start},
		"an enabled flag":               {runs: []run{{values: `{"op":"add","path":"/webEnabled","value":true}`, err: "add of /webEnabled is not allowed"}}, values: start},
		"move":                          {runs: []run{{values: `{"op":"move","from":"/web/static","path":"/web/secret"}`, err: "from"}}, values: start},
		"a missing parent":              {runs: []run{{values: `{"op":"add","path":"/web/internal/a/b","value":1}`, err: "missing path"}}, values: start},
		"removal of a missing value":    {runs: []run{{values: `{"op":"remove","path":"/web/internal/a"}`, err: "nonexistent key"}}, values: start},
		"a value that is not an object": {runs: []run{{values: `{"op":"add","path":"/web","value":1}`, err: "web must remain an object"}}, values: start},
		"an unknown key":                {runs: []run{{values: `{"op":"add","path":"/web/other","value":1}`, err: "$VALUES_JSON_PATCH_PATH: web.other"}}, values: start},
		"a wrong type":                  {runs: []run{{values: `{"op":"add","path":"/web/replicas","value":"two"}`, err: "web.replicas must be of type integer, not string"}}, values: start},
		"a value that only the chart requires": {runs: []run{{values: `{"op":"add","path":"/web/internal/a","value":1}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{"a":1},"replicas":1,"static":"yes"}}`},
		"only the last operation of a path remains": {
			runs: []run{{values: `{"op":"add","path":"/web/list","value":[]} {"op":"add","path":"/web/list/-","value":1} {"op":"add","path":"/web/list/-","value":2}`},
				{values: `{"op":"add","path":"/web/internal/a","value":1}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{"a":1},"list":[2],"replicas":1,"static":"yes"}}`},
		"replacing an object discards operations below it": {
			runs: []run{{values: `{"op":"add","path":"/web/internal/a","value":{}} {"op":"add","path":"/web/internal/a/b","value":1}`},
				{values: `{"op":"add","path":"/web/internal","value":{"c":1}}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{"c":1},"replicas":1,"static":"yes"}}`},
		"a removed value": {
			runs:   []run{{values: `{"op":"add","path":"/web/internal/a","value":1}`}, {values: `{"op":"remove","path":"/web/internal/a"}`}},
			values: start},
		"the ConfigMap": {config: map[string]any{"web": map[string]any{"replicas": 2.0}},
			runs:   []run{{config: `{"op":"add","path":"/web/replicas","value":3}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{},"replicas":3,"static":"yes"}}`, stored: `{"global":null,"web":{"replicas":3}}`},
		"an absent section of the ConfigMap": {runs: []run{{config: `{"op":"add","path":"/web/replicas","value":3}`, err: "missing path"},
			{config: `{"op":"add","path":"/web","value":{"replicas":3}}`}},
			values: `{"global":{"zone":"a"},"web":{"internal":{},"replicas":3,"static":"yes"}}`, stored: `{"global":null,"web":{"replicas":3}}`},
		"an unknown key in the ConfigMap": {config: map[string]any{"web": map[string]any{"replicas": 2.0}},
			runs:   []run{{config: `{"op":"add","path":"/web/secret","value":"x"}`, err: "$CONFIG_VALUES_JSON_PATCH_PATH: web.secret"}},
			values: `{"global":{"zone":"a"},"web":{"internal":{},"replicas":2,"static":"yes"}}`},
		"the patch of the ConfigMap is applied first and not undone": {config: map[string]any{"web": map[string]any{}},
			runs:   []run{{config: `{"op":"add","path":"/web/replicas","value":3}`, values: `{"op":"test","path":"/web/replicas","value":3}`, err: "$VALUES_JSON_PATCH_PATH: testing value /web/replicas failed"}},
			values: `{"global":{"zone":"a"},"web":{"internal":{},"replicas":3,"static":"yes"}}`, stored: `{"global":null,"web":{"replicas":3}}`},
	} {
		t.Run(name, func(t *testing.T) {
			own := ownValues(t)
			s, err := NewStore(Values{Key: "global"}, &own, c.config, map[string]any{"global": map[string]any{"zone": "a"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range c.runs {
				applyPatches(t, s, r.values, r.config, r.err)
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

// applyPatches applies the patches of a run to a store. want is a part of the expected error,
// or "".
func applyPatches(t *testing.T, s *Store, values, config, want string) {
	t.Helper()
	apply, err := s.Read([]byte(values), []byte(config))
	if err == nil {
		err = apply()
	}
	switch {
	case err == nil && want != "":
		t.Errorf("%s%s: no error, want %q", values, config, want)
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		t.Errorf("%s%s: %v, want %q", values, config, err, want)
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
	applyPatches(t, s, `{"op":"add","path":"/web/replicas","value":1}`, "", "a global hook may change only values below /global and flags")
	applyPatches(t, s, `{"op":"add","path":"/webEnabled","value":"true"}`, "", "must have the value true or false")
	applyPatches(t, s, `{"op":"add","path":"/dnsEnabled","value":false}`, "", "")
	applyPatches(t, s, `{"op":"remove","path":"/webEnabled","value":true}`, "", "")
	// If a patch has an enabled flag, addon-operator treats all its operations as flags.
	applyPatches(t, s, `{"op":"add","path":"/global/late","value":"b"} {"op":"add","path":"/webEnabled","value":true}`, "", "use two hooks")
	if got, want := text(t, s.Values()), `{"dnsEnabled":false,"global":{"late":"b","zone":"a"}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	values, config, err := s.Files()
	if err != nil || string(values) != `{"global":{"late":"b","zone":"a"}}` || string(config) != `{"global":null}` {
		t.Errorf("the files have %s and %s, %v", values, config, err)
	}
}

// TestNewStoreErrors checks that invalid initial values are errors.
func TestNewStoreErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config, before map[string]any
		want           string
	}{
		{config: map[string]any{"wbe": map[string]any{}}, want: "configValues: unknown key wbe: it must be global or web"},
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
