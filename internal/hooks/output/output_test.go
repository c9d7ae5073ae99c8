package output

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/finding"
)

func findingsText(findings []finding.Finding) string {
	var lines []string
	for _, f := range findings {
		level := "warning"
		if f.IsError() {
			level = "error"
		}
		lines = append(lines, fmt.Sprintf("%d:%d %s %s: %s", f.Line, f.Column, level, f.Rule, f.Message))
	}
	return strings.Join(lines, "\n")
}

// TestFindings checks a finding of each rule with its position.
func TestFindings(t *testing.T) {
	t.Parallel()
	patch := func(text string) []finding.Finding { _, f := ParsePatches([]byte(text)); return f }
	metric := func(text string) []finding.Finding { _, f := ParseMetrics([]byte(text), "hook.sh"); return f }
	admission := func(text string) []finding.Finding { _, f := ParseAdmission([]byte(text)); return f }
	conversion := func(text string) []finding.Finding { _, f := ParseConversion([]byte(text)); return f }
	seen := map[string]bool{}
	for _, tc := range []struct {
		parse func(string) []finding.Finding
		text  string
		want  string
	}{
		{patch, "operation: Delete\n\tkind: Pod", "2:0 error patch-syntax: found a tab character that violates indentation"},
		{patch, `{"operation": "Delete"}` + "\n" + `{"operation": }`, `2:0 error patch-syntax: not valid JSON: invalid character '}' looking for beginning of value`},
		{patch, `[{"operation": "Delete"}]`, "1:0 error patch-syntax: expected an object, got a list"},
		{patch, "{\"operation\": \"Delete\"}\n{\"operation\": [1]}\n{\"operation\": \"Delete\"}", "2:1 error patch-syntax: operation: expected a string, got a list"},
		{patch, "operation: Delete\nignoreHookError: {a: b}", "2:0 error patch-syntax: expected a boolean, got an object"},
		{patch, `{"operation": "create", "object": {"a": 1}}`, `1:15 error patch-schema: operation is "create"; it must be one of Create, CreateOrUpdate, CreateIfNotExists, Delete, DeleteInBackground, DeleteNonCascading, JQPatch, MergePatch, JSONPatch; did you mean Create?`},
		{patch, "operation: DeleteInBackground\nkind: Pod\nname: x\n---\n", "5:1 error patch-schema: the document is empty; remove the preceding ---"},
		{patch, "---\nkind: Pod\n", "2:1 error patch-schema: operation is missing; it must be one of Create, CreateOrUpdate, CreateIfNotExists, Delete, DeleteInBackground, DeleteNonCascading, JQPatch, MergePatch, JSONPatch"},
		{patch, "operation: Create\nobject: {}\n", "2:9 error patch-schema: object of Create is empty"},
		{patch, "operation: MergePatch\nkind: Pod\nname: x\nmergePatch: [a]\n", "4:13 error patch-schema: mergePatch of MergePatch must be an object or a string that contains one, not a list"},
		{patch, "operation: DeleteInBackground\nnamespace: x\n", "1:1 error patch-schema: DeleteInBackground lacks kind\n1:1 error patch-schema: DeleteInBackground lacks name"},
		{patch, "operation: JSONPatch\nkind: Pod\nname: x\njsonPatch:\n- {op: remove, path: /x}\n",
			"5:3 error patch-schema: jsonPatch[0] lacks value; the engine requires one in the first item; add any value, which the API server ignores, or write the entire patch as a string"},
		{patch, "operation: DeleteInBackground\nkind: Pod\nname: x\nnameSpace: y\n", "4:1 warning patch-unknown-key: unknown key nameSpace; the engine ignores it; did you mean namespace?"},
		{patch, `{"operation": "DeleteInBackground", "kind": "Pod", "name": "x",` + "\n" + `  "ignoremissing": true, "Namespace": "y"}`,
			"2:3 warning patch-unknown-key: unknown key ignoremissing; the engine ignores it"},
		{patch, "operation: Delete\nkind: Pod\nname: x\n", "1:12 warning delete-foreground: Delete waits up to 20 s until Pod x is deleted, and blocks its queue; DeleteInBackground does not wait"},
		{patch, "operation: Create\nnamespace: y\nobject: {apiVersion: v1, kind: Pod, metadata: {name: x}}\n", "2:1 warning patch-no-effect: namespace has no effect on Create; set object.metadata.namespace"},
		{patch, "operation: MergePatch\nkind: Pod\nname: x\nsubresource: status\nignoreHookError: true\nmergePatch: {a: b}\n",
			"5:1 warning patch-no-effect: ignoreHookError has no effect; earlier versions of the engine supported it only with subresource: /status"},
		{patch, "operation: JQPatch\nkind: Pod\nname: x\njqFilter: .a |\n", "4:11 warning patch-fails: jqFilter: unexpected EOF"},
		{patch, "operation: MergePatch\nkind: Pod\nname: x/y\nmergePatch: '[]'\n",
			"3:7 warning patch-fails: name \"x/y\" is not valid in a URL: it may not contain '/'\n4:13 warning patch-fails: mergePatch is a string that contains a list instead of an object"},
		{patch, "operation: JSONPatch\nkind: Pod\nname: x\njsonPatch: '[{op: remove, path: x}, {op: put, path: /y}]'\n",
			"4:12 warning patch-fails: item 0 (remove) has path \"x\", which must start with /\n4:12 warning patch-fails: item 1 has op \"put\"; it must be add, remove, replace, move, copy or test"},
		{patch, "operation: Create\nobject: '- x'\n", "2:9 warning patch-fails: object is a string that does not contain an object: it is a list"},
		{patch, "operation: Create\nobject: {kind: Pod}\n", "2:9 warning patch-fails: object lacks apiVersion and metadata.name"},
		{patch, "operation: CreateOrUpdate\nobject: {apiVersion: v1, kind: Pod, metadata: {name: x, generation: 1}}\n",
			"2:9 warning patch-fails: object contains a number or a time in YAML; the engine panics if the object already exists; write JSON, or the object as a string"},
		{patch, `{"operation": "CreateOrUpdate", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "resourceVersion": "5"}}}`,
			"1:43 warning patch-resource-version: object has metadata.resourceVersion, like objects from snapshots, and the API server rejects it; remove it with del(.metadata.resourceVersion)"},

		{metric, "{\"name\": \"x\", \"set\": 1}\nname: y\n", "2:0 error metric-syntax: not valid JSON: invalid character 'a' in literal null (expecting 'u')"},
		{metric, `{"name": "x", "set": "1"}`, "1:1 error metric-syntax: set: expected a number, got a string"},
		{metric, `{"name": "x", "set": 1, "labels": {"a": 1}}`, "1:1 error metric-syntax: labels: expected a string, got a number"},
		{metric, `[{"name": "x", "set": 1}]`, "1:1 error metric-syntax: expected an object, got a list"},
		{metric, `{"name": "x", "action": "set"}`, "1:1 error metric: set of x lacks value"},
		{metric, `{"name": "x", "action": "observe", "value": 1}`, "1:1 error metric: observe of x lacks buckets"},
		{metric, "\n" + `{"name": "x", "set": 1, "label": {}}`, "2:25 warning metric-unknown-key: unknown key label; the engine ignores it; did you mean labels?"},
		{metric, `{"name": "x", "action": "sett", "value": 1}`, `1:25 warning metric-dropped: action is "sett"; it must be one of add, set, observe, expire; the engine logs an error and ignores the line; did you mean set?`},
		{metric, `{"name": "x", "set": 1}` + "\n" + `{"name": "x", "add": 1, "group": "g"}`,
			"2:1 warning metric-counter: x does not accumulate: each run that writes to its group, g, resets it; count in the hook and use set\n2:1 warning metric-dropped: the engine drops add of x, because an earlier line uses set"},
		{metric, `{"name": "x", "set": 1, "buckets": [1]}`, "1:25 warning metric-no-effect: buckets has no effect on set"},

		{admission, `{"allowed": true, "patch": [{"op": "add"}]}`, "1:1 error answer-syntax: patch: expected a base64 string, got an object"},
		{admission, "allowed: true", "1:0 error answer-syntax: not valid JSON: invalid character 'a' looking for beginning of value"},
		{admission, "", "0:0 warning answer-missing: the file is empty; the engine responds with an error"},
		{admission, `{"allowed": false}`, "1:1 warning answer-denies: the request is denied without a message"},
		{admission, `{"allow": true, "message": "x"}`, "1:1 warning answer-denies: allowed is missing, so the request is denied\n1:2 warning answer-unknown-key: unknown key allow; the engine ignores it"},
		{admission, `{"allowed": true, "message": "x"} {}`, "1:19 warning answer-no-effect: message has no effect if the request is allowed; use warnings\n1:35 warning answer-no-effect: the engine reads only the first value"},
		{admission, `{"allowed": true, "patch": "e30="}`, "1:28 warning answer-patch: the decoded patch is invalid: a JSON patch must be a list, not an object"},
		{conversion, `{"convertedObjects": [5]}`, "1:23 warning answer-objects: convertedObjects[0] is not an object; the API server rejects the response"},
		{conversion, `{"convertedObjects": [{}], "failedMessage": "x"}`, "1:2 warning answer-no-effect: convertedObjects has no effect if failedMessage is set"},
	} {
		findings := tc.parse(tc.text)
		if diff := cmp.Diff(tc.want, findingsText(findings)); diff != "" {
			t.Errorf("%s\n%s", tc.text, diff)
		}
		for _, f := range findings {
			seen[f.Rule] = true
			if i := slices.IndexFunc(Rules(), func(r finding.Rule) bool { return r.Name == f.Rule }); i < 0 || Rules()[i].Severity != f.Severity {
				t.Errorf("Rules does not list %s with that severity", f.Rule)
			}
		}
	}
	for _, r := range Rules() {
		if !seen[r.Name] {
			t.Errorf("no test case for the rule %s", r.Name)
		}
	}
}

// TestValid checks that valid files have no findings.
func TestValid(t *testing.T) {
	t.Parallel()
	ops, findings := ParsePatches([]byte(`{"operation": "DeleteInBackground", "kind": "Pod", "name": "x", "namespace": "y"}

  {"operation": "JSONPatch", "kind": "Pod", "name": "x", "subresource": "/status",
   "jsonPatch": [{"op": "add", "path": "/a", "value": 1}, {"op": "remove", "path": "/b"}]}
`))
	if len(findings) > 0 || len(ops) != 2 || ops[0].Line != 1 || ops[1].Line != 3 || ops[0].Namespace != "y" {
		t.Errorf("%v\n%s", ops, findingsText(findings))
	}
	if body, err := ops[1].Body(); err != nil || string(body) != `[{"op":"add","path":"/a","value":1},{"op":"remove","path":"/b"}]` {
		t.Errorf("%s, %v", body, err)
	}
	metrics, findings := ParseMetrics([]byte("{\"name\": \"a\", \"set\": 1}\n{\"name\": \"b\", \"action\": \"set\", \"value\": 2, \"group\": \"g\"}"), "hook.sh")
	if len(findings) > 0 || len(metrics) != 2 || metrics[0].Group != "hook.sh" || *metrics[1].Value != 2 || metrics[1].Line != 2 {
		t.Errorf("%v\n%s", metrics, findingsText(findings))
	}
}

// FuzzPatches checks that no text causes a panic, and that the engine can send each accepted
// operation unless it has a finding.
func FuzzPatches(f *testing.F) {
	for _, text := range append(validPatches, unusualPatches...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ops, findings := ParsePatches([]byte(text))
		if finding.HasErrors(findings) && ops != nil {
			t.Error("a rejected file has operations")
		}
		for _, o := range ops {
			if !slices.Contains(operations, o.Operation) {
				t.Errorf("unknown operation %q", o.Operation)
			}
			var err error
			if o.Creates() {
				_, err = o.Manifest()
			} else if o.isPatch() && o.Operation != "JQPatch" {
				_, err = o.Body()
			}
			if err != nil && len(findings) == 0 {
				t.Errorf("%v, but no finding", err)
			}
		}
	})
}

// FuzzMetrics checks that no text causes a panic.
func FuzzMetrics(f *testing.F) {
	for _, text := range validMetrics {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		metrics, findings := ParseMetrics([]byte(text), "hook.sh")
		for _, m := range metrics {
			if m.Group == "" || m.Value == nil && m.Action != "expire" {
				t.Errorf("incomplete metric %+v\n%s", m, findingsText(findings))
			}
		}
	})
}
