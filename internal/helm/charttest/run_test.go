package charttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// files is a chart that uses what Helm offers.
var files = map[string]string{
	"Chart.yaml": "apiVersion: v2\nname: galley\nversion: 1.0.0\n",
	"values.yaml": `
oars: 2
crew: west
lamp: ""
flag: {enabled: false}
watch: false
boats: 0
broken: false
tag: "1"
`,
	"crds/charts.yaml": `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: maps.sea.example.org}
spec:
  group: sea.example.org
  scope: Namespaced
  names: {kind: Map, plural: maps, singular: map, listKind: MapList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`,
	"templates/_helpers.tpl": `{{ define "crew" }}{crew: {{ .Values.crew }}}{{ end }}`,
	"templates/deployment.yaml": `
{{ if .Values.broken }}{{ fail "the hull is broken" }}{{ end }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}-oars, labels: {installed: {{ .Release.IsInstall | quote }}}}
spec:
  replicas: {{ .Values.oars }}
  selector: {matchLabels: {{ include "crew" . }}}
  template:
    metadata: {labels: {{ include "crew" . }}}
    spec: {containers: [{name: oar, image: "oar:{{ .Values.tag }}"}]}
`,
	"templates/flag.yaml": `
{{ if .Values.flag.enabled }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-flag}
data: {lamp: {{ .Values.lamp | default "none" }}}
{{ end }}
`,
	"templates/key.yaml": `
{{ $old := lookup "v1" "Secret" .Release.Namespace (printf "%s-key" .Release.Name) }}
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}-key}
data: {key: {{ if $old }}{{ $old.data.key }}{{ else }}{{ randAlphaNum 8 | b64enc }}{{ end }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-keys}
data: {found: {{ $old | empty | not | quote }}}
`,
	"templates/hold.yaml": `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: {{ .Release.Name }}-hold, annotations: {helm.sh/resource-policy: keep}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`,
	"templates/hooks.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-launched, annotations: {helm.sh/hook: post-install}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-fleeting, annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: hook-succeeded}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-refitted, annotations: {helm.sh/hook: post-upgrade}}
---
apiVersion: v1
kind: Pod
metadata: {name: {{ .Release.Name }}-test, annotations: {helm.sh/hook: test}}
`,
	"templates/map.yaml": `
apiVersion: sea.example.org/v1
kind: Map
metadata: {name: {{ .Release.Name }}}
`,
	"templates/watch.yaml": `
{{ if .Values.watch }}
apiVersion: monitoring.example.org/v1
kind: Lookout
metadata: {name: {{ .Release.Name }}}
{{ end }}
{{ if .Capabilities.APIVersions.Has "monitoring.example.org/v1/Lookout" }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-lookout}
{{ end }}
`,
	"templates/boat.yaml": `
{{ if .Values.boats }}
apiVersion: ship.example.org/v1
kind: Galley
metadata: {name: boat{{ .Values.boats }}}
spec: {boats: {{ sub .Values.boats 1 }}}
{{ end }}
`,
}

// crd returns the CRD of a kind with a field spec of any shape, except that oars are a number.
func crd(group, kind, spec string) string {
	lower := strings.ToLower(kind)
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ` + lower + `s.` + group + `}, spec: {group: ` + group + `, scope: Namespaced,
  names: {kind: ` + kind + `, plural: ` + lower + `s, singular: ` + lower + `, listKind: ` + kind + `List},
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {spec: ` + spec + `, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}]}}`
}

const anySpec = "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {oars: {type: integer}, sail: {type: object, properties: {color: {type: string}}}}}"

// role allows what the chart needs.
const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager-role}
rules:
- {apiGroups: [ship.example.org], resources: [galleys, galleys/status, galleys/finalizers], verbs: ["*"]}
- {apiGroups: [""], resources: [configmaps, secrets, persistentvolumeclaims], verbs: ["*"]}
- {apiGroups: [apps], resources: [deployments], verbs: [get, list, watch, create, patch, delete]}
- {apiGroups: [sea.example.org], resources: [maps], verbs: ["*"]}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, create]}
`

func parse(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	all, err := chart.Objects(map[string]string{"objects.yaml": text})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// newOperator returns an operator of the chart with an entry of watches.yaml.
func newOperator(t *testing.T, entry string) (Operator, []*unstructured.Unstructured) {
	t.Helper()
	content := map[string][]byte{}
	for name, text := range files {
		content[name] = []byte(text)
	}
	c, err := chart.LoadFiles(content)
	if err != nil {
		t.Fatal(err)
	}
	list, err := watches.Read([]byte("- {group: ship.example.org, version: v1, kind: Galley, chart: helm-charts/galley"+entry+"}"), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	crds := parse(t, crd("ship.example.org", "Galley", anySpec))
	defined, err := kinds.FromObject(crds[0])
	if err != nil {
		t.Fatal(err)
	}
	return Operator{Charts: []Chart{{list[0], c}}, Kinds: kinds.Builtin().With(defined)}, crds
}

// failures runs the tests in a file, and returns their failures.
func failures(t *testing.T, op Operator, text string, open Open) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := readFile(name, "t.yaml")
	if err == nil {
		err = op.Check([]*File{f})
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, test := range f.Tests {
		out, err := op.Run(t.Context(), test, open)
		if err != nil {
			t.Fatal(err)
		}
		for _, failure := range out.Failures {
			all = append(all, failure.Message)
		}
	}
	return strings.Join(all, "\n")
}

const (
	galley     = "{apiVersion: ship.example.org/v1, kind: Galley, metadata: {name: a}, spec: "
	oars       = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a-oars}, spec: {replicas: "
	configMap  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: "
	deployment = "helm-charts/galley/templates/deployment.yaml"
)

// TestRun checks what tests of a chart report.
func TestRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		watch string // more keys of watches.yaml
		texts bool
		role  string // instead of role
		test  string // the keys of the test
		want  string
	}{
		"defaults":          {test: "given: [" + galley + "{}}]\n  expect: {objects: [" + oars + "2}}]}"},
		"values":            {test: "given: [" + galley + "{oars: 7}}]\n  expect: {objects: [" + oars + "7}}]}"},
		"another namespace": {test: "given: [{apiVersion: ship.example.org/v1, kind: Galley, metadata: {name: a, namespace: b}, spec: {}}]\n  expect: {objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: a-oars, namespace: b}}]}"},
		"other values":      {test: "given: [" + galley + "{}}]\n  expect: {objects: [" + oars + "3}}]}", want: "objects[0]: spec.replicas is 2, want 3"},
		"another name": {test: "given: [" + galley + "{}}]\n  expect: {objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: b}}]}",
			want: "objects[0]: apps/v1 Deployment default/b does not exist; got: a-oars"},
		"without a name": {test: "given: [" + galley + "{}}]\n  expect: {objects: [{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2}}], absent: [{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3}}]}"},
		"absent": {test: "given: [" + galley + "{}}]\n  expect: {absent: [" + configMap + "a-flag}}, {apiVersion: apps/v1, kind: Deployment}]}",
			want: "absent[1]: apps/v1 Deployment default/a-oars exists"},
		"an unknown kind is expected": {test: "given: [" + galley + "{}}]\n  expect: {absent: [{apiVersion: v1, kind: Boat}]}", want: `absent[0]: unknown kind "Boat" in v1`},
		"a field that must not exist": {test: "given: [" + galley + "{}}]\n  expect: {objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: a-oars}, spec: {replicas: null}}]}",
			want: "objects[0]: spec.replicas is 2, want none"},

		"a rendering error": {test: "given: [" + galley + "{broken: true}}]\n  expect: {objects: [" + oars + "2}}]}",
			want: "Galley a: " + deployment + ":2:26: the hull is broken\nobjects[0]: apps/v1 Deployment default/a-oars does not exist"},
		"an expected error":           {test: "given: [" + galley + "{broken: true}}]\n  expect: {error: hull is broken, absent: [" + oars + "2}}]}"},
		"another error":               {test: "given: [" + galley + "{broken: true}}]\n  expect: {error: leak}", want: "error: want \"leak\", got: Galley a: " + deployment + ":2:26: the hull is broken"},
		"no error":                    {test: "given: [" + galley + "{}}]\n  expect: {error: leak}", want: `error: want "leak", no release failed`},
		"the schema refuses a value":  {test: "given: [" + galley + "{oars: many}}]\n  expect: {error: spec.oars in body must be of type integer}"},
		"an unknown field":            {test: "given: [" + galley + "{sail: {colour: red}}}]\n  expect: {error: 'Galley a: unknown field \"spec.sail.colour\"', absent: [" + oars + "2}}]}"},
		"an unknown field later":      {test: "events: [{apply: " + galley + "{}}}, {patch: " + galley + "{sail: {color: red, size: 2}}}, expect: {error: 'unknown field \"spec.sail.size\"'}}]"},
		"no spec":                     {test: "given: [{apiVersion: ship.example.org/v1, kind: Galley, metadata: {name: a}}]\n  expect: {error: spec is missing}"},
		"an object without its kind":  {test: "given: [" + galley + "{watch: true}}]\n  expect: {error: 'templates/watch.yaml: unknown kind \"Lookout\" in monitoring.example.org/v1'}"},
		"an object that is not ours":  {test: "given: [" + galley + "{}}, " + configMap + "a-keys}}]\n  expect: {error: 'templates/key.yaml: ConfigMap default/a-keys exists, and does not belong to the release'}"},
		"a failed install is undone":  {role: strings.Replace(role, "create, patch", "patch", 1), test: "given: [" + galley + "{}}]\n  expect: {error: 'no rule allows the operator to create deployments.apps', absent: [" + configMap + "a-keys}}, {apiVersion: v1, kind: Secret}]}"},
		"a CRD of the test":           {test: "given: [" + galley + "{watch: true}}, " + crd("monitoring.example.org", "Lookout", "{type: object}") + "]\n  expect: {error: 'forbidden: no rule allows the operator to get lookouts.monitoring.example.org \"a\" in namespace default'}"},
		"a missing permission":        {role: strings.Replace(role, "patch, ", "", 1), test: "events: [{apply: " + galley + "{}}}, {patch: " + galley + "{oars: 3}}, expect: {error: '" + deployment + ": Deployment default/a-oars: deployments.apps \"a-oars\" is forbidden: no rule allows the operator to patch deployments.apps \"a-oars\" in namespace default'}}]"},
		"a kind that is not watched":  {watch: ", watchDependentResources: false", role: strings.Replace(role, "watch, ", "", 1), test: "given: [" + galley + "{}}]\n  expect: {objects: [" + oars + "2}}]}"},
		"a permission to watch":       {role: strings.Replace(role, "watch, ", "", 1), test: "given: [" + galley + "{}}]\n  expect: {error: '" + deployment + ": Deployment default/a-oars: no rule allows the operator to watch deployments.apps, which it does to repair objects'}"},
		"an error before an event":    {test: "given: [" + galley + "{broken: true}}]\n  events: [{patch: " + galley + "{broken: false}}, expect: {objects: [" + oars + "2}}]}}]", want: "Galley a: " + deployment + ":2:26: the hull is broken"},
		"an event that is impossible": {test: "events: [{patch: " + galley + "{}}, expect: {error: not found}}]"},

		"an upgrade": {test: "events: [{apply: " + galley + "{flag: {enabled: true}}}, expect: {objects: [" + configMap + "a-flag}}]}}, {patch: " + galley + "{lamp: lit}}, expect: {objects: [" + configMap + "a-flag}, data: {lamp: lit}}]}}, " +
			"{apply: " + galley + "{oars: 3}}, expect: {objects: [" + oars + "3}}], absent: [" + configMap + "a-flag}}]}}]"},
		"an upgrade says so":                 {test: "events: [{apply: " + galley + "{}}}, {patch: " + galley + "{oars: 3}}}]\n  expect: {objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: a-oars, labels: {installed: \"false\"}}}]}"},
		"lookup finds objects of before":     {test: "events: [{apply: " + galley + "{}}, expect: {objects: [" + configMap + "a-keys}, data: {found: \"false\"}}]}}, {patch: " + galley + "{oars: 3}}, expect: {objects: [" + configMap + "a-keys}, data: {found: \"true\"}}]}}]"},
		"an immutable field":                 {test: "events: [{apply: " + galley + "{}}}, {patch: " + galley + "{crew: east}}, expect: {error: 'spec.selector: Invalid value: {\"matchLabels\":{\"crew\":\"east\"}}: field is immutable'}}]"},
		"a failed upgrade restores objects":  {test: "events: [{apply: " + galley + "{}}}, {patch: " + galley + "{crew: east, oars: 5, flag: {enabled: true}}}, expect: {error: immutable}}]\n  expect: {error: immutable, objects: [" + oars + "2}}], absent: [" + configMap + "a-flag}}]}"},
		"hooks":                              {test: "events: [{apply: " + galley + "{}}, expect: {objects: [" + configMap + "a-launched}}], absent: [" + configMap + "a-fleeting}}, " + configMap + "a-refitted}}, {apiVersion: v1, kind: Pod}]}}, {patch: " + galley + "{oars: 3}}, expect: {objects: [" + configMap + "a-refitted}}]}}]"},
		"an uninstallation":                  {test: "events: [{apply: " + galley + "{}}}, {delete: " + galley + "{}}}]\n  expect: {objects: [{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a-hold}}], absent: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: Secret}, {apiVersion: ship.example.org/v1, kind: Galley}]}"},
		"a long name":                        {test: "given: [{apiVersion: ship.example.org/v1, kind: Galley, metadata: {name: " + strings.Repeat("a", 54) + "}, spec: {}}]\n  expect: {error: the name of a release has at most 53 characters}"},
		"the status":                         {test: "given: [" + galley + "{}}]\n  expect: {objects: [{apiVersion: ship.example.org/v1, kind: Galley, status: {deployedRelease: {name: a}}}]}"},
		"custom resources of a chart":        {test: "given: [" + galley + "{boats: 2}}]\n  expect: {objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: boat1-oars}}], absent: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: boat0-oars}}]}"},
		"custom resources without end":       {test: "given: [" + galley + "{boats: 100}}]\n  expect: {objects: [" + oars + "2}}]}", want: "the charts keep creating custom resources"},
		"capabilities":                       {test: "given: [" + crd("monitoring.example.org", "Lookout", "{type: object}") + ", " + galley + "{}}]\n  expect: {objects: [" + configMap + "a-lookout}}]}"},
		"override values":                    {watch: ", overrideValues: {oars: $OARS}", test: "env: {OARS: '4'}\n  given: [" + galley + "{oars: 3}}]\n  expect: {objects: [" + oars + "4}}]}"},
		"override values of an image":        {watch: ", overrideValues: {flag.enabled: \"false\"}", texts: true, test: "given: [" + galley + "{}}]\n  expect: {objects: [" + configMap + "a-flag}}]}"},
		"override values with a template":    {watch: ", overrideValues: {lamp: '{{ env \"LAMP\" | upper }}', flag.enabled: \"true\"}", test: "env: {LAMP: lit}\n  given: [" + galley + "{}}]\n  expect: {objects: [" + configMap + "a-flag}, data: {lamp: LIT}}]}"},
		"override values that do not render": {watch: ", overrideValues: {lamp: '{{ fail \"no oil\" }}'}", test: "given: [" + galley + "{}}]\n  expect: {error: x}", want: `watches.yaml:1: overrideValues.lamp: lamp:1:3: executing "lamp" at <fail "no oil">: error calling fail: no oil`},
		"a selector":                         {watch: ", selector: {matchLabels: {fleet: west}}", test: "events: [{apply: " + galley + "{}}, expect: {absent: [{apiVersion: apps/v1, kind: Deployment}]}}, {patch: {apiVersion: ship.example.org/v1, kind: Galley, metadata: {name: a, labels: {fleet: west}}}, expect: {objects: [" + oars + "2}}]}}]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			op, crds := newOperator(t, tc.watch)
			op.Texts = tc.texts
			text := tc.role
			if text == "" {
				text = role
			}
			open, err := Memory(crds, parse(t, text), "ships-system")
			if err != nil {
				t.Fatal(err)
			}
			if got := failures(t, op, "kind: Galley\ntests:\n- name: x\n  "+tc.test+"\n", open); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// TestNamespaced checks that an operator of one namespace ignores others.
func TestNamespaced(t *testing.T) {
	t.Parallel()
	op, crds := newOperator(t, "")
	op.Namespace = "ships-system"
	open, err := Memory(crds, parse(t, strings.Replace(role, "kind: ClusterRole", "kind: Role", 1)+`---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: crds}, rules: [{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, create]}]}
`), "ships-system")
	if err != nil {
		t.Fatal(err)
	}
	if got := failures(t, op, `kind: Galley
tests:
- name: own
  given: [`+galley+`{}}]
  expect: {objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: a-oars, namespace: ships-system}}]}
- name: other
  given: [{apiVersion: ship.example.org/v1, kind: Galley, metadata: {name: a, namespace: default}, spec: {}}]
  expect: {absent: [{apiVersion: apps/v1, kind: Deployment}]}
`, open); got != "" {
		t.Error(got)
	}
}

// TestErrors checks the position, the message and the hint for invalid files.
func TestErrors(t *testing.T) {
	t.Parallel()
	op, _ := newOperator(t, "")
	const start = "kind: Galley\ntests:\n- name: x\n  "
	for text, want := range map[string]string{
		"":                                       "t.yaml: the file is empty; it needs the keys kind and tests; operon chart test --help describes test files",
		"tests: []":                              "t.yaml:1: the key kind is missing: it has a kind of watches.yaml; such as kind: Galley",
		"kind: Galley":                           "t.yaml:1: there are no tests",
		"kind: Galley\nhook: a.sh":               "t.yaml:2: the file has no key hook; keys: kind, tests",
		start + "gven: []":                       "t.yaml:4: a test has no key gven; did you mean given?",
		start + "given: []":                      `t.yaml:3: the test "x" expects nothing; add expect: with objects, absent or error`,
		start + "expect: {}":                     "t.yaml:4: expect is empty; add objects, absent or error",
		start + "expect: {runs: 1}":              "t.yaml:4: expect has no key runs; keys: objects, absent, error",
		start + "expect: {error: \"\"}":          "t.yaml:4: error is empty; write a part of the message",
		start + "events: [{expect: {error: x}}]": "t.yaml:4: the event has no type; one of apply, patch, delete",
		start + "events: [{apply: " + galley + "{}}, delete: " + galley + "{}}}]": "t.yaml:4: an event has one type, but this one has apply and delete",
		start + "given: [{kind: Galley}]":                                         "t.yaml:4: an object needs apiVersion and kind; such as {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b}}",
		start + "env: [a]":                                                        "t.yaml:4: env must be an object of strings",
		start + "expect: {error: x}\n- {name: x, expect: {error: x}}":             `t.yaml:5: the test on line 3 has the same name, "x"`,
		start + "expect: {error: x}":                                              `t.yaml:3: the test "x" has no object of kind Galley; add one to given or events, with apiVersion: ship.example.org/v1`,
		"kind: Gally\ntests:\n- {name: x, expect: {error: x}}":                    "t.yaml:1: watches.yaml has no kind Gally; did you mean Galley?",
		"kind: Galley.example.com\ntests:\n- {name: x, expect: {error: x}}":       "t.yaml:1: watches.yaml has no kind Galley.example.com; kinds: Galley",
	} {
		name := filepath.Join(t.TempDir(), "t.yaml")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := readFile(name, "t.yaml")
		if err == nil {
			err = op.Check([]*File{f})
		}
		got := ""
		if err != nil {
			if got = err.Error(); fault.HintOf(err) != "" {
				got += "; " + fault.HintOf(err)
			}
		}
		if got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}
