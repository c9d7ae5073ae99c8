//go:build testall

package rbac

import (
	"strings"
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
		`{operation: "Delete", kind: "cm", namespace: $ns, name: "x"} | {operation, kind, namespace: "web", name: $x}`:             "in prod: delete,get /configmaps x\nin web: delete,get /configmaps\n",
		`.ns as $ns | {operation: "Delete", kind: "cm", namespace: $ns, name: "x"}`:                                                "cluster: delete,get /configmaps x\n",
		`({apiVersion: "v1", kind: "Secret", metadata: {namespace: "web"}}, {apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: "db"}}) | {operation: "Create", object: .}`:    "in web: create /secrets\nin db: create /configmaps\n",
		`[{apiVersion: "v1", kind: "Secret", metadata: {namespace: "web"}}, {apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: "web"}}][] | {operation: "Create", object: .}`: "in web: create /configmaps,secrets\n",
		`{operation: "Create", object: ({apiVersion: "v1", kind: "Secret", metadata: {namespace: "web"}}, {apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns}})}`:         "in web: create /secrets\nin prod: create /configmaps\n",
		`if .x then "Secret" elif .y then "Pod" else "ConfigMap" end | {operation: "DeleteInBackground", kind: ., namespace: "web", name: "x"}`:                                        "in web: delete /configmaps,pods,secrets x\n",
		`"Secret", "ConfigMap" | . as $k | {operation: "DeleteInBackground", kind: ., namespace: "web", name: $k}`:                                                                     "in web: delete /configmaps,secrets\n",
		`{operation: "DeleteInBackground", kind: "Secret", namespace: ("a", "b"), name: ("x", .y)}`:                                                                                    "in a: delete /secrets\nin b: delete /secrets\n",
		`{other: "Create", operation: "Frobnicate"}`: "",
	} {
		r := derived(t, "context::jq -r --arg ns prod '"+program+"'\n")
		if got := lines(r); !sameLines(got, want) || len(r.Findings) > 0 {
			t.Errorf("%s:\n%s%s", program, cmp.Diff(want, got), messages(r))
		}
	}
}

// TestLongProgram reads a jq program with very many combinations of values.
func TestLongProgram(t *testing.T) {
	t.Parallel()
	program := strings.Repeat(`("a", "b") | `, 40) + strings.Repeat(`(("a", "b") | `, 40) + `{operation: "DeleteInBackground", kind: "Secret", namespace: "web", name: .}` + strings.Repeat(")", 40)
	r := derived(t, "jq '"+program+"'\n")
	check(t, r, "in web: delete /secrets a,b\n", "hooks/a.sh:", "2:1: "+notSeen+"the jq program has too many possible outputs", " (rbac-unseen)")
}

// TestSent writes operations to the patch file in different ways.
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
		"any program":          {"./frob" + send, "", "2:1: " + notSeen + "the script does not show the patch operations (rbac-unseen)"},
		"what it is not":       {"jq -n '{operation: $op}'" + send, "", "2:1: " + notSeen + "the script does not show the patch operations (rbac-unseen)"},
		"an object that is not known": {"jq '{operation: \"CreateOrUpdate\", object: .object}'" + send, "",
			"2:1: " + notSeen + "the kind of CreateOrUpdate is known only at run time (rbac-unseen)"},
		"an object of which one is not known": {"jq '({apiVersion: \"v1\", kind: \"Secret\", metadata: {namespace: \"web\"}}, .object) | {operation: \"Create\", object: .}'" + send,
			"in web: create /secrets\n", "2:1: " + notSeen + "the kind of Create is known only at run time (rbac-unseen)"},
		"an object that a function makes": {"jq '{apiVersion: \"v1\", kind: \"Secret\"} | map({operation: \"Create\", object: .})'" + send,
			"", "2:1: " + notSeen + "the kind of Create is known only at run time (rbac-unseen)"},
		"a binding to a literal role": {"jq '{operation: \"CreateOrUpdate\", object: {apiVersion: \"rbac.authorization.k8s.io/v1\", kind: \"RoleBinding\", metadata: {name: \"x\", namespace: \"web\"}, roleRef: {kind: \"ClusterRole\", name: \"edit\"}}}'" + send,
			"in web: create rbac.authorization.k8s.io/rolebindings\nin web: get,update rbac.authorization.k8s.io/rolebindings x\nin web: bind rbac.authorization.k8s.io/clusterroles edit\n", ""},
		"a binding to a role of its namespace": {"cat <<EOF" + send + "\noperation: Create\nobject:\n  apiVersion: rbac.authorization.k8s.io/v1\n  kind: RoleBinding\n  metadata: {name: x, namespace: $ns}\n  roleRef: {kind: Role, name: reader}\nEOF",
			"cluster: create rbac.authorization.k8s.io/rolebindings\ncluster: bind rbac.authorization.k8s.io/roles reader\n", ""},
		"a binding to any role": {"jq '{operation: \"Create\", object: {apiVersion: \"rbac.authorization.k8s.io/v1\", kind: \"ClusterRoleBinding\", roleRef: {kind: \"ClusterRole\", name: .role}}}'" + send,
			"cluster: create rbac.authorization.k8s.io/clusterrolebindings\n", "2:1: Create: the account needs all permissions of the role that the clusterrolebindings refer to (rbac-unseen)"},
		"a binding with the permissions of its role": {"# +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\njq '{operation: \"Create\", object: {apiVersion: \"rbac.authorization.k8s.io/v1\", kind: \"ClusterRoleBinding\", roleRef: {kind: \"ClusterRole\", name: \"pods\"}}}'" + send,
			"cluster: create rbac.authorization.k8s.io/clusterrolebindings\ncluster: get /pods\n", ""},
		"what a marker says": {"# +kubebuilder:rbac:groups=\"\",resources=secrets,verbs=create;get;update\njq '{operation: \"CreateOrUpdate\", object: .object}'" + send,
			"cluster: create,get,update /secrets\n", ""},
		"no namespace":    {"jq -n '{operation: \"Delete\", kind: \"cm\", name: \"x\"}'", "", "2:1: Delete of ConfigMap names no namespace, so the engine finds no object (rbac-impossible)"},
		"an unknown kind": {"jq -n '{operation: \"Delete\", kind: \"frob\", name: \"x\"}'", "", `2:1: Delete: unknown kind "frob" (rbac-unknown-kind)`},
		"jq with an error": {"jq -n '{operation: \"Delete\", kind: }'", "",
			"2:1: " + notSeen + "the jq program is known only at run time: unexpected token \"}\" (rbac-unseen)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := derived(t, tc.script)
			check(t, r, tc.rules, "hooks/a.sh:", tc.finding, "")
		})
	}
}

// TestChanged changes operations after the source wrote them out. The rules must not be those of
// the text alone.
func TestChanged(t *testing.T) {
	t.Parallel()
	const op = `{operation: "Delete", kind: "cm", namespace: "web", name: "x"}`
	const unseen = "the kind of Delete is known only at run time"
	for script, want := range map[string]string{
		"jq '" + op + " | .name = .x'":                                                             "in web: delete,get /configmaps\n",
		"jq '" + op + " + {name: .x}'":                                                             "",
		"jq '{kind: \"Pod\"} * " + op + "'":                                                        "",
		"jq '" + op + " | if .x then .kind = \"Pod\" else . end'":                                  "in web: delete,get /configmaps,pods x\n",
		"jq '" + op + " | if .x then .operation = \"DeleteInBackground\" else . end'":              "in web: delete,get /configmaps x\n",
		"jq '" + op + " | del(.namespace)'":                                                        "",
		"jq '[" + op + "] | map(.kind |= ascii_downcase) | .[]'":                                   "",
		"jq 'def f: " + op + "; f | .kind = \"Pod\"'":                                              "in web: delete,get /configmaps,pods x\n",
		"jq 'def f(x): x | .kind = \"Pod\"; f(" + op + ")'":                                        "",
		"jq 'reduce .[] as $i (" + op + "; .name = $i)'":                                           "in web: delete,get /configmaps\n",
		"jq -n '" + op + "' | jq '.name = \"y\"'":                                                  "",
		"echo '" + op + "' | sed s/cm/pod/":                                                        "",
		"cat <<EOF | envsubst | tee a\n" + op + "\nEOF":                                            "",
		"cat <<EOF | cat | jq -c .\n" + op + "\nEOF":                                               "in web: delete,get /configmaps x\n",
		"jq '[" + op + "] | unique | .[] | select(.a) | tojson'":                                   "in web: delete,get /configmaps x\n",
		"jq '" + op + " | {operation, kind: \"Pod\", namespace: \"web\", name: (.name + \"-y\")}'": "in web: delete,get /configmaps x\nin web: delete,get /pods\n",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			finding := ""
			if want == "" {
				finding = unseen
			}
			expect(t, derived(t, script), want, finding)
		})
	}
}

// TestRecorded derives rules from the patches that hook tests expect.
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
	r := derive(t, Input{Kinds: table(t), Hooks: []Hook{script}, Recorded: recorded})
	want := "cluster: delete,get /pods\ncluster: create,get,update /secrets\nin web: delete,get /configmaps\n"
	if got := lines(r); !sameLines(got, want) || len(r.Findings) > 0 {
		t.Errorf("%s%s", cmp.Diff(want, got), messages(r))
	}
	r = derive(t, Input{Kinds: table(t), Recorded: []Source{{"p.json", []byte("{")}}})
	if len(r.Findings) != 1 {
		t.Errorf("a file that does not parse: %s", messages(r))
	}
}
