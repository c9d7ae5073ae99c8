package rbac

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const send = ` > "$KUBERNETES_PATCH_PATH"`

// TestOperations has a row for each operation of the engine, written by jq.
func TestOperations(t *testing.T) {
	t.Parallel()
	const target = `, apiVersion: "v1", kind: "Secret", namespace: "web", name: "x"`
	const object = `, object: {apiVersion: "v1", kind: "Secret", metadata: {namespace: "web", name: "x"}}`
	for program, want := range map[string]string{
		`{operation: "Create"` + object + `}`:                                                                                      "in web: create /secrets\n",
		`{operation: "CreateIfNotExists"` + object + `}`:                                                                           "in web: create /secrets\n",
		`{operation: "CreateOrUpdate"` + object + `}`:                                                                              "in web: create /secrets\nin web: get,update /secrets x\n",
		`{operation: "Delete"` + target + `}`:                                                                                      "in web: delete,get /secrets x\n",
		`{operation: "DeleteInBackground"` + target + `}`:                                                                          "in web: delete /secrets x\n",
		`{operation: "DeleteNonCascading"` + target + `}`:                                                                          "in web: delete /secrets x\n",
		`{operation: "JQPatch"` + target + `, jqFilter: "."}`:                                                                      "in web: get,update /secrets x\n",
		`{operation: "MergePatch"` + target + `, mergePatch: {}}`:                                                                  "in web: patch /secrets x\n",
		`{operation: "JSONPatch"` + target + `, jsonPatch: []}`:                                                                    "in web: patch /secrets x\n",
		`{operation: "MergePatch", kind: "tab", namespace: "web", name: $n, subresource: "/status", mergePatch: {}}`:               "in web: patch example.com/tabs/status\n",
		`{operation: "JQPatch", kind: "Tab", namespace: "web", name: "x", subresource: "status", jqFilter: "."}`:                   "in web: get example.com/tabs x\nin web: update example.com/tabs/status x\n",
		`{operation: "Delete", kind: "cm", namespace: .ns, name: "x"}`:                                                             "cluster: delete,get /configmaps x\n",
		`{operation: "Delete", kind: "ns", name: "x"}`:                                                                             "cluster: delete,get /namespaces x\n",
		`.[] | select(.a) | {operation: "Delete", kind: "cm", namespace: $ns, name: .name}`:                                        "in prod: delete,get /configmaps\n",
		`map({operation: "Create", object: {apiVersion: "apps/v1", kind: "Deployment", metadata: {namespace: "web", name: "x"}}})`: "in web: create apps/deployments\n",
		`{"operation": "Create", "object": "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: web}"}`:                         "in web: create /configmaps\n",
		`{other: "Create", operation: "Frobnicate"}`:                                                                               "",
	} {
		r := derived(t, "context::jq -r --arg ns prod '"+program+"'\n")
		if got := lines(r); !sameLines(got, want) || len(r.Findings) > 0 {
			t.Errorf("%s:\n%s%s", program, cmp.Diff(want, got), messages(r))
		}
	}
}

// TestSent looks at how operations reach the engine, and at what cannot be seen.
func TestSent(t *testing.T) {
	t.Parallel()
	const op = `{"operation": "Delete", "kind": "cm", "namespace": "web", "name": "x"}`
	const rule = "in web: delete,get /configmaps x\n"
	for name, tc := range map[string]struct{ script, rules, finding string }{
		"a here-document": {"cat <<EOF" + send + "\n" + op + "\n" + op + "\nEOF", rule, ""},
		"YAML": {"cat >>$KUBERNETES_PATCH_PATH <<EOF\noperation: Delete\nkind: cm\nnamespace: $ns\nname: x\n---\noperation: Delete\nkind: secret\nnamespace: web\nname: y-$n\nEOF",
			"cluster: delete,get /configmaps x\nin web: delete,get /secrets\n", ""},
		"locals of a function": {"f() {\n  local ns n\n  ns=\"$(x)\"; n=\"$(y)\"\n  cat >>$KUBERNETES_PATCH_PATH <<EOF\noperation: Delete\nkind: cm\nnamespace: $ns\nname: $n\nEOF\n}\nf", "cluster: delete,get /configmaps\n", ""},
		"echo":                 {"echo '" + op + "'" + send, rule, ""},
		"printf":               {"printf '%s\\n' '" + op + "'" + send, rule, ""},
		"with a hole":          {"echo \"{\\\"operation\\\": \\\"Delete\\\", \\\"kind\\\": \\\"cm\\\", \\\"namespace\\\": \\\"web\\\", \\\"name\\\": \\\"$1\\\"}\"" + send, "in web: delete,get /configmaps\n", ""},
		"a variable":           {"x=$(jq -n '" + op + "')\necho \"$x\"" + send, rule, ""},
		"a function":           {"f() { jq -n '" + op + "'; }\nf" + send, rule, ""},
		"a pipe":               {"jq -n '" + op + "' | tee -a \"$KUBERNETES_PATCH_PATH\"", rule, ""},
		"a block":              {"{ echo '" + op + "'; echo; }" + send, rule, ""},
		"any program":          {"./frob" + send, "", "2:1: " + notSeen + "no patch operation is written out in what goes to $KUBERNETES_PATCH_PATH (rbac-unseen)"},
		"what it is not":       {"jq -n '{operation: $op}'" + send, "", "2:1: " + notSeen + "no patch operation is written out in what goes to $KUBERNETES_PATCH_PATH (rbac-unseen)"},
		"an object that is not known": {"jq '{operation: \"CreateOrUpdate\", object: .object}'" + send, "",
			"2:1: the kind of CreateOrUpdate is known only when it runs (rbac-unseen)"},
		"what a marker says": {"# +kubebuilder:rbac:groups=\"\",resources=secrets,verbs=create;get;update\njq '{operation: \"CreateOrUpdate\", object: .object}'" + send,
			"cluster: create,get,update /secrets\n", ""},
		"no namespace":    {"jq -n '{operation: \"Delete\", kind: \"cm\", name: \"x\"}'", "", "2:1: Delete of ConfigMap names no namespace, and the engine would look for it in none (rbac-impossible)"},
		"an unknown kind": {"jq -n '{operation: \"Delete\", kind: \"frob\", name: \"x\"}'", "", `2:1: Delete: no kind "frob" is known (rbac-unknown-kind)`},
		"jq with an error": {"jq -n '{operation: \"Delete\", kind: }'", "",
			"2:1: " + notSeen + "the jq program does not parse before it runs: unexpected token \"}\" (rbac-unseen)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := derived(t, tc.script)
			check(t, r, tc.rules, "hooks/a.sh:", tc.finding, "")
		})
	}
}

// TestRecorded has operations that tests expect speak for what a source hides.
func TestRecorded(t *testing.T) {
	t.Parallel()
	script := Hook{Source: Source{"hooks/a.sh", []byte("#!/bin/bash\njq '{operation: \"CreateOrUpdate\", object: .object}'" + send + "\njq '{operation: \"Delete\", kind: \"cm\", namespace: \"web\", name: .x}'\n")}}
	recorded := []Source{{"test/hooks/a.yaml", []byte(`
hook: a.sh
tests:
- name: one
  expect: {patches: [{operation: CreateOrUpdate, object: {apiVersion: v1, kind: Secret, metadata: {namespace: a, name: s}}}]}
- name: two
  events:
  - delete: {apiVersion: v1, kind: Namespace, metadata: {name: a}}
    expect: {patches: [{operation: Delete, kind: ConfigMap, namespace: a, name: s}, {operation: MergePatch}]}
`)}, {"patches.json", []byte(`{"operation":"Delete","kind":"Pod","namespace":"a","name":"b"}{"operation":"Delete","kind":"pods","namespace":"c","name":"b"}`)}}
	r := Derive(Input{Kinds: table(t), Hooks: []Hook{script}, Recorded: recorded})
	want := "cluster: delete,get /pods\ncluster: create,get,update /secrets\nin web: delete,get /configmaps\n"
	if got := lines(r); !sameLines(got, want) || len(r.Findings) > 0 {
		t.Errorf("%s%s", cmp.Diff(want, got), messages(r))
	}
	r = Derive(Input{Kinds: table(t), Recorded: []Source{{"p.json", []byte("{")}}})
	if len(r.Findings) != 1 {
		t.Errorf("a file that does not parse: %s", messages(r))
	}
}

// TestPython reads what is written out in Python.
func TestPython(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, rules, finding string }{
		"operations": {`import json, os
KIND = "Secret"
ns = "a"
ns = "b"
def main(name):
    ops = [{"operation": "Delete", 'kind': KIND, "namespace": "web", "name": name},  # a comment, {
           {"operation": "MergePatch", "kind": "cm", "namespace": ns, "name": f"x-{name['a']}", "mergePatch": {"data": {k: v for k, v in d.items()}}}]
    with open(os.environ["KUBERNETES_PATCH_PATH"], "w") as f:
        json.dump({
            "operation": "CreateOrUpdate",
            "object": {"apiVersion": "v1", "kind": "ConfigMap",
                       "metadata": {"name": "x", "namespace": "web"}, "data": data(1, {"a": 2})},
        }, f)
`, "cluster: patch /configmaps\nin web: create /configmaps\nin web: get,update /configmaps x\nin web: delete,get /secrets\n", ""},
		"kubectl": {"subprocess.run([\"kubectl\", \"get\", \"pods\", \"-n\", ns])\nos.system('kubectl delete cm x')\nos.system(f\"kubectl -n web get svc {name}\")",
			"cluster: list /pods\nown: delete,get,list,watch /configmaps x\nin web: get /services\n", ""},
		"kubectl that is not known": {"subprocess.run([\"kubectl\", \"get\", kind])", "", "2:16: " + notSeen + "kubectl get: which kind it is about is known only when it runs"},
		"a client":                  {"  from kubernetes import client", "", "2:3: " + notSeen + "the client of module kubernetes"},
		"a client and a marker":     {"# +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\nimport kubernetes", "cluster: get /pods\n", ""},
		"an operation from elsewhere": {"ops = make()\nopen(os.environ['KUBERNETES_PATCH_PATH'], 'w').write(ops)", "",
			"3:17: " + notSeen + "no patch operation is written out"},
		"an object from elsewhere": {"x = {'operation': 'Create', 'object': obj}", "", "2:5: the kind of Create is known only when it runs"},
		"the library": {`API, KIND = "v1", "other"
SECRET = "Secret"
def main(ctx):
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": ctx.object["metadata"]["namespace"]}}
    if not copy:
        ctx.patch.create_if_not_exists(wanted)
    ctx.patch.create_or_update({"apiVersion": "v1", "kind": SECRET, "metadata": {"name": "x", "namespace": "web"}})
    ctx.patch.delete("v1", SECRET, f"x-{ctx.event}", "web")
    ctx.patch.delete("v1", "Service", "x", operation="Delete", namespace="web")
    ctx.patch.merge("example.com/v1", "Tab", name, {"status": {"a": (1, 2)}}, subresource="/status", namespace="web")
    ctx.patch.jq(api_version="v1", kind="cm", name="y", jq_filter=".", namespace=ns)
    [ctx.patch.delete("v1", "Endpoints", n, "web", operation=how) for n in (ctx.results("a"))]
    mock.patch.dict({"a": 1})
`, "cluster: create /configmaps\ncluster: get,update /configmaps y\nin web: create,delete /secrets\nin web: delete,get /endpoints\nin web: get,update /secrets x\nin web: delete,get /services x\nin web: patch example.com/tabs/status\n", ""},
		"the library, with what is known only when it runs": {"def f(ctx, o):\n    ctx.patch.create_or_update(o)", "",
			"3:5: the kind of CreateOrUpdate is known only when it runs"},
		"the library and a marker": {"def f(ctx, o):\n    # +kubebuilder:rbac:groups=\"\",resources=pods,verbs=create\n    ctx.patch.create(o)", "cluster: create /pods\n", ""},
		"text":                     {"'''\n# kubectl get pods\n{\"operation\": \"Delete\"}\n'''\n# kubectl get nodes", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Derive(Input{Kinds: table(t), Hooks: []Hook{{Source: Source{"hooks/a.py", []byte("#!/usr/bin/env python3\n" + tc.script)}}}})
			check(t, r, tc.rules, "hooks/a.py:", tc.finding, " (rbac-unseen)")
		})
	}
}
