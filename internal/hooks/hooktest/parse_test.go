package hooktest

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/testfile"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestErrors checks lines and suggestions in error messages.
func TestErrors(t *testing.T) {
	t.Parallel()
	test := func(lines ...string) string {
		return "hook: a.sh\ntests:\n- name: x\n  " + strings.Join(lines, "\n  ") + "\n"
	}
	for text, want := range map[string]string{
		"":     "t.yaml: the file is empty; it needs the keys hook and tests; operon hooks test --help describes test files",
		"a: [": "t.yaml:1:1: did not find expected node content; check the indentation, quotes and brackets of this line",
		"hook: a.sh\ntests:\n- name: x\n  events:\n  - schedule: tick\n   expect: {runs: 1}\n": "t.yaml:6:4: did not find expected key; check the indentation, quotes and brackets of this line",
		"[]":                       "t.yaml:1: the file must be an object",
		"tests: []":                "t.yaml:1: the key hook is missing: it has the path of the hook in the hooks folder; such as hook: copy.sh",
		"hook: a.sh":               "t.yaml:1: there are no tests",
		"hook: [a]\ntests: []":     "t.yaml:1: hook must be a string",
		"hook: a.sh\ntest: []":     "t.yaml:2: the file has no key test; did you mean tests?",
		"hook: a.sh\nhook: b.sh":   "t.yaml:2: the file has the key hook twice",
		"hook: a.sh\ntests:\n- {}": "t.yaml:3: a test needs a name",
		test("expct: {}"):          "t.yaml:4: a test has no key expct; did you mean expect?",
		test("events: []"):         `t.yaml:3: the test "x" expects nothing; write expect: and run operon hooks test --update, which fills it in`,
		test("given: [nowhere.yaml]", "expect: {runs: 1}"):                                                                                                          "t.yaml:4: nowhere.yaml: no such file or directory",
		test("given: [{kind: Pod}]", "expect: {runs: 1}"):                                                                                                           "t.yaml:4: an object needs apiVersion and kind; such as {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b}}",
		test("given: [7]", "expect: {runs: 1}"):                                                                                                                     "t.yaml:4: expected an object with apiVersion and kind",
		test("given:", "- apiVersion: v1", "  kind: Secret", "  metadata: {name: b}", "  dta: {}", "expect: {runs: 1}"):                                             "t.yaml:8: Secret b has no field dta; did you mean data?",
		test("given:", "- {apiVersion: v1, kind: Pod, metadata: {name: b, lables: {}}}", "expect: {runs: 1}"):                                                       "t.yaml:5: Pod b has no field metadata.lables; did you mean labels?",
		test("given:", "- apiVersion: v1", "  kind: Pod", "  spec:", "    containers:", "    - name: a", "    - {name: b,", "       imag: c}", "expect: {runs: 1}"): "t.yaml:11: Pod has no field spec.containers[1].imag; did you mean image?",
		test("events:", "- apply:", "    apiVersion: v1", "    kind: Secret", "    data: {on: yes}", "  expect: {runs: 1}"):                                         "t.yaml:8: Secret: data: expected a base64 string, got a boolean",
		test("given: [{apiVersion: v1, kind: Secret, data: {a: plain text}}]", "expect: {runs: 1}"):                                                                 "t.yaml:4: Secret: illegal base64 data at input byte 5; use stringData for plain text",
		test("given: [{apiVersion: apps/v1, kind: Deployment, spec: {replicas: two}}]", "expect: {runs: 1}"):                                                        "t.yaml:4: Deployment: spec.replicas: expected a number, got a string",
		test("idempotent: perhaps", "expect: {runs: 1}"):                                                                                                            "t.yaml:4: idempotent must be true or false",
		test("expect: {runs: one}"):                                                                           "t.yaml:4: runs must be an integer",
		test("expect:", "  objects:", "  - {kind: Pod}"):                                                      "t.yaml:6: an object needs apiVersion and kind; such as {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: b}}",
		test("expect: {patches: {}}"):                                                                         "t.yaml:4: patches must be a list",
		test("expect: {response: []}"):                                                                        "t.yaml:4: response must be an object",
		test("events:", "- {expect: {runs: 1}}"):                                                              "t.yaml:5: the event has no type; one of apply, delete, patch, schedule, validate, mutate, convert, retry, beforeAll, afterAll, beforeHelm, afterHelm, beforeDeleteHelm, afterDeleteHelm",
		test("events:", "- {schedule: a, retry: true, expect: {}}"):                                           "t.yaml:5: an event has one type, but this one has schedule and retry",
		test("events:", "- {retry: no, expect: {}}"):                                                          "t.yaml:5: retry must be true",
		test("events:", "- {validate: {operation: CREATE}}", "expect: {}"):                                    "t.yaml:5: validate: a CREATE request must have an object and no old object; object is the new object, oldObject the old one",
		test("events:", "- {validate: {operation: MAKE, object: {apiVersion: v1, kind: Pod}}}", "expect: {}"): `t.yaml:5: validate: unknown operation "MAKE": it must be CREATE, UPDATE, DELETE or CONNECT; object is the new object, oldObject the old one`,
		test("events:", "- {mutate: {}}", "expect: {}"):                                                       "t.yaml:5: mutate: a DELETE request must have an object; object is the new object, oldObject the old one",
		test("events:", "- {mutate: {operation: UPDATE, object: {apiVersion: v1, kind: Pod}}}", "expect: {}"): "t.yaml:5: mutate: an UPDATE request must have an object and an old object; object is the new object, oldObject the old one",
		test("events:", "- {convert: {to: g/v1}}", "expect: {}"):                                              "t.yaml:5: convert needs the keys to and objects; convert: {to: example.com/v1, objects: [...]}",
		test("expect:", "  values: &a {b: [{c: *a}]}"):                                                        "t.yaml:5: *a refers to a value that contains it",
		test("expect: {runs: 1}") + "- {name: x, expect: {}}\n":                                               `t.yaml:5: the test on line 3 has the same name, "x"`,
	} {
		_, err := readFile(write(t, text), "t.yaml")
		got := ""
		if err != nil {
			if got = err.Error(); fault.HintOf(err) != "" {
				got += "; " + fault.HintOf(err)
			}
		}
		got = strings.TrimSuffix(got, "; specify a file with a Kubernetes object in YAML or JSON")
		if got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// TestReadAll checks that files with objects are skipped.
func TestReadAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml": "hook: b\ntests: [{name: x, given: [objects], expect: {runs: 1}}]", "a/a.yml": "hook: a\ntests: [{name: x, expect: {runs: 1}}]",
		"objects/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: z}", "bin/ping": "#!/bin/sh",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := readAll(dir, "t")
	if err != nil || len(files) != 2 || files[0].Path != "t/a/a.yml" || files[1].Path != "t/b.yaml" {
		t.Fatalf("%v %v", files, err)
	}
	if given := files[1].Tests[0].Given; len(given) != 2 || given[1].GetName() != "z" {
		t.Errorf("given %v", given)
	}
}

// TestShortMetrics compares metrics in the form in which the expectation has them.
func TestShortMetrics(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	added, unset := m{"name": "a", "action": "add", "value": 1.0}, m{"name": "a", "action": "expire"}
	for _, tc := range []struct{ want, metric, form m }{
		{m{"name": "a", "add": 2.0}, added, m{"name": "a", "add": 1.0}},
		{m{"name": "a", "set": 2.0}, added, added},
		{m{"name": "a", "value": 2.0}, added, added},
		{m{"name": "a"}, added, added},
		{m{"add": 2.0}, unset, unset},
	} {
		if got := inShortForm(tc.want, tc.metric); !reflect.DeepEqual(got, any(tc.form)) {
			t.Errorf("%v for %v: %v, want %v", tc.metric, tc.want, got, tc.form)
		}
	}
	if added["value"] != 1.0 {
		t.Error("the metric changed")
	}
}

// TestCorrected checks that updates omit fields that a server sets in each run, also those
// that a test has copied from an object.
func TestCorrected(t *testing.T) {
	t.Parallel()
	object := map[string]any{"kind": "Pod", "metadata": map[string]any{"name": "a", "uid": "1", "resourceVersion": "7", "creationTimestamp": "2020-01-01T00:00:00Z"}}
	short := map[string]any{"kind": "Pod", "metadata": map[string]any{"name": "a"}}
	long := strings.Repeat("x", testfile.Longest)
	for name, tc := range map[string]struct{ want, got, corrected any }{
		"a long text":            {map[string]any{"k": long + "old"}, map[string]any{"k": long + "new"}, map[string]any{"k": long + "new"}},
		"more items":             {[]any{}, []any{map[string]any{"object": object}}, []any{map[string]any{"object": short}}},
		"another type":           {map[string]any{"k": "v"}, []any{object}, []any{short}},
		"copied server fields":   {map[string]any{"metadata": map[string]any{"uid": "0", "resourceVersion": "6", "name": "b"}}, object, map[string]any{"metadata": map[string]any{"name": "a"}}},
		"expected server fields": {map[string]any{"metadata": map[string]any{"uid": "1", "name": "b"}}, object, map[string]any{"metadata": map[string]any{"uid": "1", "name": "a"}}},
	} {
		if got := corrected(tc.want, tc.want, tc.got); !reflect.DeepEqual(got, tc.corrected) {
			t.Errorf("%s: got %v, want %v", name, got, tc.corrected)
		}
	}
}
