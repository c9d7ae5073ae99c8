package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestQuirks checks surprising behaviour of the engine: it rejects some documented
// configurations, and accepts some mistakes. An empty want means no finding.
func TestQuirks(t *testing.T) {
	t.Parallel()
	const rule = "rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]"
	for _, tc := range []struct{ text, want string }{
		{"onStartup: 1\nsettings: {executionMinPeriod: 3s, executionBurst: 1}", "settings has no key executionMinPeriod"},
		{"onStartup: 1\nsettings: {executionBurst: 1}", "settings lacks executionMinInterval"},
		{"kubernetes: [{kind: Pod, nameSelector: [default]}]", "kubernetes[0].nameSelector must be an object, not a list"},
		{"kubernetes: [{kind: Pod, namespace: {nameSelector: [default]}}]", "kubernetes[0].namespace.nameSelector must be an object, not a list"},
		{"kubernetes: [{kinds: [Pod]}]", "kubernetes[0] has no key kinds"},
		{"kubernetes: [{name: a}]", "kubernetes[0] lacks kind"},
		{"kubernetes: [{kind: 'no such kind!!'}]", ""},
		{"kubernetes: [{kind: Node, executeHookOnEvent: []}]", ""},
		{"kubernetes: [{kind: Pod, executeHookOnEvent: [Changed]}]", "must be one of Added, Modified, Deleted"},
		{"kubernetes: [{kind: Pod, executeHookOnSynchronization: 'false'}]", "must be a boolean, not a string"},
		{"kubernetes: [{kind: Pod, labelSelector: {}}]", "kubernetes[0].labelSelector must have at least 1 of"},
		{"kubernetes: [{kind: Pod, labelSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}]", "values set must be empty"},
		{"kubernetes: [{kind: Node, labelSelector: {matchExpressions: [{key: a, operator: DoesNotExist}]}}]", ""},
		{"kubernetes: [{kind: Node, fieldSelector: {matchExpressions: [{field: metadata.name, operator: NotEquals, value: b}]}}]", ""},
		{"kubernetes: [{kind: Node, fieldSelector: {matchExpressions: [{field: metadata.name, operator: In, value: b}]}}]", "operator is \"In\""},
		{"kubernetes: [{kind: Node, includeSnapshotsFrom: [nope]}]", "no kubernetes binding is named \"nope\""},
		{"kubernetes: [{kind: Pod, includeSnapshotsFrom: []}]", "kubernetes[0].includeSnapshotsFrom is empty"},
		{"kubernetes: [{kind: Node, resynchronizationPeriod: banana}]", "has no effect"},
		{"kubernetes: [{kind: Node, waitForSynchronization: false, queue: q}]", ""},
		{"schedule: [{crontab: '@every 30s'}]", ""},
		{"schedule: [{crontab: 'TZ=Europe/Berlin 0 6 * * *'}]", ""},
		{"schedule: [{crontab: '*/5 * * * * *'}]", ""},
		{"schedule: [{crontab: '* * * *'}]", "crontab"},
		{"schedule: [{name: a}]", "schedule[0] lacks crontab"},
		{"kubernetesValidating: [{name: a.b.c, timeoutSeconds: 31, " + rule + "}]", "timeoutSeconds must be from 1 to 30"},
		{"kubernetesValidating: [{name: a.b.c, failurePolicy: Never, " + rule + "}]", "failurePolicy is \"Never\""},
		{"kubernetesValidating: [{name: a.b.c, sideEffects: Some, " + rule + "}]", "sideEffects is \"Some\""},
		{"kubernetesValidating: [{name: a.b.c, reinvocationPolicy: IfNeeded, " + rule + "}]", "has no key reinvocationPolicy"},
		{"kubernetesMutating: [{name: a.b.c, reinvocationPolicy: IfNeeded, " + rule + "}]", "has no key reinvocationPolicy"},
		{"kubernetesMutating: [{name: a.b.c, matchPolicy: Exact, " + rule + "}]", "has no key matchPolicy"},
		{"kubernetesMutating: [{name: short, " + rule + "}]", "which the API server rejects when the operator starts"},
		{"kubernetesMutating: [{name: a.b.c, timeoutSeconds: 99, " + rule + "}]", "otherwise the API server rejects the webhook when the operator starts"},
		{"kubernetesValidating: [{name: a.b.c}]", "has no rules, so it is never called"},
		{"kubernetesValidating: [{name: a.b.c, rules: [{apiGroups: ['*', apps], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}]", "* must be the only item"},
		{"kubernetesCustomResourceConversion: [{name: a, crdName: b.c, conversions: [{fromVersion: v1}]}]", "conversions[0] lacks toVersion"},
	} {
		_, findings := Shell.Parse([]byte("configVersion: v1\n" + tc.text))
		var messages []string
		for _, f := range findings {
			messages = append(messages, f.Message)
		}
		got := strings.Join(messages, "\n")
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s\ngot  %q\nwant %q", tc.text, got, tc.want)
		}
	}
}

// TestOrder checks that findings at the same position have a stable order. Here, the values
// of a merge key have one position.
func TestOrder(t *testing.T) {
	t.Parallel()
	const text = `configVersion: v1
kubernetesValidating:
- name: a.example.com
  rules:
  - <<: {apiGroups: ["*", a], apiVersions: ["*", ""], operations: ["*", CREATE], resources: [""]}
`
	const want = `5: kubernetesValidating[0].rules[0].apiGroups: * must be the only item
5: kubernetesValidating[0].rules[0].apiVersions: * must be the only item
5: kubernetesValidating[0].rules[0].apiVersions[1] is empty
5: kubernetesValidating[0].rules[0].operations: * must be the only item
5: kubernetesValidating[0].rules[0].resources[0] is empty
`
	for range 10 {
		_, findings := Shell.Parse([]byte(text))
		var got strings.Builder
		for _, f := range findings {
			fmt.Fprintf(&got, "%d: %s\n", f.Line, f.Message)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

// TestLegacyText checks the text of a configuration without configVersion.
func TestLegacyText(t *testing.T) {
	t.Parallel()
	c, findings := Shell.Parse([]byte("schedule:\n- crontab: '* * * * *'\n  crontab: '@daily'\nonStartup: 010\nonStartup: 011\nonKubernetesEvent:\n- {kind: Pod, event: [add], allowFailure: on}\n---\nx: y\n"))
	var got []string
	for _, f := range findings {
		got = append(got, line(f))
	}
	want := []string{
		"1:1: lint legacy-version: without configVersion: v1, the engine reads this as version v0, whose binding contexts differ",
		"2:3: lint key-twice: schedule[0].crontab is ignored: the key is duplicated, and the last one wins",
		"4:1: lint key-twice: onStartup is ignored: the key is duplicated, and the last one wins",
		"4:12: lint misread: onStartup: YAML reads 010 as an octal number: remove the leading zero",
		"5:12: lint misread: onStartup: YAML reads 011 as an octal number: remove the leading zero",
		"9:1: lint second-document: the engine reads the first document and ignores the others",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if c == nil || *c.OnStartup != 9 || c.Schedule[0].Crontab != "@daily" {
		t.Errorf("%+v", c)
	}
}
