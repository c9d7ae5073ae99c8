package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/schema"
	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"helm.sh/helm/v3/pkg/chart/loader"
	kyaml "sigs.k8s.io/yaml"
)

// of returns the result for a chart, whose CRD an API server accepts.
func of(t testing.TB, c schema.Chart) schema.Result {
	t.Helper()
	c.Folder = "charts/web"
	r, err := schema.Of(c)
	if err != nil {
		t.Fatal(err)
	}
	accepted(t, r.Schema)
	return r
}

// text returns a schema as YAML.
func text(t testing.TB, s crdschema.Schema) string {
	t.Helper()
	content, err := kyaml.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// findings returns the findings, one per line.
func findings(r schema.Result) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s:%d:%d:%s:%s\n", f.File, f.Line, f.Column, f.Rule, f.Message)
	}
	return b.String()
}

// spec is an entry of a table: a default or a schema of one value, and its schema in the CRD.
type spec struct{ in, want string }

func TestValues(t *testing.T) {
	t.Parallel()
	const anything = "{x-kubernetes-preserve-unknown-fields: true, nullable: true}"
	for name, tc := range map[string]spec{
		"boolean":                     {"v: false", "{type: boolean, description: 'Default: false'}"},
		"YAML 1.1 boolean":            {"v: on", "{type: boolean, description: 'Default: true'}"},
		"integer":                     {"v: 3", "{type: integer, description: 'Default: 3'}"},
		"hexadecimal":                 {"v: 0x1f", "{type: integer, description: 'Default: 31'}"},
		"number":                      {"v: 0.5", "{type: number, description: 'Default: 0.5'}"},
		"whole number":                {"v: 1.0", "{type: number, description: 'Default: 1'}"},
		"exponent":                    {"v: 1e3", "{type: number, description: 'Default: 1000'}"},
		"beyond 64 bits":              {"v: 18446744073709551615", "{type: number, description: 'Default: 18446744073709552000'}"},
		"text":                        {"v: a", "{type: string, description: 'Default: \"a\"'}"},
		"empty text":                  {"v: ''", "{type: string}"},
		"date":                        {"v: 2030-01-01", "{type: string, description: 'Default: \"2030-01-01\"'}"},
		"null":                        {"v:", anything},
		"null with a type":            {"# -- (string) The name.\nv:", "{type: string, nullable: true, description: The name.}"},
		"empty mapping":               {"v: {}", "{type: object, x-kubernetes-preserve-unknown-fields: true}"},
		"empty list":                  {"v: []", "{type: array, items: " + anything + "}"},
		"list of texts":               {"v: [a, b]", `{type: array, items: {type: string}, description: 'Default: ["a","b"]'}`},
		"list of different types":     {"v: [a, true]", "{type: array, items: " + anything + `, description: 'Default: ["a",true]'}`},
		"list of objects":             {"v: [{a: 1}]", `{type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: integer}}}, description: 'Default: [{"a":1}]'}`},
		"anchor":                      {"v: {a: &x {b: 1}, c: *x}", "{type: object, properties: {a: {type: object, properties: {b: {type: integer, description: 'Default: 1'}}}, c: {type: object, properties: {b: {type: integer, description: 'Default: 1'}}}}}"},
		"merged mapping":              {"v: {<<: {b: 1}, c: 2}", "{type: object, properties: {b: {type: integer, description: 'Default: 1'}, c: {type: integer, description: 'Default: 2'}}}"},
		"keys that are not texts":     {"v: {1: a, yes: b, 0x10: c, a.b: d}", "{type: object, properties: {'1': {type: string, description: 'Default: \"a\"'}, 'true': {type: string, description: 'Default: \"b\"'}, '16': {type: string, description: 'Default: \"c\"'}, a.b: {type: string, description: 'Default: \"d\"'}}}"},
		"labels":                      {"podLabels: {}", "{type: object, additionalProperties: {type: string}}"},
		"annotations with a number":   {"annotations: {a: 1}", "{type: object, properties: {a: {type: integer, description: 'Default: 1'}}}"},
		"tolerations":                 {"tolerations: []", "{type: array, items: {type: object, properties: {key: {type: string}, operator: {type: string}, value: {type: string}, effect: {type: string}, tolerationSeconds: {type: integer}}}}"},
		"resources":                   {"resources: {limits: {cpu: 1}}", "{type: object, properties: {limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}, requests: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}, claims: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}"},
		"resources of something else": {"resources: {kinds: 1}", "{type: object, properties: {kinds: {type: integer, description: 'Default: 1'}}}"},
		"port that is not set":        {"nodePort: ''", "{x-kubernetes-int-or-string: true}"},
		"replicas that are not set":   {"maxReplicas: ''", "{x-kubernetes-int-or-string: true}"},
		"arguments":                   {"extraArgs: []", "{type: array, items: {type: string}}"},
		"quantity":                    {"v: 10Gi", "{x-kubernetes-int-or-string: true, description: 'Default: \"10Gi\"'}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := of(t, schema.Chart{Values: []byte(tc.in + "\n")})
			want := "type: object\nproperties: {" + key(tc.in) + ": " + tc.want + "}"
			same(t, r.Schema, want)
			if got := string(r.Sample); got != tc.in+"\n" {
				t.Errorf("sample: %s", got)
			}
		})
	}
}

// same fails the test unless a schema is the one that YAML describes.
func same(t *testing.T, got crdschema.Schema, want string) {
	t.Helper()
	var wanted crdschema.Schema
	if err := kyaml.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text(t, wanted), text(t, got)); diff != "" {
		t.Error(diff)
	}
}

// key returns the first key of values.
func key(values string) string {
	for line := range strings.Lines(values) {
		if !strings.HasPrefix(line, "#") {
			name, _, _ := strings.Cut(line, ":")
			return name
		}
	}
	return ""
}

func TestComments(t *testing.T) {
	t.Parallel()
	r := of(t, schema.Chart{Values: []byte(`## @section Common
## @param image.tag [string, default: 1.27] Tag of the image
## @param extra [array] Ignored twice

# --------------------
# Number of Pods.
# old: 1
#   nested: 2
#
# At least one.
replicas: 2
image:
  # Not used: @param wins.
  tag: ""
# A commented-out block:
# -- Name of the *class*.
# It must exist.
# @default -- the name of the chart
# @section -- Ingress
className: ""
# -- (int) Seconds.
# @ignored
secret: 5
trailing: x # Behind the value.
typed: "" # @schema type:[string]
# @schema
# type: [string, "null"]
# @schema
# The end.
annotated: ""
`)})
	same(t, r.Schema, `
type: object
properties:
  replicas: {type: integer, description: "Number of Pods.\n\nAt least one.\nDefault: 2"}
  image: {type: object, properties: {tag: {type: string, description: "Tag of the image. Default: 1.27"}}}
  className: {type: string, description: "Name of the *class*.\nIt must exist.\nDefault: the name of the chart"}
  secret: {type: integer, description: "Default: 5"}
  trailing: {type: string, description: "Behind the value. Default: \"x\""}
  typed: {type: string}
  annotated: {type: string, description: The end.}
`)
	if !strings.Contains(string(r.Sample), "# Number of Pods.\n") {
		t.Errorf("the sample lost the comments:\n%s", r.Sample)
	}
}

func TestBadValues(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ values, schema, want string }{
		{values: "- a\n", want: "charts/web/values.yaml:1:1: the values are a list, not a mapping"},
		{values: "text\n", want: "charts/web/values.yaml:1:1: the values are a string, not a mapping"},
		{values: "a: [\nb: 1\n", want: "charts/web/values.yaml:1:1: did not find"},
		{values: "a: 1\nb:\n  c: 1\n  c: 2\n", want: `charts/web/values.yaml:4: key "c" occurs twice`},
		{values: "a: 1\nb: .inf\n", want: "charts/web/values.yaml:2:4: .inf is not a number in JSON"},
		{values: "a: 1\n---\nb: 1\n", want: "charts/web/values.yaml:2:1: the values have several documents"},
		{values: "a: 1\n[b]: 2\n", want: "charts/web/values.yaml:"},
		{schema: "{\n \"type\": \"object\",\n}", want: "charts/web/values.schema.json:"},
		{schema: "{\n \"a\": 1,\n \"a\": 2}", want: `charts/web/values.schema.json:3:`},
		{schema: `{"type": "objekt"}`, want: `charts/web/values.schema.json:1:2: "objekt" is not a type of JSON schemas`},
		{schema: `{"type": "string"}`, want: "charts/web/values.schema.json:1:1: the schema does not allow an object"},
		{schema: `[]`, want: "charts/web/values.schema.json:1:1: not a JSON schema"},
		{schema: `{"properties": {"a": 1}}`, want: "charts/web/values.schema.json:1:17: an integer is not a JSON schema"},
		{schema: "{\"properties\": {\n \"a\": {\"$ref\": \"https://example.org/a.json\"}}}",
			want: "charts/web/values.schema.json:2:8: $ref to https://example.org/a.json: only references within the file are supported"},
		{schema: `{"properties": {"a": {"$ref": "#/$defs/b"}}}`, want: "charts/web/values.schema.json:1:23: $ref to #/$defs/b: the file does not have it"},
	} {
		c := schema.Chart{Folder: "charts/web", Values: []byte(tc.values)}
		if tc.schema != "" {
			c.Schema = []byte(tc.schema)
		}
		_, err := schema.Of(c)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") || fault.HintOf(err) == "" || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s%s\ngot  %v (code %d, hint %q)\nwant %s", tc.values, tc.schema, err, fault.Code(err), fault.HintOf(err), tc.want)
		}
	}
}

// chart has what each source of types says.
func chart() schema.Chart {
	return schema.Chart{
		Values: []byte("image:\n  tag: v1\nconfig:\n  a: 1\nservice:\n  port: 80\ndb:\n  enabled: true\n"),
		Templates: map[string][]byte{"templates/web.yaml": []byte(`
{{- if .Values.service }}
port: {{ .Values.service.port }}
nodePort: {{ .Values.service.nodePort }}
config: {{ toYaml .Values.config }}
{{- end }}`)},
		Dependencies: map[string]schema.Chart{"db": {
			Folder: "charts/web/charts/db", Values: []byte("size: 1Gi\nglobal:\n  registry: ''\n"),
		}},
	}
}

func TestChart(t *testing.T) {
	t.Parallel()
	r := of(t, chart())
	same(t, r.Schema, `
type: object
properties:
  image: {type: object, properties: {tag: {type: string, description: 'Default: "v1"'}}}
  config: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: integer, description: 'Default: 1'}}}
  service: {type: object, properties: {port: {type: integer, description: 'Default: 80'}, nodePort: {nullable: true, x-kubernetes-preserve-unknown-fields: true}}}
  db: {type: object, properties: {enabled: {type: boolean, description: 'Default: true'}, size: {x-kubernetes-int-or-string: true, description: 'Default: "1Gi"'}, global: {type: object, properties: {registry: {type: string}}}}}
  global: {type: object, properties: {registry: {type: string}}}
`)
	want := `charts/web/templates/web.yaml:4:0:values-open:service.nodePort: only templates mention it, so it accepts any value
charts/web/values.yaml:3:1:values-open:config: a template uses all its fields, so it accepts any
`
	if diff := cmp.Diff(want, findings(r)); diff != "" {
		t.Error(diff)
	}
}

func TestServer(t *testing.T) {
	t.Parallel()
	c := chart()
	c.Schema = []byte(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"port": {"type": ["integer", "null"], "exclusiveMinimum": 0}},
		"properties": {"image": {"additionalProperties": false, "required": ["tag"], "properties": {"tag": {"type": "string", "pattern": "^v"}}},
		"service": {"properties": {"port": {"$ref": "#/$defs/port"}, "type": {"enum": ["ClusterIP", "NodePort", null]}}}}}`)
	r := of(t, c)
	definition, err := kyaml.Marshal(crd(t, r.Schema))
	if err != nil {
		t.Fatal(err)
	}
	specs := []struct {
		name, spec string
		code       int
	}{
		{"sample", string(r.Sample), 201},
		{"empty", "{}", 201},
		{"partial", "image: {}\nconfig: {b: 2}\nservice: {port: null, type: null, nodePort: 30000}", 201},
		{"nulls", "config: {a: null}\nservice: {port: null}", 201},
		{"unknown", "replicas: 2", 400},
		{"pattern", "image: {tag: x}", 422},
		{"enum", "service: {type: Other}", 422},
		{"bound", "service: {port: 0}", 422},
	}
	bodies := []string{string(definition)}
	for _, s := range specs {
		bodies = append(bodies, "apiVersion: example.org/v1\nkind: Chart\nmetadata:\n  name: "+s.name+"\nspec:\n  "+strings.ReplaceAll(strings.TrimSpace(s.spec), "\n", "\n  ")+"\n")
	}
	server := answers.Ask(t, "charts", servertest.Question(append(bodies, crdPath, chartsPath)...), func() created { return createCharts(t, bodies) })
	for i, s := range specs {
		if server.Codes[i] != s.code {
			t.Errorf("%s: code %d, want %d\n%s", s.name, server.Codes[i], s.code, bodies[i+1])
		}
	}
	// A null where the schema of the chart does not allow it is dropped.
	if diff := cmp.Diff(map[string]map[string]any{"config": {}, "service": {"port": nil}}, server.Nulls); diff != "" {
		t.Errorf("the object nulls (-want +stored): %s", diff)
	}
}

// The paths of requests that create.
const (
	crdPath    = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	chartsPath = "/apis/example.org/v1/namespaces/default/charts?fieldValidation=Strict"
)

// created is what an API server does with objects.
type created struct {
	Codes []int
	Nulls map[string]map[string]any // the spec of the object nulls
}

// createCharts starts an API server with a CRD, which is the first body, and creates objects.
func createCharts(t *testing.T, bodies []string) (c created) {
	t.Helper()
	server := servertest.Start(t)
	post := func(path, body string) int {
		t.Helper()
		code, _, err := server.Request("POST", path, body)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	if code := post(crdPath, bodies[0]); code != 201 {
		t.Fatalf("code %d for\n%s", code, bodies[0])
	}
	server.Await("/apis/example.org/v1/charts")
	for _, body := range bodies[1:] {
		c.Codes = append(c.Codes, post(chartsPath, body))
	}
	var object struct{ Spec map[string]map[string]any }
	server.Get("/apis/example.org/v1/namespaces/default/charts/nulls", &object)
	c.Nulls = object.Spec
	return c
}

func TestChartOf(t *testing.T) {
	t.Parallel()
	var files []*loader.BufferedFile
	for name, content := range map[string]string{
		"Chart.yaml":                  "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: db, version: 1.0.0, alias: main}\n- {name: db, version: 1.0.0, alias: copy}\n",
		"values.yaml":                 "# Pods.\nreplicas: 1\n",
		"values.schema.json":          `{"type": "object"}`,
		"templates/web.yaml":          "a: {{ .Values.a }}\n",
		"charts/db/Chart.yaml":        "apiVersion: v2\nname: db\nversion: 1.0.0\n",
		"charts/db/values.yaml":       "size: 1\n",
		"charts/log/Chart.yaml":       "apiVersion: v2\nname: log\nversion: 1.0.0\n",
		"charts/log/values.yaml":      "level: info\n",
		"charts/log/templates/a.yaml": "a: {{ .Values.level }}\n",
	} {
		files = append(files, &loader.BufferedFile{Name: name, Data: []byte(content)})
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	db := schema.Chart{Folder: "charts/web/charts/db", Values: []byte("size: 1\n"), Templates: map[string][]byte{}, Dependencies: map[string]schema.Chart{}}
	want := schema.Chart{
		Folder: "charts/web", Values: []byte("# Pods.\nreplicas: 1\n"), Schema: []byte(`{"type": "object"}`),
		Templates: map[string][]byte{"templates/web.yaml": []byte("a: {{ .Values.a }}\n")},
		Dependencies: map[string]schema.Chart{"main": db, "copy": db, "log": {
			Folder: "charts/web/charts/log", Values: []byte("level: info\n"), Dependencies: map[string]schema.Chart{},
			Templates: map[string][]byte{"templates/a.yaml": []byte("a: {{ .Values.level }}\n")},
		}},
	}
	if diff := cmp.Diff(want, schema.ChartOf("charts/web", c)); diff != "" {
		t.Error(diff)
	}
}

// TestIncluded checks that a value in a named template belongs to the charts that include it.
func TestIncluded(t *testing.T) {
	const own = "{{ include \"sub.label\" . }}{{ include \"lib.name\" . }}"
	chart := func(name, template string, library bool, dependencies map[string]schema.Chart) schema.Chart {
		return schema.Chart{Folder: "charts/web/charts/" + name, Values: []byte("a: 1\n"), Library: library, Dependencies: dependencies,
			Templates: map[string][]byte{"templates/_a.tpl": []byte(template)}}
	}
	deep := chart("deep", "{{ define \"deep.x\" }}{{ .context.Values.deepest }}{{ end }}", true, nil)
	r := of(t, schema.Chart{Values: []byte("size: 1\n"), Templates: map[string][]byte{"templates/a.yaml": []byte(own)}, Dependencies: map[string]schema.Chart{
		"lib":   chart("lib", "{{ define \"lib.name\" }}{{ .Values.fullnameOverride }}{{ end }}", true, map[string]schema.Chart{"deep": deep}),
		"sub":   chart("sub", "{{- define \"sub.label\" }}{{ .Values.label }}{{ end }}", false, nil),
		"other": chart("other", "{{ define \"other.label\" }}{{ .Values.unseen }}{{ end }}", false, nil),
	}})
	all := r.Schema["properties"].(map[string]any)
	for path, want := range map[string]bool{
		"fullnameOverride": true, "lib.fullnameOverride": false, "deepest": true, "label": true, "sub.label": true, "unseen": false, "other.unseen": true,
	} {
		parent, key, nested := strings.Cut(path, ".")
		_, got := all[parent]
		if nested {
			_, got = all[parent].(map[string]any)["properties"].(map[string]any)[key]
		}
		if got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestImports checks that values that a chart imports from a dependency have their types, wherever they come from and go.
func TestImports(t *testing.T) {
	t.Parallel()
	var files []*loader.BufferedFile
	for name, content := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- name: db\n  version: 1.0.0\n  import-values:\n" +
			"  - settings\n  - {child: span, parent: db.span}\n  - {child: missing, parent: none}\n  - {child: size, parent: scalar}\n",
		"templates/a.yaml":                 "a: {{ .Values.port }}{{ .Values.deep }}{{ .Values.db.span.low }}{{ .Values.mine }}\n",
		"values.yaml":                      "mine: text\n",
		"charts/db/Chart.yaml":             "apiVersion: v2\nname: db\nversion: 1.0.0\ndependencies:\n- {name: lib, version: 1.0.0, import-values: [{child: ., parent: exports.settings}]}\n",
		"charts/db/values.yaml":            "size: 1\nspan: {low: 2}\nexports: {settings: {port: 80, mine: 1}}\n",
		"charts/db/charts/lib/Chart.yaml":  "apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n",
		"charts/db/charts/lib/values.yaml": "deep: true\n",
	} {
		files = append(files, &loader.BufferedFile{Name: name, Data: []byte(content)})
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	r := of(t, schema.ChartOf("charts/web", c))
	for path, want := range map[string]any{"port": "integer", "mine": "string", "deep": "boolean", "db.span.low": "integer", "none": nil, "scalar": nil} {
		s := any(map[string]any(r.Schema))
		for key := range strings.SplitSeq(path, ".") {
			properties, _ := s.(map[string]any)["properties"].(map[string]any)
			if s = properties[key]; s == nil {
				s = map[string]any{}
			}
		}
		if got := s.(map[string]any)["type"]; got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
