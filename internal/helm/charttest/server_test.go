//go:build testall

package charttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/clustertest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

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

// failures runs the tests in a file, and returns their failures.
func failures(t *testing.T, op Operator, text string, backend Backend) string {
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
		out, err := op.Run(t.Context(), test, backend)
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
	oars       = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a-oars}, spec: {replicas: "
	configMap  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: "
	deployment = "helm-charts/galley/templates/deployment.yaml"
)

// TestRun checks what tests of a chart report.
func TestRun(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t).Kubeconfig("")
	cases := map[string]struct {
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
		"an unknown field":            {test: "given: [" + galley + "{sail: {colour: red}}}]\n  expect: {error: 'strict decoding error: unknown field \"spec.sail.colour\"', absent: [" + oars + "2}}]}"},
		"an unknown field later":      {test: "events: [{apply: " + galley + "{}}}, {patch: " + galley + "{sail: {color: red, size: 2}}}, expect: {error: 'unknown field \"spec.sail.size\"'}}]"},
		"no spec":                     {test: "given: [{apiVersion: ship.example.org/v1, kind: Galley, metadata: {name: a}}]\n  expect: {error: spec is missing}"},
		"an object without its kind":  {test: "given: [" + galley + "{watch: true}}]\n  expect: {error: 'templates/watch.yaml: unknown kind \"Lookout\" in monitoring.example.org/v1'}"},
		"an object that is not ours":  {test: "given: [" + galley + "{}}, " + configMap + "a-keys}}]\n  expect: {error: 'templates/key.yaml: ConfigMap default/a-keys exists, and does not belong to the release'}"},
		"a failed install is undone":  {role: strings.Replace(role, "create, patch", "patch", 1), test: "given: [" + galley + "{}}]\n  expect: {error: 'cannot create resource \"deployments\"', absent: [" + configMap + "a-keys}}, {apiVersion: v1, kind: Secret}]}"},
		"a CRD of the test":           {test: "given: [" + galley + "{watch: true}}, " + crd("monitoring.example.org", "Lookout", "{type: object}") + "]\n  expect: {error: 'cannot get resource \"lookouts\"'}"},
		"a missing permission":        {role: strings.Replace(role, "patch, ", "", 1), test: "events: [{apply: " + galley + "{}}}, {patch: " + galley + "{oars: 3}}, expect: {error: '" + deployment + ": Deployment default/a-oars: deployments.apps \"a-oars\" is forbidden: User \"system:serviceaccount:kube-system:operon-hooks\" cannot patch resource \"deployments\"'}}]"},
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
	}
	run := func(t *testing.T, name string, backend Backend) {
		t.Helper()
		tc := cases[name]
		op, _ := newOperator(t, tc.watch)
		op.Texts = tc.texts
		if got := failures(t, op, "kind: Galley\ntests:\n- name: x\n  "+tc.test+"\n", backend); got != tc.want {
			t.Errorf("got\n%s\nwant\n%s", got, tc.want)
		}
	}
	_, crds := newOperator(t, "")
	var usual []string
	for name, tc := range cases {
		if tc.role == "" {
			usual = append(usual, name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			run(t, name, clustertest.Open(t, server, "ships-system", crds, parse(t, tc.role)))
		})
	}
	backend := clustertest.Open(t, server, "ships-system", crds, parse(t, role))
	for _, name := range usual {
		t.Run(name, func(t *testing.T) { run(t, name, backend) })
	}
}

// TestNamespaced checks that an operator of one namespace ignores others.
func TestNamespaced(t *testing.T) {
	t.Parallel()
	op, crds := newOperator(t, "")
	op.Namespace = "ships-system"
	backend := clustertest.Open(t, servertest.Start(t).Kubeconfig(""), "ships-system", crds, parse(t, strings.Replace(role, "kind: ClusterRole", "kind: Role", 1)+`---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: crds}, rules: [{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, create]}]}
`))
	if got := failures(t, op, `kind: Galley
tests:
- name: own
  given: [`+galley+`{}}]
  expect: {objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: a-oars, namespace: ships-system}}]}
- name: other
  given: [{apiVersion: ship.example.org/v1, kind: Galley, metadata: {name: a, namespace: default}, spec: {}}]
  expect: {absent: [{apiVersion: apps/v1, kind: Deployment}]}
`, backend); got != "" {
		t.Error(got)
	}
}
