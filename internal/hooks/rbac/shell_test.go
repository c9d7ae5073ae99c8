//go:build testall

package rbac

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// derive runs Derive, and fails the test if it returns an error.
func derive(t testing.TB, in Input) Result {
	t.Helper()
	r, err := Derive(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// derived runs Derive for one script with a library.
func derived(t *testing.T, script string, library ...Source) Result {
	t.Helper()
	in := Input{Kinds: table(t), Library: library, Hooks: []Hook{{Source: Source{Path: "hooks/a.sh", Text: []byte("#!/bin/bash\n" + script)}}}}
	if strings.Contains(script, "python3 ") {
		in.Python = python(t)
	}
	return derive(t, in)
}

const notSeen = unknownRequests

// TestKubectl reads calls of kubectl in scripts. The first line of a script is the
// second of its file.
func TestKubectl(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, rules, unseen string }{
		"get a name":             {"kubectl get cm x", "own: get /configmaps x\n", ""},
		"get a list":             {"kubectl -n web get pods -l app=a -o json", "in web: list /pods\n", ""},
		"get by field":           {"kubectl get pods --field-selector metadata.name=x", "own: list /pods x\n", ""},
		"get and watch":          {"kubectl get pods -w; kubectl get svc x --watch", "own: list,watch /pods\nown: get,watch /services x\n", ""},
		"get everywhere":         {"kubectl get deploy -A", "cluster: list apps/deployments\n", ""},
		"get what lives nowhere": {"kubectl -n web get ns/x node/y", "cluster: get /namespaces x\ncluster: get /nodes y\n", ""},
		"get several kinds":      {"kubectl get secrets,tabs.example.com -n web", "in web: list /secrets\nin web: list example.com/tabs\n", ""},
		"get a category": {"kubectl get all -n web", "in web: list /pods,replicationcontrollers,services\nin web: list apps/daemonsets,deployments,replicasets,statefulsets\n" +
			"in web: list autoscaling/horizontalpodautoscalers\nin web: list batch/cronjobs,jobs\n", ""},
		"describe":                  {"kubectl describe pod x", "own: list /events\nown: get /pods x\n", ""},
		"delete":                    {"kubectl delete cm x y --ignore-not-found --wait=false", "own: delete /configmaps x,y\n", ""},
		"delete by label":           {"kubectl delete cm -l a=b", "own: delete,get,list,watch /configmaps\n", ""},
		"delete all":                {"kubectl delete pods --all -n web", "in web: delete,get,list,watch /pods\n", ""},
		"patch":                     {"kubectl patch deploy x --type merge -p '{}'", "own: get,patch apps/deployments x\n", ""},
		"patch a subresource":       {"kubectl patch tab x --subresource=status -p '{}'", "own: get,patch example.com/tabs/status x\n", ""},
		"label":                     {"kubectl label ns x a=b c- --overwrite", "cluster: get,patch /namespaces x\n", ""},
		"a function named kubectl":  {"kubectl() { command kubectl -n web \"$@\"; }\nkubectl get pods", "in web: list /pods\n", ""},
		"a wrapper of kubectl":      {"kubectl() { command kubectl --request-timeout=5s \"$@\"; }\nkubectl -n web get pods; timeout 5 kubectl get svc", "in web: list /pods\nown: list /services\n", ""},
		"a format for each":         {"for n in $(printf '%s\\n' a b); do kubectl -n $n get pods; done", "in a: list /pods\nin b: list /pods\n", ""},
		"a format for pairs":        {"printf '%s/x %% %d\\n' cm 1 pods 2 | while read -r x; do :; done; kubectl delete --wait=false $(printf '%s/%s ' cm a pods b)", "own: delete /configmaps a\nown: delete /pods b\n", ""},
		"a format for any number":   {"for n in $(printf '%s\\n' a \"$@\" b); do kubectl -n $n get pods; done", "cluster: list /pods\n", ""},
		"a format of operations":    {"printf '%s\\n' '{operation: Delete, apiVersion: v1, kind: Pod, namespace: web}' '---' '{operation: Delete, apiVersion: v1, kind: Service, namespace: web}' >>\"$KUBERNETES_PATCH_PATH\"", "in web: delete,get /pods,services\n", ""},
		"a variable of a call":      {"f() { kubectl -n \"$NS\" get pods; }\nNS=b; NS=a f", "in a: list /pods\nin b: list /pods\n", ""},
		"a variable of calls alone": {"f() { kubectl -n \"$NS\" get pods; }\nNS=a f; NS=b timeout 5 x; KUBECONFIG=/x kubectl version", "cluster: list /pods\n", "3:27: " + notSeen + "kubectl version: with KUBECONFIG another account may send the requests"},
		"a default that is kept":    {"ns=a; [ $x ] && ns=\n: \"${ns:=web}\"; kubectl -n \"$ns\" get pods; kubectl -n \"${ns:=web}\" get svc", "in a: list /pods,services\nin web: list /pods,services\nown: list /pods\n", ""},
		"a default of none":         {": \"${NS:=web}\"\nkubectl -n \"$NS\" get pods", "cluster: list /pods\n", ""},
		"a list that is too long":   {"opts=(" + strings.Repeat("aaaaaaaaaaaaaaaa ", 5000) + "-n web)\nkubectl get pods \"${opts[@]}\"", "", "3:1: " + notSeen + "kubectl: the arguments are known only at run time"},
		"a wrapper of a variable":   {"timeout 5 \"$KUBECTL\" get pods", "", "2:1: " + notSeen + "timeout may run kubectl"},
		"a process substitution":    {"kubectl apply -f <(gen)", "", "2:1: " + notSeen + "kubectl apply: the objects are in a file: ..."},
		"a kind that is counted":    {"k=pods; ((k++)); kubectl get $k", "", "2:18: " + notSeen + "kubectl get: the kind is known only at run time"},
		"label nothing":             {"kubectl label a=b; kubectl annotate", "", "2:1: " + notSeen + "kubectl label: it names no kind|2:20: " + notSeen + "kubectl annotate: it names no kind"},
		"annotate all":              {"kubectl annotate pods --all a=b", "own: list,patch /pods\n", ""},
		"set image":                 {"kubectl set image deploy/x c=img", "own: get,patch apps/deployments x\n", ""},
		"scale":                     {"kubectl scale sts x --replicas 2", "own: get apps/statefulsets x\nown: patch apps/statefulsets/scale x\n", ""},
		"scale on a condition":      {"kubectl scale sts x --replicas 2 --current-replicas=1", "", "2:1: " + notSeen + "kubectl scale: operon does not analyze the option --current-replicas=1"},
		"rollout":                   {"kubectl rollout restart deployment/x; kubectl rollout status deploy x", "own: get,list,patch,watch apps/deployments x\n", ""},
		"wait":                      {"kubectl wait pod/x --for=condition=Ready --timeout=5s", "own: get,list,watch /pods x\n", ""},
		"create":                    {"kubectl create cm x --from-literal a=b\nkubectl create secret generic x\nkubectl create ns y", "cluster: create /namespaces\nown: create /configmaps,secrets\n", ""},
		"create on this side":       {"kubectl create cm x --dry-run=client -o yaml", "", ""},
		"create a token":            {"kubectl create token x", "own: create /serviceaccounts/token x\n", ""},
		"create a job":              {"kubectl create job x --from=cronjob/y", "own: get batch/cronjobs y\nown: create batch/jobs\n", ""},
		"run":                       {"kubectl run x --image=y --restart=Never", "own: create /pods\n", ""},
		"exec":                      {"kubectl exec -i x -c main -- kubectl get nodes", "own: get /pods x\nown: create,get /pods/exec x\n", ""},
		"logs":                      {"kubectl logs -f x; kubectl logs deploy/y", "own: list /pods\nown: get /pods x\nown: get /pods/log\nown: get apps/deployments y\n", ""},
		"top":                       {"kubectl top pods -n web", "in web: list metrics.k8s.io/pods\n", ""},
		"cordon":                    {"kubectl cordon x", "", "2:1: " + notSeen + "kubectl cordon: its requests are unknown"},
		"expose":                    {"kubectl expose deploy x --port 80", "", "2:1: " + notSeen + "kubectl expose: its requests are unknown"},
		"nothing":                   {"kubectl version; kubectl api-resources; kubectl auth can-i get pods; kubectl config view; kubectl label --local -f a.yaml a=b", "", "2:91: " + notSeen + "kubectl label: operon does not analyze the option --local"},
		"apply a here-document":     {"kubectl apply -f - <<EOF\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: web}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: $NAME}\nEOF", "in web: create /configmaps\nin web: get,patch /configmaps x\nown: create,get,patch apps/deployments\n", ""},
		"apply on the server":       {"cat <<EOF | kubectl apply --server-side -f -\n{apiVersion: v1, kind: Secret, metadata: {name: x}}\nEOF", "own: create /secrets\nown: patch /secrets x\n", ""},
		"create what is printed":    {`echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}' | kubectl create -n web -f -`, "in web: create /configmaps\n", ""},
		"replace a here-string":     {`kubectl replace -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}'`, "own: update /configmaps x\n", ""},
		"constants":                 {"KIND=deploy\nns=web\nkubectl -n \"$ns\" get ${KIND}/\"x\"", "in web: get apps/deployments x\n", ""},
		"a default":                 {"n=\nkubectl get cm ${n:-x}", "own: get /configmaps x\n", ""},
		"several values":            {"for k in cm secret; do kubectl get $k x; done", "own: get /configmaps,secrets x\n", ""},
		"either value":              {"if a; then v=create; else v=replace; fi\nkubectl $v -f - <<<'{apiVersion: v1, kind: Pod, metadata: {name: x}}'", "own: create /pods\nown: update /pods x\n", ""},
		"the environment":           {"kubectl -n \"$NS\" get cm \"$NAME\"", "cluster: get /configmaps\n", ""},
		"a list":                    {"opts=(-n web get)\nkubectl \"${opts[@]}\" pods", "in web: list /pods\n", ""},
		"functions":                 {"k() { kubectl -n web \"$@\"; }\none() { k get \"$1\" \"$2\"; }\none cm x; one secret y; k delete pod z", "in web: get /configmaps x\nin web: delete,get,list,watch /pods z\nin web: get /secrets y\n", ""},
		"a local":                   {"f() { local kind=\"$1\" ns=web; kubectl get \"$kind\" -n \"$ns\"; }\nf pods; f svc", "in web: list /pods,services\n", ""},
		"a local that is set later": {"f() { local ns name; ns=web; name=\"$(x)\"; kubectl -n \"$ns\" label cm \"$name\" a=b; }\nf", "in web: get,patch /configmaps\n", ""},
		"a local with a condition":  {"f() { local v=list opt; if a; then opt=\"-n web\"; fi; kubectl get $opt cm; }\nf", "in web: list /configmaps\nown: list /configmaps\n", ""},
		"a local of another":        {"f() { local v; for v in \"${all[@]}\"; do x \"$v\"; done; }\ng() { v=\"$(x)\"; kubectl label cm \"$v\" a=b; }\nf; g", "own: get,patch /configmaps\n", ""},
		"a local of who calls":      {"f() { local ns=web; g; }\ng() { h; }\nh() { kubectl -n \"$ns\" get cm; }\nf", "in web: list /configmaps\n", ""},
		"a local of who may call":   {"f() { local ns=web; \"$@\"; }\nh() { kubectl -n \"$ns\" get cm; }\nf h", "cluster: list /configmaps\n", ""},
		"a local of some calls":     {"f() { local ns=web; h; }\nh() { kubectl -n \"$ns\" get cm; }\nf; h", "cluster: list /configmaps\n", ""},
		"a local of a handler":      {"__main__() { local ns=web; h; }\nh() { kubectl -n \"$ns\" get cm; }\nhook::run \"$@\"", "in web: list /configmaps\n", ""},
		"handlers":                  {"__on_startup() { kubectl get pods; }\n__main__() { kubectl get svc; }\nunused() { kubectl get nodes; }", "own: list /pods,services\n", ""},
		"in a substitution":         {"x=$(kubectl get pods); (kubectl get svc); { kubectl get cm & } | cat", "own: list /configmaps,pods,services\n", ""},
		"behind other commands":     {"timeout 5 kubectl get pods\nFOO=1 kubectl get svc\nif ! command kubectl get cm; then :; fi", "own: list /configmaps,pods,services\n", ""},
		"xargs":                     {"cat a | xargs -r kubectl delete pod", "", "2:9: " + notSeen + "kubectl: the arguments are known only at run time"},
		"a trap":                    {"trap 'kubectl delete cm x' EXIT\ntrap cleanup EXIT\ncleanup() { kubectl delete pod y; }", "own: delete,get,list,watch /pods y\n", "2:1: " + notSeen + "trap runs code that operon does not analyze"},
		"a program's name":          {"K=/usr/bin/kubectl\n$K get pods", "own: list /pods\n", ""},
		"bash -c":                   {"bash -c 'kubectl get pods'", "", "2:1: " + notSeen + "bash runs code that operon does not analyze"},
		"names that kubectl prints": {"for s in $(kubectl get secret -o name); do kubectl get $s; done", "own: get,list /secrets\n", ""},
		"talk of kubectl":           {"echo kubectl get pods; command -v kubectl; which kubectl", "", ""},

		"standard input": {"kubectl get -f -", "", "2:1: " + notSeen + "kubectl get: the objects are known only at run time"},
		"what jq prints": {"jq -nc --arg ns web '{apiVersion: \"v1\", kind: \"Secret\", metadata: {name: .x, namespace: $ns}}, {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"x\", namespace: $ns}}' | kubectl create -f -",
			"in web: create /configmaps,secrets\n", ""},
		"what jq prints with others": {"jq '{apiVersion: \"v1\", kind: \"Secret\", metadata: {namespace: \"web\"}}, .x' a.json | kubectl create -f -", "in web: create /secrets\n",
			"2:84: " + notSeen + "kubectl create: the objects are known only at run time"},
		"what jq prints by a file": {"jq -nf a.jq '{apiVersion: \"v1\", kind: \"Secret\"}' | kubectl create -f -", "",
			"2:52: " + notSeen + "kubectl create: the objects are known only at run time"},
		"what jq prints of a variable": {"jq \"$PROGRAM\" | kubectl create -f -", "", "2:17: " + notSeen + "kubectl create: the objects are known only at run time"},
		"what a program prints":        {"jq .x a.json | kubectl apply -f -", "", "2:16: " + notSeen + "kubectl apply: the objects are known only at run time"},
		"a file":                       {"kubectl apply -f a.yaml", "", "2:1: " + notSeen + "kubectl apply: the objects are in a file: a.yaml"},
		"a kind from outside":          {"kubectl get \"$1\"", "", "2:1: " + notSeen + "kubectl get: the kind is known only at run time"},
		"arguments from outside":       {"kubectl \"$@\"", "", "2:1: " + notSeen + "kubectl: the arguments are known only at run time"},
		"an object from outside":       {"kubectl apply -f - <<<\"$(cat x)\"", "", "2:1: " + notSeen + "kubectl apply: the objects are known only at run time"},
		"another identity":             {"kubectl --kubeconfig x get pods", "", "2:1: " + notSeen + "kubectl get: with --kubeconfig another account may send the requests"},
		"an unknown option":            {"kubectl get pods --frobnicate x", "", "2:1: " + notSeen + "kubectl get: operon does not analyze the option --frobnicate"},
		"another context first":        {"kubectl --context x get pods; kubectl -s=x get pods", "", "2:1: " + notSeen + "kubectl get: with --context another account may send the requests|2:31: " + notSeen + "kubectl get: with --server another account may send the requests"},
		"an unknown option first":      {"kubectl --frobnicate x get pods; kubectl -Zw get pods", "", "2:1: " + notSeen + "kubectl: operon does not analyze the option --frobnicate|2:34: " + notSeen + "kubectl get: operon does not analyze the option -Zw"},
		"the end of options":           {"kubectl get -- pods", "", "2:1: " + notSeen + "kubectl get: operon does not analyze --"},
		"switches":                     {"kubectl get pods -A=false; kubectl get -AR svc; kubectl get -Rnweb cm", "cluster: list /services\nin web: list /configmaps\nown: list /pods\n", ""},
		"a pod with a terminal":        {"kubectl run x -it --image=y", "", "2:1: " + notSeen + "kubectl run: it attaches to the pod that it creates"},
		"logs of pods by label":        {"kubectl logs -fp -c a -l a=b --tail 5; kubectl logs \"$POD\" -n web", "own: list /pods\nown: get /pods/log\nin web: get /pods,pods/log\n", ""},
		"an unknown command":           {"kubectl drain x", "", "2:1: " + notSeen + "kubectl drain: its requests are unknown"},
		"a path":                       {"kubectl get --raw /metrics", "", "2:1: " + notSeen + "kubectl get: operon does not analyze the option --raw"},
		"a program from outside":       {"\"${KUBECTL}\" get pods", "", "2:1: " + notSeen + "\"${KUBECTL}\" may be any program"},
		"a program of its own":         {"frob kubectl get pods", "", "2:1: " + notSeen + "kubectl is an argument of frob, which may run it"},
		"a file that is not there":     {"source ./nothing.sh", "", "2:1: " + notSeen + "it sources a file that is not among the hooks' files: ./nothing.sh"},
		"the engine's library":         {"source /shell_lib.sh\nhook::run \"$@\"", "", ""},
		"no bash":                      {"if", "", "0:0: " + notSeen + "it is not valid bash: 2:1: `if` must be followed by a statement list"},
		"a marker above a function": {"# +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\nf() {\n  echo\n  kubectl get -f -\n}\nkubectl get -f a.yaml\nf",
			"cluster: get /pods\n", "7:1: " + notSeen + "kubectl get: the objects are in a file: a.yaml"},
		"a marker at the head of a body": {"f() {\n  # why\n  # +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\n  for i in 1; do\n    kubectl get -f -\n  done\n}\ng() {\n  kubectl get -f -\n}\nf; g",
			"cluster: get /pods\n", "10:3: " + notSeen + "kubectl get: the objects are known only at run time"},
		"a marker in a body": {"f() {\n  echo\n  # +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\n  kubectl get -f -\n  kubectl get -f -\n}\nf",
			"cluster: get /pods\n", "6:3: " + notSeen + "kubectl get: the objects are known only at run time"},
		"what a marker says": {"# why\n# +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\nkubectl get -f -", "cluster: get /pods\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := derived(t, tc.script)
			check(t, r, tc.rules, "hooks/a.sh:", tc.unseen, " (rbac-unseen)")
		})
	}
}

// check compares rules and findings, which | separates. Each finding has the prefix
// before and the suffix after.
func check(t *testing.T, r Result, rules, before, finding, after string) {
	t.Helper()
	if got := lines(r); !sameLines(got, rules) {
		t.Errorf("rules (-want +got):\n%s", cmp.Diff(rules, got))
	}
	if finding != "" {
		finding = before + strings.ReplaceAll(finding, "|", after+"\n"+before) + after + "\n"
	}
	if diff := cmp.Diff(finding, messages(r)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// sameLines compares without regard to order.
func sameLines(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	return cmp.Equal(sorted(x), sorted(y))
}

// TestSource follows a script into the files that it sources.
func TestSource(t *testing.T) {
	t.Parallel()
	library := []Source{
		{"hooks/lib/common.sh", []byte("source \"${BASH_SOURCE%/*}/more.sh\"\nNS=web\ncommon::get() { kubectl -n \"$NS\" get \"$1\" x; }\nunused() { kubectl delete nodes --all; }\n")},
		{"hooks/lib/more.sh", []byte("more() { kubectl get svc; }\n")},
		{"hooks/lib/other.sh", []byte("kubectl get nodes\n")},
	}
	r := derived(t, "source /hooks/lib/common.sh\ncommon::get cm; more\n", library...)
	if got, want := lines(r), "own: list /services\nin web: get /configmaps x\n"; got != want || len(r.Findings) > 0 {
		t.Errorf("%s%s", got, messages(r))
	}
	if o := r.Roles[2].Rules[0].Origins[0]; o.File != "hooks/lib/common.sh" || o.Line != 3 || o.Why != "kubectl get" {
		t.Errorf("%+v", o)
	}
}

// TestUnknownNamespace states why a call without -A needs a ClusterRole.
func TestUnknownNamespace(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`kubectl -n "$NS" get pods`: "kubectl get in a namespace known only at run time", `kubectl -n "$NS" get nodes`: "kubectl get", "kubectl get pods -A": "kubectl get",
	} {
		if got := derived(t, script).Roles[0].Rules[0].Origins[0].Why; got != want {
			t.Errorf("%s: %s", script, got)
		}
	}
}

// TestOrder calls the same functions from several handlers. The findings must not depend
// on the order of the handlers.
func TestOrder(t *testing.T) {
	t.Parallel()
	const script = `retry() { "$@"; }
twice() { retry "$@"; }
put() { kubectl apply -f "$1"; }
__on_group::a() { twice kubectl get pods; put b.yaml; }
__on_group::b() { retry kubectl get pods; put c.yaml; put a.yaml; }
__on_group::c() { twice kubectl get svc; put a.yaml; }
__on_group::d() { retry kubectl get svc; put b.yaml; }
`
	var want strings.Builder
	for _, file := range []string{"a", "b", "c"} {
		want.WriteString("hooks/a.sh:4:9: " + notSeen + "kubectl apply: the objects are in a file: " + file + ".yaml (rbac-unseen)\n")
	}
	for range 10 {
		r := derived(t, script)
		if diff := cmp.Diff(want.String(), messages(r)); diff != "" {
			t.Fatalf("findings (-want +got):\n%s", diff)
		}
	}
}
