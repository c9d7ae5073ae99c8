package charttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
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
	defined, err := kubeapi.ReadCRD(crds[0])
	if err != nil {
		t.Fatal(err)
	}
	return Operator{Charts: []Chart{{list[0], c}}, Kinds: kubeapi.Builtin().With(defined)}, crds
}

const galley = "{apiVersion: ship.example.org/v1, kind: Galley, metadata: {name: a}, spec: "

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
