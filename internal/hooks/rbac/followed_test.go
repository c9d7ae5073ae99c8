package rbac

import (
	"fmt"
	"strings"
	"testing"
)

// TestFollowed follows what changes arguments, and variables into the texts that shells
// run. Findings are without their places.
func TestFollowed(t *testing.T) {
	t.Parallel()
	const kindUnknown = "kubectl get: which kind it is about is known only when it runs"
	for name, tc := range map[string]struct{ script, rules, unseen string }{
		"set in a function":               {`f() { kubectl get "$1"; set -- pods; kubectl get "$1"; }; f nodes`, "cluster: list /nodes\nown: list /pods\n", ""},
		"set without dashes":              {`f() { set pods; kubectl get "$1"; }; f nodes`, "own: list /pods\n", ""},
		"set with options alone":          {`f() { set -euo pipefail +x; set; kubectl get "$1"; }; f pods`, "own: list /pods\n", ""},
		"set with options and arguments":  {`f() { set -euo pipefail pods x; kubectl get "$@"; }; f nodes`, "own: get /pods x\n", ""},
		"set to nothing":                  {`f() { set --; kubectl get pods "$@"; }; f x`, "own: list /pods\n", ""},
		"set with a dash":                 {`f() { set - pods; set -; kubectl get "$1"; }; f nodes`, "own: list /pods\n", ""},
		"set to more":                     {`f() { set -- "$@" -n web; kubectl get "$@"; }; f pods`, "in web: list /pods\n", ""},
		"set to an unknown number":        {`f() { set -- "${a[@]}" "$@"; kubectl get "$1"; }; f pods`, "", kindUnknown},
		"set to unknown words":            {`f() { set $X; kubectl get "$1"; }; f pods`, "", kindUnknown},
		"set behind unknown ones":         {`f() { set -- cm "$X" "$1"; kubectl get "$1" "$3"; }; f y`, "own: get /configmaps y\n", ""},
		"set behind any number":           {`f() { set -- pods $(jq -r .x a.json); kubectl -n web get "$1"; }; f`, "in web: list /pods\n", ""},
		"set in a hook":                   {`kubectl get "$1"; set -- pods; kubectl get "$1"`, "own: list /pods\n", kindUnknown},
		"set by its full name":            {`f() { builtin set -- pods; kubectl get "$1"; command shift; kubectl get svc "$@"; }; f nodes`, "own: list /pods,services\n", ""},
		"set on a condition":              {`f() { [ $# -gt 0 ] || set -- pods; kubectl get "$1"; }; f svc`, "own: list /pods,services\n", ""},
		"set in one branch":               {`f() { if a; then set -- pods; kubectl get "$1" x; elif b; then set -- cm; else set -- secret; fi; kubectl get "$1"; }; f nodes`, "own: get /pods x\nown: list /configmaps,pods,secrets\n", ""},
		"set in a case":                   {`f() { case $X in a) set -- pods;; *) kubectl get "$1";; esac; kubectl get "$1" x; }; f cm`, "own: get /configmaps,pods x\nown: list /configmaps\n", ""},
		"set in a subshell":               {`f() { (set -- pods; kubectl get "$1"); kubectl get "$1" x; }; f cm`, "own: get /configmaps x\nown: list /pods\n", ""},
		"set in a pipe":                   {`f() { a | { set -- pods; kubectl get "$1"; } | b; kubectl get "$1" x; }; f cm`, "own: get /configmaps x\nown: list /pods\n", ""},
		"set in the background":           {`f() { { set -- pods; kubectl get "$1"; } & kubectl get "$1" x; }; f cm`, "own: get /configmaps x\nown: list /pods\n", ""},
		"set in a substitution":           {`f() { y=$(set -- pods; kubectl get "$1"); kubectl get "$1" x; }; f cm`, "own: get /configmaps x\nown: list /pods\n", ""},
		"set in a group":                  {`f() { { time set -- pods; }; kubectl get "$1"; }; f cm`, "own: list /pods\n", ""},
		"set in another function":         {`g() { set -- pods; }; f() { g; kubectl get "$1"; }; f cm`, "own: list /configmaps\n", ""},
		"set in what eval runs":           {`f() { eval 'set -- nodes'; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"set in what eval may run":        {`f() { eval "$X"; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"eval of something else":          {`f() { eval 'a=b'; kubectl get "$1"; }; f cm`, "own: list /configmaps\n", ""},
		"set in what is sourced":          {`f() { source /hooks/lib/sets.sh; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"set deep in what is sourced":     {`f() { . /hooks/lib/deep.sh; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"shift in a function of a source": {`f() { source /hooks/lib/shifts.sh; kubectl get "$1"; }; f cm`, "own: list /configmaps\n", ""},
		"set in a text":                   {`bash -c 'set -- cm "$1"; kubectl get "$@"' _ x`, "own: get /configmaps x\n", ""},
		"shift in a text":                 {`bash -c 'shift; kubectl get "$1"' _ nodes cm`, "own: list /configmaps\n", ""},
		"set in a script":                 {`/hooks/lib/script.sh x`, "own: get /configmaps x\n", ""},
		"a variable of before":            {`f() { local k="$1"; shift; set -- "$k" "$@"; kubectl get "$1" "$2"; kubectl get "$k"; }; f cm x`, "own: get /configmaps x\nown: list /configmaps\n", ""},
		"shift until the end":             {`f() { while [ $# -gt 0 ]; do kubectl get "$1"; shift; done; }; f cm secret`, "own: list /configmaps,secrets\n", ""},
		"shift until none is left":        {`f() { while [ -n "${1:-}" ]; do shift; done; kubectl get pods "$@"; }; f a b`, "own: list /pods\n", ""},
		"shift in a count":                {`f() { while (($# > 0)); do kubectl -n "$2" get "$1"; shift 2; done; }; f cm web cm team-a`, "in team-a: list /configmaps\nin web: list /configmaps\n", ""},
		"shift of what is unknown":        {`f() { while [ $# -gt 0 ]; do kubectl get "$1"; shift; done; }; f cm "$X"`, "", kindUnknown},
		"shift with break":                {`f() { while [ $# -gt 0 ]; do if a; then break; fi; shift; done; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"shift in another loop":           {`f() { for i in a b; do shift; done; kubectl get "$1"; }; f a b cm`, "", kindUnknown},

		"shift on a condition":       {`f() { while [[ "$1" == -* ]]; do shift; done; kubectl "$@"; }; f -q get pods`, "own: list /pods\n", ""},
		"shift by several":           {`f() { shift 2; kubectl get "$1"; shift 5; kubectl get "$1"; }; f a b pods`, "own: list /pods\n", ""},
		"shift by an unknown number": {`f() { shift "$X"; kubectl get "$1"; }; f pods`, "", kindUnknown},
		"set to ever more":           {`f() { while :; do set -- "$@" "$1"; kubectl get "$1"; done; }; f pods`, "", kindUnknown},
		"set to ever more in loops":  {nested(30, `set -- "$@" "$1" x$1`), "", kindUnknown},

		"a variable that is not exported":       {`NS=web; bash -c 'kubectl -n "$NS" get pods'`, "cluster: list /pods\n", ""},
		"a kind that is not exported":           {`K=pods; bash -c 'kubectl get "$K"'`, "", kindUnknown},
		"a variable that is exported":           {`export NS=web; bash -c 'kubectl -n "$NS" get pods'`, "in web: list /pods\n", ""},
		"a variable that is exported later":     {`NS=web; export X NS; sh -c 'kubectl -n $NS get pods'`, "in web: list /pods\n", ""},
		"a variable that is declared so":        {`declare -rx NS=web; bash -c 'kubectl -n "$NS" get pods'`, "in web: list /pods\n", ""},
		"a variable that is no more":            {`export NS=web; declare +x NS; bash -c 'kubectl -n "$NS" get pods'`, "cluster: list /pods\n", ""},
		"all variables":                         {`set -o allexport; NS=web; bash -c 'kubectl -n "$NS" get pods'`, "in web: list /pods\n", ""},
		"all variables, in short":               {`set -ea; NS=web; bash -c 'kubectl -n "$NS" get pods'`, "in web: list /pods\n", ""},
		"variables without a name":              {`NS=web; export "$X"; bash -c 'kubectl -n "$NS" get pods'`, "cluster: list /pods\n", ""},
		"a variable of the call":                {`NS=web timeout 5 bash -c 'kubectl -n "$NS" get pods'`, "in web: list /pods\n", ""},
		"a variable of another call":            {`NS=web a; NS=b; bash -c 'kubectl -n "$NS" get pods'`, "cluster: list /pods\n", ""},
		"a variable in double quotes":           {`NS=web; bash -c "kubectl -n $NS get pods"`, "in web: list /pods\n", ""},
		"one in double quotes of the text":      {`NS=web; K=pods; bash -c "kubectl -n \"$NS\" get \$K"`, "", kindUnknown},
		"a variable of the text":                {`NS=web; bash -c 'NS=b; kubectl -n "$NS" get pods'`, "in b: list /pods\n", ""},
		"a variable of both":                    {`export NS=web; bash -c '[ "$X" ] && NS=b; kubectl -n "$NS" get pods'`, "in b: list /pods\nin web: list /pods\n", ""},
		"a variable of the text, of its own":    {`bash -c 'K="$1"; kubectl get "$K"' _ pods`, "own: list /pods\n", ""},
		"one in a loop of the text":             {`bash -c 'for k in "$@"; do kubectl get "$k"; done' _ pods cm`, "own: list /configmaps,pods\n", ""},
		"one in a function of the text":         {`bash -c 'f() { local k="$1"; kubectl get "$k"; }; f pods' _ nodes`, "", kindUnknown},
		"one that the text reads":               {`export K=pods; bash -c 'read -r K; kubectl get "$K"' <a`, "", kindUnknown},
		"a variable from env":                   {`export NS=web; env -u A NS=b bash -c 'kubectl -n "$NS" get pods'`, "in b: list /pods\n", ""},
		"an unknown one from env":               {`export NS=web; env "NS=$X" bash -c 'kubectl -n "$NS" get pods'`, "cluster: list /pods\n", ""},
		"none from env":                         {`export NS=web; env -i bash -c 'kubectl -n "$NS" get pods'`, "cluster: list /pods\n", ""},
		"all but one from env":                  {`export NS=web; env --unset=NS bash -c 'kubectl -n "$NS" get pods'`, "cluster: list /pods\n", ""},
		"a text in a text, with an exported":    {`export NS=web; bash -c 'bash -c "kubectl -n \$NS get pods"'`, "in web: list /pods\n", ""},
		"a text in a text, with one of its own": {`bash -c 'export NS=web; K=pods; bash -c "kubectl -n \$NS get \$K"'`, "", kindUnknown},
		"a text in a text that exports":         {`bash -c 'export NS=web; bash -c "kubectl -n \$NS get pods"'`, "in web: list /pods\n", ""},
		"eval sees all":                         {`NS=web; eval 'kubectl -n "$NS" get pods'`, "in web: list /pods\n", ""},
		"eval writes":                           {`NS=web; K=pods; eval 'NS=b'; kubectl -n "$NS" get "$K"`, "cluster: list /pods\n", ""},
		"eval writes what is unknown":           {`K=pods; eval "K=$X"; kubectl get "$K"`, "", kindUnknown},
		"a trap sees all":                       {`NS=web; trap 'kubectl -n "$NS" get pods' EXIT`, "in web: list /pods\n", ""},
		"a trap writes":                         {`K=pods; trap 'K=nodes; kubectl get "$K"' EXIT`, "", kindUnknown},
		"two unknown texts are one":             {`kubectl get cm "$A$B"`, "own: get /configmaps\n", ""},
		"a text that doubles in a loop":         {`a=x; for i in 1 2 3; do a="$a$a"; done; kubectl get cm "$a"`, "own: get /configmaps\n", ""},
		"texts that double":                     {doubled(60, `"$v%d$v%d"`), "own: get /configmaps\n", ""},
		"lists that double":                     {doubled(60, `("${v%d[@]}" "${v%d[@]}")`), "", "kubectl get: which kind it is about is known only when it runs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := derived(t, tc.script,
				Source{"hooks/lib/sets.sh", []byte("a() { set -- a; }\nset -- nodes\n")},
				Source{"hooks/lib/deep.sh", []byte("source /hooks/lib/sets.sh\n")},
				Source{"hooks/lib/shifts.sh", []byte("a() { shift; }\n")},
				Source{"hooks/lib/script.sh", []byte("#!/bin/bash\nset -- cm \"$1\"\nkubectl get \"$1\" \"$2\"\n")})
			expect(t, r, tc.rules, tc.unseen)
		})
	}
}

// doubled are variables each of which is twice the one before.
func doubled(n int, value string) string {
	var b strings.Builder
	b.WriteString("v0=x\n")
	for i := range n {
		fmt.Fprintf(&b, "v%d="+value+"\n", i+1, i, i)
	}
	verb := "cm "
	if strings.HasPrefix(value, "(") {
		verb = ""
	}
	fmt.Fprintf(&b, "kubectl get %s\"$v%d\"", verb, n)
	return b.String()
}

// nested is a function with loops around a command, and kubectl in the innermost.
func nested(n int, command string) string {
	return "f() {\n" + strings.Repeat("while :; do\n", n) + command + "\nkubectl get \"$1\"\n" + strings.Repeat("done\n", n) + "}\nf pods"
}
