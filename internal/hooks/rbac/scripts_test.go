//go:build testall

package rbac

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScripts reads typical scripts. Each results in rules or in findings, which start
// with their line.
func TestScripts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, rules, unseen string }{
		"a function for a kind and a namespace": {`
scale_all() {
  local ns="$1" replicas="$2"
  for d in $(kubectl -n "$ns" get deploy -o name); do
    kubectl -n "$ns" scale "$d" --replicas="$replicas"
  done
}
scale_all web 0
scale_all team-a 3`, "in team-a: get,list apps/deployments\nin team-a: patch apps/deployments/scale\nin web: get,list apps/deployments\nin web: patch apps/deployments/scale\n", ""},
		"a retry with shift": {`
retry() {
  local n="$1"; shift
  until "$@"; do
    ((n--)) || return 1
    sleep 1
  done
}
retry 5 kubectl -n web get deploy x`, "", "10: kubectl is an argument of retry, which may run it"},
		"a retry with a loop of shifts": {`
retry() {
  while [[ "$1" == -* ]]; do shift; done
  "$@" || "$@"
}
retry -q kubectl get deploy x`, "", "7: kubectl is an argument of retry, which may run it"},
		"a retry with options": {`
retry() {
  while :; do case "$1" in -n) n="$2"; shift 2;; *) break;; esac; done
  "$@" || "$@"
}
retry -n 5 kubectl get deploy x`, "", "7: kubectl is an argument of retry, which may run it"},
		"a wrapper of kubectl": {`
k() { command kubectl --request-timeout=5s -n web "$@"; }
k get pods -l app=x -o json | jq -r '.items[].metadata.name' | while read -r pod; do
  k delete pod "$pod" --wait=false
done`, "in web: delete,list /pods\n", ""},
		"a template of objects": {`
apply() {
  local name="$1"
  cat <<YAML | kubectl apply -f -
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: "$name", namespace: web}}
- {apiVersion: v1, kind: Secret, metadata: {name: "$name", namespace: web}}
YAML
}
apply one`, "", "5: kubectl apply: the objects are known only at run time"},
		"a text in a variable": {`
manifest=$(cat <<YAML
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
YAML
)
echo "$manifest" | kubectl -n web apply -f -`, "in web: create /configmaps\nin web: get,patch /configmaps x\n", ""},
		"create, then apply": {
			`kubectl create secret generic x --from-literal=a=b --dry-run=client -o yaml | kubectl -n web apply -f -`,
			"in web: create /secrets\nin web: get,patch /secrets x\n", ""},
		"a template of a file": {`envsubst <tmpl.yaml | kubectl apply -f -`, "", "2: kubectl apply: the objects are known only at run time"},
		"wait until it is there": {`
timeout 60 bash -c 'until kubectl get crd x; do sleep 1; done'
timeout 60 bash -c "until kubectl -n web get pod $POD; do sleep 1; done"
kubectl -n web wait --for=condition=Available deploy/x --timeout=60s
kubectl -n web rollout status deploy/x`,
			"in web: get,list,watch apps/deployments x\n", "3: bash runs code that operon does not analyze|4: bash runs code that operon does not analyze"},
		"permissions that are asked about": {`kubectl auth can-i create pods --as=system:serviceaccount:a:b || true; kubectl auth can-i --list`, "", "2: kubectl auth can-i: with --as another account may send the requests|2: kubectl auth can-i: operon does not analyze the option --list"},
		"restarts":                         {`kubectl -n web rollout restart deploy x && kubectl -n web exec deploy/x -c main -- sh -c 'kubectl get nodes'`, "in web: create,get /pods/exec\nin web: get,patch apps/deployments x\nin web: list /pods\n", ""},
		"logs and copies":                  {`kubectl -n web logs job/x --tail=5; kubectl cp web/x:/etc/a a; kubectl -n web cp b "$POD:/b" -c main`, "in web: create,get /pods/exec\nin web: get /pods/log\nin web: get batch/jobs x\nin web: get,list /pods\n", ""},
		"labels":                           {`kubectl label ns "$NS" "team=$TEAM" --overwrite; kubectl annotate clusterrole system:x a=b; kubectl annotate deploy/x "sum=$(sha256sum a)"`, "cluster: get,patch /namespaces\ncluster: get,patch rbac.authorization.k8s.io/clusterroles system:x\nown: get,patch apps/deployments x\n", "2: kubectl annotate: the account needs all permissions that the clusterroles grant"},
		"a status":                         {`kubectl -n web patch tab x --subresource status --type merge -p "{\"status\": $s}"; kubectl -n web replace --subresource=status -f - <<<'{apiVersion: example.com/v1, kind: Tab, metadata: {name: x}}'`, "in web: get,patch,update example.com/tabs/status x\n", ""},
		"delete everything":                {`kubectl delete pods --all -A --wait=false; kubectl delete cm x`, "cluster: delete,list /pods\nown: delete,get,list,watch /configmaps x\n", ""},
		"a token":                          {`TOKEN=$(kubectl -n web create token builder --duration 10m)`, "in web: create /serviceaccounts/token builder\n", ""},
		"xargs with a place":               {`kubectl get ns -o name | cut -d/ -f2 | xargs -I{} kubectl -n {} delete cm x --wait=false`, "cluster: delete /configmaps x\ncluster: list /namespaces\n", ""},
		"xargs and a shell":                {`cat names | xargs -n1 sh -c 'kubectl -n web delete pod "$0" --wait=false'`, "", "2: sh runs code that operon does not analyze"},
		"find":                             {`find . -name '*.yaml' -exec kubectl apply -f {} \;`, "", "2: kubectl is an argument of find, which may run it"},
		"awk":                              {`kubectl get pods | awk '{system("kubectl delete pod " $1)}'`, "own: list /pods\n", "2: awk runs code that operon does not analyze"},
		"a list that grows":                {"cmd=(kubectl get pods)\n[[ $1 ]] && cmd+=(-n \"$1\")\n\"${cmd[@]}\"", "", `4: "${cmd[@]}" may be any program`},
		"a prefix from outside":            {`$DRY_RUN kubectl delete pod x`, "", "2: kubectl is an argument of ..., which may run it"},
		"a kubeconfig":                     {"export KUBECONFIG=/other\nkubectl get pods", "", "3: kubectl get: with KUBECONFIG another account may send the requests"},
		"a kubeconfig for a call":          {"KUBECONFIG=/other kubectl get pods\nenv KUBECONFIG=\"$X\" kubectl get pods", "", "2: kubectl get: with KUBECONFIG another account may send the requests|3: kubectl get: with KUBECONFIG another account may send the requests"},
		"a context":                        {`kubectl config use-context x`, "", "2: kubectl config use-context: its requests are unknown"},
		"scale objects":                    {`kubectl scale --replicas 2 -f - <<<'{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}}'`, "own: patch apps/deployments/scale x\n", ""},
		"variables of a workload":          {`kubectl set env deploy/x --from=configmap/y`, "", "2: kubectl set env: its requests are unknown"},
		"roles":                            {`kubectl create rolebinding x --clusterrole=view --serviceaccount=a:b`, "own: create rbac.authorization.k8s.io/rolebindings\nown: bind rbac.authorization.k8s.io/clusterroles view\n", ""},
		"on this side":                     {`kubectl label cm x a=b --dry-run=client; kubectl create cm x --dry-run -o yaml`, "own: get /configmaps x\n", ""},
		"top":                              {`kubectl top pod --containers x`, "own: get metrics.k8s.io/pods x\n", ""},

		"oc":              {`oc -n web get pods; oc -n web rollout restart deploy/x; oc whoami`, "in web: get,patch apps/deployments x\nin web: list /pods\n", "2: oc whoami: its requests are unknown"},
		"oc of its own":   {`oc expose svc x`, "", "2: oc expose: its requests are unknown"},
		"oc in a wrapper": {`timeout 5 oc get cm x`, "own: get /configmaps x\n", ""},

		"curl": {`
SA=/var/run/secrets/kubernetes.io/serviceaccount
curl -s --cacert "$SA/ca.crt" -H "Authorization: Bearer $(cat "$SA/token")" "https://$KUBERNETES_SERVICE_HOST/version"`, "", "4: curl calls the API server"},
		"curl by a name":           {"api=https://kubernetes.default.svc\ncurl -k \"$api/api\"", "", "3: curl calls the API server"},
		"curl in a function":       {"get() { curl -s \"$1\"; }\nget https://kubernetes.default.svc/api", "", "2: curl calls the API server"},
		"curl by a path":           {`curl "$API/apis/apps/v1/namespaces/x/deployments"`, "", "2: curl calls the API server"},
		"wget":                     {`timeout 5 wget -qO- "https://kubernetes.default/api"`, "", "2: wget calls the API server"},
		"curl of something else":   {`curl -s "https://hooks.example.com/$1"; curl http://prometheus/api/v1/query?query=up`, "", ""},
		"curl with a marker":       {"# +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\ncurl https://kubernetes.default/api/v1/namespaces/x/pods/y", "cluster: get /pods\n", ""},
		"helm with a server":       {"helm version; helm lint x; helm template x --validate; helm list", "", "2: helm calls the API server|2: helm calls the API server"},
		"helm":                     {"helm upgrade --install x ./chart; helm template x | kubectl apply -f -", "", "2: helm calls the API server|2: kubectl apply: the objects are known only at run time"},
		"Python in a shell":        {"python3 - <<'PY'\nfrom kubernetes import client\nPY\npython3 -c 'import subprocess; subprocess.run([\"kubectl\", \"get\", \"pods\"])'", "", "2: python3 runs code that operon does not analyze|5: python3 runs code that operon does not analyze"},
		"what is piped to a shell": {"gen | bash", "", "2: bash runs code that operon does not analyze"},
		"a script from outside":    {"bash \"$1\"", "", "2: bash runs ..., which operon does not analyze"},
		"scripts of the project":   {"\"${BASH_SOURCE%/*}/lib/pods.sh\" web\nbash /hooks/lib/pods.sh team-a; python3 /hooks/lib/nodes.py", "cluster: list /nodes\nin team-a: list /pods\nin web: list /pods\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := derived(t, tc.script, Source{"hooks/lib/pods.sh", []byte("#!/bin/bash\nkubectl -n \"$1\" get pods\n")},
				Source{"hooks/lib/nodes.py", []byte("import subprocess\nsubprocess.check_output(['kubectl', 'get', 'nodes'])\n")})
			if got := lines(r); !sameLines(got, tc.rules) {
				t.Errorf("rules (-want +got):\n%s", cmp.Diff(sorted(strings.Split(tc.rules, "\n")), sorted(strings.Split(got, "\n"))))
			}
			var unseen []string
			for line := range strings.Lines(messages(r)) {
				place, what, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), " (rbac-unseen)"), ": ")
				unseen = append(unseen, strings.Split(place, ":")[1]+": "+strings.TrimPrefix(what, notSeen))
			}
			if diff := cmp.Diff(tc.unseen, strings.Join(unseen, "|")); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScriptLimits reports scripts that would overflow the stack of the parser.
func TestScriptLimits(t *testing.T) {
	t.Parallel()
	const want = "hooks/a.sh:0:0: " + notSeen + "it is larger than 256 KiB or nested deeper than 1000 levels (rbac-unseen)\n"
	for name, script := range map[string]string{
		"substitutions": strings.Repeat("$(", 500000), "groups": strings.Repeat("{ ", 2000), "size": strings.Repeat("a | ", maxScript),
	} {
		if got := messages(derived(t, script)); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, script := range map[string]string{
		"pipes": strings.Repeat("a|", maxScript/2-20) + "a", "conditions": strings.Repeat("if a;then ", maxScript/14) + "a" + strings.Repeat(";fi", maxScript/14),
		"substitutions": strings.Repeat("$(", 900) + "a" + strings.Repeat(")", 900),
	} {
		if got := messages(derived(t, script)); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
