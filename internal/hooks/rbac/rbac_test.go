//go:build testall

package rbac

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
)

// tabs is a CRD that tests use in addition to the kinds of Kubernetes.
const tabs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tabs.example.com}
spec:
  group: example.com
  names: {kind: Tab, plural: tabs}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

func table(t testing.TB) *kubeapi.Kinds {
	t.Helper()
	crds, err := kubeapi.ReadCRDs([]byte(tabs))
	if err != nil {
		t.Fatal(err)
	}
	return kubeapi.Builtin().With(crds...)
}

// configured returns a hook with a configuration and no commands.
func configured(t *testing.T, text string) Hook {
	t.Helper()
	c, findings := config.Shell.Parse([]byte("configVersion: v1\n" + text))
	if c == nil {
		t.Fatal(findings)
	}
	return Hook{Source: Source{Path: "hooks/a.sh", Text: []byte("#!/bin/bash\n")}, Config: c}
}

func derive(t testing.TB, in Input) Result {
	t.Helper()
	r, err := Derive(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines returns one line for each rule: place, verbs, group/resource and names.
func lines(r Result) string {
	var out strings.Builder
	for _, role := range r.Roles {
		at := "in " + role.Namespace
		switch {
		case role.Cluster:
			at = "cluster"
		case role.Namespace == "":
			at = "own"
		}
		if role.Name != "" {
			at += " " + role.Name
		}
		for _, rule := range role.Rules {
			what := strings.Join(rule.NonResourceURLs, ",")
			if what == "" {
				what = fmt.Sprintf("%s/%s", strings.Join(rule.APIGroups, ","), strings.Join(rule.Resources, ","))
			}
			line := fmt.Sprintf("%s: %s %s %s", at, strings.Join(rule.Verbs, ","), what, strings.Join(rule.ResourceNames, ","))
			out.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return out.String()
}

func messages(r Result) string {
	var out strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&out, "%s:%d:%d: %s (%s)\n", f.File, f.Line, f.Column, f.Message, f.Rule)
	}
	return out.String()
}

// TestBindings derives what the engine needs for each kind of binding.
func TestBindings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ config, rules, findings string }{
		"objects": {"kubernetes: [{name: a, kind: pods}]", "cluster: list,watch /pods\n", ""},
		"a kind of a CRD": {"kubernetes: [{name: a, apiVersion: example.com/v1, kind: Tab}]",
			"cluster: list,watch example.com/tabs\n", ""},
		"by name": {"kubernetes: [{name: a, kind: cm, nameSelector: {matchNames: [yy, x]}}]",
			"cluster: list,watch /configmaps x,yy\n", ""},
		"by field": {"kubernetes: [{name: a, kind: cm, fieldSelector: {matchExpressions: [{field: metadata.name, operator: Equals, value: x}]}}]",
			"cluster: list,watch /configmaps x\n", ""},
		"by other fields": {"kubernetes: [{name: a, kind: po, fieldSelector: {matchExpressions: [{field: status.phase, operator: Equals, value: x}, {field: metadata.name, operator: NotEquals, value: yy}]}}]",
			"cluster: list,watch /pods\n", ""},
		"in namespaces": {"kubernetes: [{name: a, kind: Secret, nameSelector: {matchNames: [s]}, namespace: {nameSelector: {matchNames: [nn, m]}}}]",
			"in m: list,watch /secrets s\nin nn: list,watch /secrets s\n", ""},
		"in no namespaces that are named": {"kubernetes: [{name: a, kind: Secret, namespace: {nameSelector: {matchNames: []}}}]", "cluster: list,watch /secrets\n", ""},
		"in namespaces by label": {"kubernetes: [{name: a, kind: Secret, namespace: {labelSelector: {matchLabels: {a: b}}}}]",
			"cluster: list,watch /namespaces,secrets\n", ""},
		"in namespaces by label and name": {"kubernetes: [{name: a, kind: Secret, namespace: {labelSelector: {matchLabels: {a: b}}, nameSelector: {matchNames: [nn]}}}]",
			"cluster: list,watch /namespaces,secrets\n", ""},
		"validating": {"kubernetesValidating: [{name: v.example.com, namespace: {labelSelector: {matchLabels: {a: b}}}, rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}]",
			"cluster: create admissionregistration.k8s.io/validatingwebhookconfigurations\n" +
				"cluster: list,update admissionregistration.k8s.io/validatingwebhookconfigurations shell-operator-hooks-hooks\n", ""},
		"mutating": {"kubernetesMutating: [{name: m.example.com, rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}]",
			"cluster: create admissionregistration.k8s.io/mutatingwebhookconfigurations\n" +
				"cluster: list,update admissionregistration.k8s.io/mutatingwebhookconfigurations shell-operator-hooks-hooks\n", ""},
		"conversion": {"kubernetesCustomResourceConversion: [{name: c, crdName: tabs.example.com, conversions: [{fromVersion: v1, toVersion: v2}]}]",
			"cluster: get,update apiextensions.k8s.io/customresourcedefinitions tabs.example.com\n", ""},
		"snapshots, a schedule and the start": {"onStartup: 1\nschedule: [{crontab: '* * * * *', includeSnapshotsFrom: [a]}]\nkubernetes: [{name: a, kind: nodes}]",
			"cluster: list,watch /nodes\n", ""},
		"several of one kind": {"kubernetes: [{name: a, kind: cm}, {name: b, kind: cm, namespace: {nameSelector: {matchNames: [nn]}}}, {name: c, kind: cm, nameSelector: {matchNames: [x]}}]",
			"cluster: list,watch /configmaps\n", ""},
		"an unknown kind": {"kubernetes: [{name: a, kind: Secert}]", "", "hooks/a.sh:0:0: binding a: unknown kind \"Secert\"; did you mean Secret? (rbac-unknown-kind)\n"},
		"a kind that is not kept": {"kubernetes: [{name: a, kind: TokenReview}]", "",
			"hooks/a.sh:0:0: binding a: the API server does not store objects of TokenReview, so they cannot be watched (rbac-impossible)\n"},
		"namespaces of what lives in none": {"kubernetes: [{name: a, kind: Node, namespace: {nameSelector: {matchNames: [nn]}}}]", "",
			"hooks/a.sh:0:0: binding a: Node is a cluster-scoped kind, so the engine finds no objects in a namespace (rbac-impossible)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := derive(t, Input{Kinds: table(t), Hooks: []Hook{configured(t, tc.config)}})
			if diff := cmp.Diff(tc.rules, lines(r)); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.findings, messages(r)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if !r.Roles[0].Cluster {
				t.Error("the manager has no ClusterRole")
			}
		})
	}
}

// TestUnknownKind derives the other rules, and reports the kind that nothing defines.
func TestUnknownKind(t *testing.T) {
	t.Parallel()
	r := derive(t, Input{Kinds: table(t), Hooks: []Hook{configured(t, "kubernetes: [{name: a, kind: Frob}, {name: b, kind: Node}]")}})
	if got, want := lines(r)+messages(r), "cluster: list,watch /nodes\nhooks/a.sh:0:0: binding a: unknown kind \"Frob\" (rbac-unknown-kind)\n"; got != want {
		t.Error(cmp.Diff(want, got))
	}
}

func sorted(lines []string) []string {
	lines = slices.Clone(lines)
	slices.Sort(lines)
	return lines
}
