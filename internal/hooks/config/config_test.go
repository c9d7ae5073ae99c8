package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/finding"
)

// TestFindings checks a finding of each rule with its position.
func TestFindings(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, tc := range []struct {
		text, want string
		owner      Owner
	}{
		{text: "configVersion: v1\nbeforeHelm: -1", want: "2:13: ERROR step: beforeHelm is -1, but an order must not be negative", owner: Module},
		{text: "configVersion: v1\nbeforeHelm: 1\nbeforeHelm: 2", owner: Module,
			want: "3: ERROR step: addon-operator cannot read the steps: line 3: mapping key \"beforeHelm\" already defined at line 2"},
		{text: "configVersion: v1\nbeforeHelm: 1", want: "2:1: ERROR schema: the configuration has no key beforeHelm"},
		{text: "configVersion: v1\nbeforeHelm: 1", want: "2:1: ERROR schema: the configuration has no key beforeHelm", owner: Global},
		{text: "configVersion: v1\nkubernetesMutating:\n- {name: a.b.c, rules: [{apiVersions: [v1], apiGroups: [''], resources: [pods], operations: [CREATE]}]}", owner: Module,
			want: "3:1: lint webhook-of-addon: addon-operator accepts kubernetesMutating, but does not serve webhooks: use shell-operator, or a webhook in the chart"},
		{"a: b: c", "1: ERROR syntax: the configuration is neither YAML nor JSON: mapping values are not allowed in this context", Shell},
		{"- x", "1: ERROR syntax: the configuration must be an object with configVersion and bindings, not a list", Shell},
		{"{}", "1:1: ERROR schema: the configuration has no binding", Shell},
		{"configVersion: v2\nonStartup: 1", "1:16: ERROR schema: configVersion is \"v2\", but the engine supports only v1", Shell},
		{"configVersion:\nonStartup: 1", "1:15: ERROR schema: configVersion is null, but the engine supports only v1", Shell},
		{"configVersion: v1", "1:1: ERROR schema: the configuration has no binding", Shell},
		{"configVersion: v1\nonstartup: 1", "2:1: ERROR schema: the configuration has no key onstartup; did you mean onStartup?", Shell},
		{"configVersion: v1\nonStartup: soon", "2:12: ERROR schema: onStartup must be an integer, not a string", Shell},
		{"configVersion: v1\nonStartup: 1.5", "2:12: ERROR schema: onStartup must be an integer, not a number", Shell},
		{"configVersion: v1\nschedule: []", "2:11: ERROR schema: schedule is empty", Shell},
		{"configVersion: v1\nschedule:\n- {crontab: '* * * * *', name: yes}", "3:32: ERROR schema: schedule[0].name must be a string, not a boolean; YAML reads yes as true: add quotes", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Pod\n  watchEvent: [Add]", "4:16: ERROR schema: kubernetes[0].watchEvent[0] is \"Add\", but must be one of Added, Modified, Deleted", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Pod\n  namespace: {}", "4:14: ERROR schema: kubernetes[0].namespace must have at least 1 of labelSelector, nameSelector", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Pod\n  fieldSelector: {matchExpressions: [{field: a, value: b}]}",
			"4:38: ERROR schema: kubernetes[0].fieldSelector.matchExpressions[0] must have field, operator, value", Shell},
		{"configVersion: v1\nonStartup: 1\nsettings: {executionMinInterval: 3s, executionBurst: -1}", "3:54: lint never-run: settings.executionBurst is -1, so the engine never runs the hook", Shell},
		{"configVersion: v1\nonStartup: 1\nsettings: {executionMinInterval: 3s}", "3:11: ERROR settings: settings lacks executionBurst, a number of runs", Shell},
		{"configVersion: v1\nonStartup: 1\nsettings:\n  executionMinInterval: 3\n  executionBurst: 1", "4:25: ERROR schema: settings.executionMinInterval must be a string, not an integer", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Pod\n  apiVersion: a/b/c", "4:15: ERROR kind: kubernetes[0].apiVersion is \"a/b/c\", but must be a version or group/version", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Pod\n  jqFilter: .a |", "4:13: ERROR jq: kubernetes[0].jqFilter: jq: unexpected EOF", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Pod\n  jqFilter: nope", "4:13: ERROR jq: kubernetes[0].jqFilter: jq: function not defined: nope/0", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Pod\n  nameSelector: {matchNames: [a]}\n  fieldSelector: {matchExpressions: [{field: metadata.name, operator: '=', value: b}]}",
			"5:38: ERROR selector: kubernetes[0] selects by name in both nameSelector and fieldSelector", Shell},
		{"configVersion: v1\nkubernetes:\n- {kind: Node, name: nodes}\nschedule:\n- crontab: '* * * * *'\n  includeSnapshotsFrom: [node]",
			"6:26: ERROR snapshots: schedule[0]: no kubernetes binding is named \"node\"; did you mean nodes?", Shell},
		{"configVersion: v1\nschedule:\n- crontab: '61 * * * *'", "3:12: ERROR crontab: schedule[0].crontab: end of range (61) above maximum (59): 61", Shell},
		{"configVersion: v1\nschedule:\n- crontab: CRON_TZ=UTC * * * * *", "3:12: ERROR crontab: schedule[0].crontab: the engine supports the prefix TZ= for time zones, but not CRON_TZ=", Shell},
		{"configVersion: v1\nkubernetesValidating:\n- name: short\n  rules: [{apiVersions: [v1], apiGroups: [''], resources: [pods], operations: [CREATE]}]",
			"3:9: ERROR webhook: kubernetesValidating[0].name is \"short\": should be a domain with at least three segments separated by dots", Shell},

		{"onStartup: 1", "1:1: lint legacy-version: without configVersion: v1, the engine reads this as version v0, whose binding contexts differ", Shell},
		{"kubernetes:\n- kind: Pod", "1:1: ERROR schema: the configuration has no key kubernetes, because it lacks configVersion: v1", Shell},
		{"ConfigVersion: v1\nonStartup: 1", "1:1: ERROR schema: the configuration has no key ConfigVersion; did you mean configVersion?", Shell},
		{"configVersion: v1\nonStartup: 1\n---\n---\nx: y", "5:1: lint second-document: the engine reads the first document and ignores the others", Shell},
		{"configVersion: v1\nonStartup: 1\nonStartup: 2", "2:1: lint key-twice: onStartup is ignored: the key is duplicated, and the last one wins", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Node\n  labelSelector: {matchLabels: {\"y\": a, on: b, yes: c}}",
			"4:41: lint misread: kubernetes[0].labelSelector.matchLabels: YAML reads the key on as true: add quotes", Shell},
		{"configVersion: v1\nonStartup: 010", "2:12: lint misread: onStartup: YAML reads 010 as an octal number: remove the leading zero", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Node\n- kind: Namespace", "4:3: lint duplicate-binding: kubernetes[1] is another binding named \"kubernetes\": contexts and snapshots cannot tell them apart", Shell},
		{"configVersion: v1\nschedule:\n- crontab: '* * * * *'\n- {crontab: '@daily', name: night}\n- crontab: '@hourly'",
			"5:3: lint unnamed-binding: schedule[2] is another schedule without a name: binding contexts name all of them \"schedule\"", Shell},
		{"configVersion: v1\nkubernetes:\n- {kind: po, executeHookOnEvent: []}",
			"3:3: lint crowd-in-memory: kubernetes[0] keeps every po of the cluster in memory: select fewer objects, or set jqFilter and keepFullObjectsInMemory: false", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Node\n  waitForSynchronization: false", "4:27: lint wait-without-queue: kubernetes[0].waitForSynchronization has no effect without a queue: set queue", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Pod\n  keepFullObjectsInMemory: false", "4:28: lint nothing-kept: kubernetes[0] keeps neither objects nor filter results for the hook: set jqFilter", Shell},
		{"configVersion: v1\nkubernetes:\n- {kind: Node, name: nodes}\n- kind: Pdo\n  apiVersion: v1", "4:9: lint unknown-kind: kubernetes[1].kind: v1 has no Pdo", Shell},
		{"configVersion: v1\nkubernetes:\n- {kind: Pod, fieldSelector: {matchExpressions: [{field: spec.foo, operator: Equals, value: x}]}}",
			"3:58: lint unknown-field: kubernetes[0].fieldSelector.matchExpressions[0].field: Pod has no spec.foo", Shell},
		{"configVersion: v1\nkubernetes:\n- {kind: Node, namespace: {labelSelector: {matchLabels: {a: b}}}}",
			"3:27: lint no-namespace: kubernetes[0].namespace: Node has no namespace", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: secrets", "3:3: lint secrets-in-memory: kubernetes[0] keeps every Secret of the cluster in memory: select fewer objects, or set jqFilter and keepFullObjectsInMemory: false", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Node\n  resynchronizationPeriod: x", "4:28: lint no-effect: kubernetes[0].resynchronizationPeriod has no effect: no version of the engine reads it", Shell},
		{"configVersion: v1\nkubernetes:\n- kind: Node\n  watchEvent: []\n  executeHookOnEvent: []", "4:15: lint no-effect: kubernetes[0].watchEvent has no effect if executeHookOnEvent is set", Shell},
		{"configVersion: v1\nkubernetesValidating:\n- name: a.b.c", "3:3: lint webhook-never-called: kubernetesValidating[0] has no rules, so it is never called", Shell},
		{"configVersion: v1\nkubernetesMutating:\n- name: a.b.c\n  timeoutSeconds: 31\n  rules: [{apiVersions: [v1], apiGroups: [''], resources: [pods], operations: [CREATE]}]",
			"4:19: lint mutating-refused: kubernetesMutating[0].timeoutSeconds must be from 1 to 30: otherwise the API server rejects the webhook when the operator starts", Shell},
		{"configVersion: v1\nkubernetesMutating:\n- name: a.b.c\n  matchConditions: [{name: x, expression: 'request.verb == \"x\"'}]\n" + podRules,
			"4:51: lint match-condition: kubernetesMutating[0].matchConditions[0].expression: undefined field 'verb': the API server rejects it when the operator starts", Shell},
		{"configVersion: v1\nkubernetes:\n- {kind: Node, group: g}\nschedule:\n- {crontab: '* * * * *', group: g, queue: q}",
			"5:3: lint group-in-queues: schedule[0] of group \"g\" uses the queue \"q\", but another member uses \"main\": the hook may run for both at the same time", Shell},
		{"configVersion: v1\nkubernetesCustomResourceConversion:\n- {name: a, crdName: b, conversions: [{fromVersion: v1, toVersion: v1}]}",
			"3:39: lint conversion-to-itself: kubernetesCustomResourceConversion[0].conversions[0] converts v1 to itself, which the API server never requests", Shell},
		// JSON is valid YAML, so it has positions, too.
		{`{"configVersion": "v1",` + "\n" + ` "onStartup": "1"}`, "2:15: ERROR schema: onStartup must be an integer, not a string", Shell},
		// Findings about aliases have the position of the anchored value.
		{"configVersion: v1\nkubernetes:\n- &a {kind: Pod, name: x, queue: 1}\n- *a", "3:34: ERROR schema: kubernetes[0].queue must be a string, not an integer", Shell},
	} {
		c, findings := tc.owner.Parse([]byte(tc.text))
		if c != nil {
			findings = append(findings, CheckKinds([]byte(tc.text), c, fakeKinds{})...)
		}
		if len(findings) == 0 {
			t.Errorf("%s\nno finding, want %s", tc.text, tc.want)
			continue
		}
		f := findings[0]
		seen[f.Rule] = true
		if got := line(f); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.text, got, tc.want)
		}
		if (c == nil) != f.IsError() {
			t.Errorf("%s\nis an error: %t, but the configuration is nil: %t", tc.text, f.IsError(), c == nil)
		}
	}
	for _, r := range Rules() {
		if !seen[r.Name] {
			t.Errorf("no test case for the rule %s", r.Name)
		}
		delete(seen, r.Name)
	}
	if len(seen) > 0 {
		t.Errorf("Rules does not list %v", seen)
	}
}

const podRules = "  rules: [{apiVersions: [v1], apiGroups: [''], resources: [pods], operations: [CREATE]}]"

// TestBurstWithoutInterval checks that a burst without an interval causes no finding.
func TestBurstWithoutInterval(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"{executionMinInterval: 0s, executionBurst: -1}", "{executionMinInterval: 3s, executionBurst: 0}"} {
		if _, findings := Shell.Parse([]byte("configVersion: v1\nonStartup: 1\nsettings: " + settings)); len(findings) > 0 {
			t.Errorf("%s: %v", settings, findings)
		}
	}
}

// TestEmptyDocuments checks that empty documents cause no finding.
func TestEmptyDocuments(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"configVersion: v1\nonStartup: 1\n---\n", "---\nconfigVersion: v1\nonStartup: 1\n...\n---\n# nothing\n"} {
		if c, findings := Shell.Parse([]byte(text)); c == nil || len(findings) > 0 {
			t.Errorf("%q: %v", text, findings)
		}
	}
}

// TestConditions checks the positions of problems in matchConditions.
func TestConditions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ conditions, want string }{
		{"[{name: x, expression: 'true'}, {name: y.example.org/z, expression: request.operation == 'CREATE'}]", ""},
		{"[{name: 'a b', expression: 'true'}]", "4:28 "},
		{"[{name: x, expression: 'true'}, {name: x, expression: 'true'}]", "4:59 "},
		{"[{name: x, expression: ''}]", "4:43 "},
		{"[{name: x, expression: nope}]", "4:43 "},
		{"[{name: x, expression: \"true && nope\"}]", "4:52 "},
		{"[{name: x, expression: 'nope == ''a'''}]", "4:43 "}, // the quotes are doubled in YAML
		{"[{name: x, expression: request.name}]", "4:43 "},
		{"\n  - name: x\n    expression: |\n      true &&\n        nope\n", "8:9 "},
		{"\n  - name: x\n    expression: >\n      true &&\n      nope\n", "6:17 "},
	} {
		var positions strings.Builder
		_, findings := Shell.Parse([]byte("configVersion: v1\nkubernetesValidating:\n- name: a.b.c\n  matchConditions: " + tc.conditions + "\n" + podRules))
		for _, f := range findings {
			if f.Rule != ruleCondition.Name || f.IsError() {
				t.Errorf("%s: %s", tc.conditions, line(f))
			}
			fmt.Fprintf(&positions, "%d:%d ", f.Line, f.Column)
		}
		if got := positions.String(); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.conditions, got, tc.want)
		}
	}
}

func line(f finding.Finding) string {
	position := fmt.Sprint(f.Line)
	if f.Column > 0 {
		position += fmt.Sprintf(":%d", f.Column)
	}
	level := "lint"
	if f.IsError() {
		level = "ERROR"
	}
	return fmt.Sprintf("%s: %s %s: %s", position, level, f.Rule, f.Message)
}

// fakeKinds has one kind that cannot be watched, and one unknown field.
type fakeKinds struct{}

func (fakeKinds) CannotWatch(apiVersion, kind string) string {
	if kind != "Pdo" {
		return ""
	}
	return apiVersion + " has no " + kind
}

func (fakeKinds) CannotSelectNamespaces(_, kind string) string {
	if kind == "Node" {
		return kind + " has no namespace"
	}
	return ""
}

func (fakeKinds) CannotSelect(_, kind, field string) string {
	if field != "spec.foo" {
		return ""
	}
	return kind + " has no " + field
}

// TestParse checks parsed configurations.
func TestParse(t *testing.T) {
	t.Parallel()
	if c, _ := Module.Parse([]byte("afterHelm: 10\nbeforeHelm: 5\nonStartup: 1")); c == nil || c.Steps["afterHelm"] != 10 || strings.Join(c.StepNames(), " ") != "beforeHelm afterHelm" {
		t.Errorf("steps: %v", c)
	}
	c, findings := Shell.Parse([]byte("configVersion: v1\nkubernetes:\n- kind: Namespace\n- {kind: Node, name: nodes, queue: q, watchEvent: [Added], executeHookOnSynchronization: false}\nschedule:\n- crontab: '@hourly'\n"))
	if c == nil || len(findings) > 0 {
		t.Fatal(findings)
	}
	pods, nodes := c.Kubernetes[0], c.Kubernetes[1]
	if got := strings.Join([]string{pods.BindingName(), pods.QueueName(), nodes.BindingName(), nodes.QueueName(), c.Schedule[0].BindingName()}, " "); got != "kubernetes main nodes q schedule" {
		t.Error(got)
	}
	if !slices.Equal(pods.Events(), []string{"Added", "Modified", "Deleted"}) || !slices.Equal(nodes.Events(), []string{"Added"}) {
		t.Error(pods.Events(), nodes.Events())
	}
	if !pods.Synchronizes() || nodes.Synchronizes() {
		t.Error("synchronization must be enabled by default")
	}
}

// FuzzParse checks that Parse neither panics nor fails without a finding.
func FuzzParse(f *testing.F) {
	f.Add("configVersion: v1\nkubernetes:\n- &a {kind: Pod, namespace: {nameSelector: {matchNames: [x]}}}\n- *a\n")
	f.Add("onKubernetesEvent:\n- event: [add]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, findings := Shell.Parse([]byte(text))
		hasErrors := finding.HasErrors(findings)
		if (c == nil) != hasErrors {
			t.Fatalf("the configuration is nil: %t, findings: %v", c == nil, findings)
		}
		for _, f := range findings {
			if f.Message == "" || strings.Contains(f.Message, "\n") {
				t.Errorf("the message is not one line: %q", f.Message)
			}
		}
	})
}
