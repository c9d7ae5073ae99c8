//go:build testall

package rbac

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStarted follows files that interpreters run, and reports other code. Expected
// findings have no place.
func TestStarted(t *testing.T) {
	t.Parallel()
	var calls strings.Builder // more than are followed with their arguments
	for i := range 2 * maxDepth {
		fmt.Fprintf(&calls, "f%d() { f%d; }\n", i, i+1)
	}
	fmt.Fprintf(&calls, "f%d() { bash -c 'kubectl get pods'; }\nf0", 2*maxDepth)
	chain := calls.String()
	for name, tc := range map[string]struct{ script, rules, unseen string }{
		"a text has arguments of its own":  {`f() { bash -c 'kubectl delete ns "$1" --wait=false' _ "$2"; }; f a b`, "", "bash runs code that operon does not analyze"},
		"a text that is read, too":         {"f() { bash -s \"$2\" <<'EOF'\nkubectl delete ns \"$1\" --wait=false\nEOF\n}\nf a b", "", "bash runs b, which operon does not analyze"},
		"all of a text's arguments":        {`f() { bash -c 'kubectl -n web "$@"' _ get "$1"; }; f pods`, "", "bash runs code that operon does not analyze"},
		"a text in a text":                 {`f() { bash -c 'bash -c "kubectl get \$1 \$2" _ "$1" x' _ cm; }; f a`, "", "bash runs code that operon does not analyze"},
		"variables of the function":        {`f() { NS="$1" bash -c 'kubectl -n "$NS" get "$1"' _ pods; }; f web`, "", "bash runs code that operon does not analyze"},
		"what the function sends":          {"f() { bash -c 'kubectl apply -f -' _ x <<EOF\n{apiVersion: v1, kind: Pod, metadata: {name: \"$1\"}}\nEOF\n}\nf y", "", "bash runs code that operon does not analyze"},
		"a function in a text":             {`bash -c 'f() { kubectl get "$1"; }; f pods' _ nodes`, "", "bash runs code that operon does not analyze"},
		"a text that shifts":               {`bash -c 'shift; kubectl get cm "$1"' _ a b`, "", "bash runs code that operon does not analyze"},
		"a text with other arguments":      {`bash -c 'set -e -- b; kubectl get cm "$1"' _ a`, "", "bash runs code that operon does not analyze"},
		"a text behind a shift":            {`f() { shift; eval 'kubectl get "$1"'; }; f a pods`, "", "eval runs code that operon does not analyze"},
		"a trap runs later":                {`f() { trap 'kubectl get cm "$1"' EXIT; }; f a`, "", "trap runs code that operon does not analyze"},
		"xargs gives any number":           {`xargs bash -c 'kubectl -n "$2" get cm "$1"' _ <a`, "", "bash runs code that operon does not analyze"},
		"xargs gives a script any number":  {`xargs /hooks/lib/two.sh <a`, "cluster: get /configmaps\n", ""},
		"a file in a text":                 {`bash -c '/hooks/lib/pods.sh web'; timeout 10 sh -c "hooks/lib/pods.sh web"; bash -c 'cd /tmp && /hooks/lib/pods.sh'`, "", "bash runs code that operon does not analyze|sh runs code that operon does not analyze|bash runs code that operon does not analyze"},
		"a file in what a shell reads":     {"echo '/hooks/lib/pods.sh' | bash\nbash <<X\ncd /tmp; . /hooks/lib/pods.sh\nX", "", "bash runs code that operon does not analyze|bash runs code that operon does not analyze"},
		"a file in what runs later":        {`eval '/hooks/lib/pods.sh a'; trap "/hooks/lib/pods.sh" EXIT; find . -exec /hooks/lib/pods.sh {} \;`, "", "eval runs code that operon does not analyze|trap runs code that operon does not analyze|find runs code that operon does not analyze"},
		"a file in a text of a wrapper":    {`watch "/hooks/lib/pods.sh web"; watch "kubectl get pods"; flock f -c "kubectl get pods"; env -S "kubectl get pods"; retry 3 "kubectl get pods"`, "", "watch may run a file of the hooks|watch may run kubectl|flock may run kubectl|env may run kubectl|retry may run kubectl"},
		"a module in Python code":          {`python3 -c 'import sys, nodes'; python3 -c 'import sys'`, "", "python3 runs code that operon does not analyze"},
		"no arguments and unknown ones":    {"/hooks/lib/two.sh\n/hooks/lib/two.sh \"$@\"", "cluster: get /configmaps\nown: list /configmaps\n", ""},
		"a long option":                    {`bash --login -c 'kubectl get pods'`, "", "bash runs code that operon does not analyze"},
		"a long option with one dash":      {`bash -norc -c 'kubectl get pods'`, "", "bash runs code that operon does not analyze"},
		"a long option with a value":       {`bash --rcfile a --init-file b -c 'kubectl get pods'`, "", "bash runs a, which operon does not analyze"},
		"a long option and a script":       {`bash --norc /hooks/lib/pods.sh web`, "in web: list /pods\n", ""},
		"the end of options":               {"bash -s -- web <<'EOF'\nkubectl -n \"$1\" get pods\nEOF", "", "bash runs web, which operon does not analyze"},
		"the end of options and a script":  {`bash -e -- /hooks/lib/pods.sh web; sh - /hooks/lib/pods.sh a`, "in a: list /pods\nin web: list /pods\n", ""},
		"an option with a value":           {`bash -euo pipefail -c 'kubectl get pods'`, "", "bash runs pipefail, which operon does not analyze"},
		"options with values":              {`bash -oO pipefail extglob +o posix /hooks/lib/pods.sh web`, "", "bash runs pipefail, which operon does not analyze"},
		"options behind -c":                {`bash -c -eo pipefail -- 'kubectl get "$1"' _ pods`, "", "bash runs code that operon does not analyze"},
		"a shell that talks of itself":     {`bash --version; sh --help -c 'kubectl get pods'`, "", "sh runs code that operon does not analyze"},
		"a file that is not there":         {`bash --norc x.sh`, "", "bash runs x.sh, which operon does not analyze"},
		"the end of Python's options":      {`python3 -- /hooks/lib/nodes.py`, "cluster: list /nodes\n", ""},
		"the end of them, and nothing":     {"python3 -u -- - a <<'EOF'\nrun(['kubectl', 'get', 'nodes'])\nEOF", "", "python3 runs a, which operon does not analyze"},
		"Python's options with values":     {`python3 -X utf8 -Wignore --check-hash-based-pycs never /hooks/lib/nodes.py`, "", "python3 runs utf8, which operon does not analyze"},
		"Python's options with a text":     {`python3 -uc 'run(["kubectl", "get", "nodes"])' a; python3 -c ''`, "", "python3 runs code that operon does not analyze"},
		"Python that talks of itself":      {`python3 --version; python3 -V; python3 -m json.tool`, "", ""},
		"a module":                         {`python3 -m nodes; python3 -um nodes a; python3 -mnodes`, "cluster: list /nodes\n", "python3 runs code that operon does not analyze"},
		"a module of a package":            {`python3 -m tools.pods`, "in web: list /pods\nown: list /services\n", ""},
		"a package":                        {`python3 -m tools`, "own: list /configmaps,services\n", ""},
		"a module that is not there":       {`python3 -m nothing.there`, "", "python3 runs nothing.there, which operon does not analyze"},
		"a module of an unknown name":      {`python3 -m "$X"`, "", "python3 runs ..., which operon does not analyze"},
		"a module of Python's own":         {`python3 -m venv x; python3 -m pip install y`, "", ""},
		"a module of a client":             {`python3 -m kopf run x.py`, "", "python3 runs kopf, which operon does not analyze"},
		"a module with a marker":           {"# +kubebuilder:rbac:groups=\"\",resources=pods,verbs=list\npython3 -m nothing", "cluster: list /pods\n", ""},
		"Python without an end":            {"python3 - <<'EOF'\na = [\nEOF", "", ""},
		"a script that starts itself":      {`/hooks/lib/walk.sh a`, "own: get /configmaps\n", ""},
		"a shell that does":                {`bash /hooks/lib/walk.sh a`, "own: get /configmaps\n", ""},
		"a function that calls itself":     {`f() { kubectl get cm "$1"; f "${1}x"; }; f a`, "own: get /configmaps\n", ""},
		"one that calls itself in a loop":  {`f() { for x in a b c d; do f "$1$x"; done; kubectl get cm "$1"; }; f a`, "own: get /configmaps\n", ""},
		"a text that runs itself":          {"x='eval \"$x\"; kubectl get pods'\neval \"$x\"", "", "eval runs code that operon does not analyze"},
		"a text that runs itself often":    {"x='eval \"$x\"; eval \"$x\"; eval \"$x\"; eval \"$x\"; kubectl get pods'\neval \"$x\"", "", "eval runs code that operon does not analyze"},
		"a text that runs ever others":     {"x='eval $x+'\neval \"$x\"\nkubectl get pods", "own: list /pods\n", ""},
		"functions that call one another":  {chain, "", "bash runs code that operon does not analyze"},
		"a function without a name":        {"()x!x\nkubectl get pods", "own: list /pods\n", ""},
		"functions with a text of a value": {`f() { bash -c "kubectl get cm $1" _ "$2"; }; f a b`, "", "bash runs code that operon does not analyze"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := derived(t, tc.script, Source{"hooks/lib/pods.sh", []byte("#!/bin/bash\nkubectl -n \"$1\" get pods\n")},
				Source{"hooks/lib/two.sh", []byte("#!/bin/bash\nkubectl -n \"$2\" get cm \"$1\"\n")},
				Source{"hooks/lib/walk.sh", []byte("#!/bin/bash\nkubectl get cm \"$1\"\n/hooks/lib/walk.sh \"${1}x\"\n")},
				Source{"hooks/lib/tools/__init__.py", []byte("import subprocess\nsubprocess.run(['kubectl', 'get', 'svc'])\n")},
				Source{"hooks/lib/tools/__main__.py", []byte("import subprocess\nsubprocess.run(['kubectl', 'get', 'cm'])\n")},
				Source{"hooks/lib/tools/pods.py", []byte("import subprocess\nsubprocess.run(['kubectl', '-n', 'web', 'get', 'pods'])\n")},
				Source{"hooks/lib/nodes.py", []byte("import subprocess\nsubprocess.check_output(['kubectl', 'get', 'nodes'])\n")})
			expect(t, r, tc.rules, tc.unseen)
		})
	}
}

// expect compares rules in any order, and the messages of findings.
func expect(t *testing.T, r Result, rules, unseen string) {
	t.Helper()
	if got := lines(r); !sameLines(got, rules) {
		t.Errorf("rules (-want +got):\n%s", cmp.Diff(sorted(strings.Split(rules, "\n")), sorted(strings.Split(got, "\n"))))
	}
	var messages []string
	for _, f := range r.Findings {
		messages = append(messages, strings.TrimPrefix(f.Message, notSeen))
	}
	if diff := cmp.Diff(unseen, strings.Join(messages, "|")); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
