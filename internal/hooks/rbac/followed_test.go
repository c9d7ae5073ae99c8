//go:build testall

package rbac

import (
	"fmt"
	"strings"
	"testing"
)

// TestFollowed changes positional arguments and variables before kubectl uses them.
// Expected findings have no place.
func TestFollowed(t *testing.T) {
	t.Parallel()
	const kindUnknown = "kubectl get: the kind is known only at run time"
	for name, tc := range map[string]struct{ script, rules, unseen string }{
		"set in a function":               {`f() { kubectl get "$1"; set -- pods; kubectl get "$1"; }; f nodes`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"set without dashes":              {`f() { set pods; kubectl get "$1"; }; f nodes`, "", kindUnknown},
		"set with options alone":          {`f() { set -euo pipefail +x; set; kubectl get "$1"; }; f pods`, "own: list /pods\n", ""},
		"set with options and arguments":  {`f() { set -euo pipefail pods x; kubectl get "$@"; }; f nodes`, "", "kubectl: the arguments are known only at run time"},
		"set to nothing":                  {`f() { set --; kubectl get pods "$@"; }; f x`, "", "kubectl: the arguments are known only at run time"},
		"set with a dash":                 {`f() { set - pods; set -; kubectl get "$1"; }; f nodes`, "", kindUnknown},
		"set to more":                     {`f() { set -- "$@" -n web; kubectl get "$@"; }; f pods`, "", "kubectl: the arguments are known only at run time"},
		"set to an unknown number":        {`f() { set -- "${a[@]}" "$@"; kubectl get "$1"; }; f pods`, "", kindUnknown},
		"set to unknown words":            {`f() { set $X; kubectl get "$1"; }; f pods`, "", kindUnknown},
		"set behind unknown ones":         {`f() { set -- cm "$X" "$1"; kubectl get "$1" "$3"; }; f y`, "", kindUnknown},
		"set behind any number":           {`f() { set -- pods $(jq -r .x a.json); kubectl -n web get "$1"; }; f`, "", kindUnknown},
		"set in a hook":                   {`kubectl get "$1"; set -- pods; kubectl get "$1"`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"set by its full name":            {`f() { builtin set -- pods; kubectl get "$1"; command shift; kubectl get svc "$@"; }; f nodes`, "", "kubectl get: the kind is known only at run time|kubectl: the arguments are known only at run time"},
		"set on a condition":              {`f() { [ $# -gt 0 ] || set -- pods; kubectl get "$1"; }; f svc`, "", kindUnknown},
		"set in one branch":               {`f() { if a; then set -- pods; kubectl get "$1" x; elif b; then set -- cm; else set -- secret; fi; kubectl get "$1"; }; f nodes`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"set in a case":                   {`f() { case $X in a) set -- pods;; *) kubectl get "$1";; esac; kubectl get "$1" x; }; f cm`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"set in a subshell":               {`f() { (set -- pods; kubectl get "$1"); kubectl get "$1" x; }; f cm`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"set in a pipe":                   {`f() { a | { set -- pods; kubectl get "$1"; } | b; kubectl get "$1" x; }; f cm`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"set in the background":           {`f() { { set -- pods; kubectl get "$1"; } & kubectl get "$1" x; }; f cm`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"set in a substitution":           {`f() { y=$(set -- pods; kubectl get "$1"); kubectl get "$1" x; }; f cm`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"set in a group":                  {`f() { { time set -- pods; }; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"set in another function":         {`g() { set -- pods; }; f() { g; kubectl get "$1"; }; f cm`, "own: list /configmaps\n", ""},
		"set in what eval runs":           {`f() { eval 'set -- nodes'; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"set in what eval may run":        {`f() { eval "$X"; kubectl get "$1"; }; f cm`, "own: list /configmaps\n", ""},
		"eval of something else":          {`f() { eval 'a=b'; kubectl get "$1"; }; f cm`, "own: list /configmaps\n", ""},
		"set in what is sourced":          {`f() { source /hooks/lib/sets.sh; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"set deep in what is sourced":     {`f() { . /hooks/lib/deep.sh; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"shift in a function of a source": {`f() { source /hooks/lib/shifts.sh; kubectl get "$1"; }; f cm`, "own: list /configmaps\n", ""},
		"set in a text":                   {`bash -c 'set -- cm "$1"; kubectl get "$@"' _ x`, "", "bash runs code that operon does not analyze"},
		"shift in a text":                 {`bash -c 'shift; kubectl get "$1"' _ nodes cm`, "", "bash runs code that operon does not analyze"},
		"set in a script":                 {`/hooks/lib/script.sh x`, "", kindUnknown},
		"a variable of before":            {`f() { local k="$1"; shift; set -- "$k" "$@"; kubectl get "$1" "$2"; kubectl get "$k"; }; f cm x`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"shift until the end":             {`f() { while [ $# -gt 0 ]; do kubectl get "$1"; shift; done; }; f cm secret`, "", kindUnknown},
		"shift until none is left":        {`f() { while [ -n "${1:-}" ]; do shift; done; kubectl get pods "$@"; }; f a b`, "", "kubectl: the arguments are known only at run time"},
		"shift in a count":                {`f() { while (($# > 0)); do kubectl -n "$2" get "$1"; shift 2; done; }; f cm web cm team-a`, "", kindUnknown},
		"shift of what is unknown":        {`f() { while [ $# -gt 0 ]; do kubectl get "$1"; shift; done; }; f cm "$X"`, "", kindUnknown},
		"shift with break":                {`f() { while [ $# -gt 0 ]; do if a; then break; fi; shift; done; kubectl get "$1"; }; f cm`, "", kindUnknown},
		"shift in another loop":           {`f() { for i in a b; do shift; done; kubectl get "$1"; }; f a b cm`, "", kindUnknown},

		"shift on a condition":       {`f() { while [[ "$1" == -* ]]; do shift; done; kubectl "$@"; }; f -q get pods`, "", "kubectl: the arguments are known only at run time"},
		"shift by several":           {`f() { shift 2; kubectl get "$1"; shift 5; kubectl get "$1"; }; f a b pods`, "", "kubectl get: the kind is known only at run time|kubectl get: the kind is known only at run time"},
		"shift by an unknown number": {`f() { shift "$X"; kubectl get "$1"; }; f pods`, "", kindUnknown},
		"set to ever more":           {`f() { while :; do set -- "$@" "$1"; kubectl get "$1"; done; }; f pods`, "", kindUnknown},
		"set to ever more in loops":  {nested(30, `set -- "$@" "$1" x$1`), "", kindUnknown},

		"a variable that is not exported":       {`NS=web; bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"a kind that is not exported":           {`K=pods; bash -c 'kubectl get "$K"'`, "", "bash runs code that operon does not analyze"},
		"a variable that is exported":           {`export NS=web; bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"a variable that is exported later":     {`NS=web; export X NS; sh -c 'kubectl -n $NS get pods'`, "", "sh runs code that operon does not analyze"},
		"a variable that is declared so":        {`declare -rx NS=web; bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"a variable that is no more":            {`export NS=web; declare +x NS; bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"all variables":                         {`set -o allexport; NS=web; bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"all variables, in short":               {`set -ea; NS=web; bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"variables of unknown names":            {`NS=web; export "$X"; bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"a variable of the call":                {`NS=web timeout 5 bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"a variable of another call":            {`NS=web a; NS=b; bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"a variable in double quotes":           {`NS=web; bash -c "kubectl -n $NS get pods"`, "", "bash runs code that operon does not analyze"},
		"one in double quotes of the text":      {`NS=web; K=pods; bash -c "kubectl -n \"$NS\" get \$K"`, "", "bash runs code that operon does not analyze"},
		"a variable of the text":                {`NS=web; bash -c 'NS=b; kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"a variable of both":                    {`export NS=web; bash -c '[ "$X" ] && NS=b; kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"a variable of the text, of its own":    {`bash -c 'K="$1"; kubectl get "$K"' _ pods`, "", "bash runs code that operon does not analyze"},
		"one in a loop of the text":             {`bash -c 'for k in "$@"; do kubectl get "$k"; done' _ pods cm`, "", "bash runs code that operon does not analyze"},
		"one in a function of the text":         {`bash -c 'f() { local k="$1"; kubectl get "$k"; }; f pods' _ nodes`, "", "bash runs code that operon does not analyze"},
		"one that the text reads":               {`export K=pods; bash -c 'read -r K; kubectl get "$K"' <a`, "", "bash runs code that operon does not analyze"},
		"a variable from env":                   {`export NS=web; env -u A NS=b bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"an unknown one from env":               {`export NS=web; env "NS=$X" bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"none from env":                         {`export NS=web; env -i bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"all but one from env":                  {`export NS=web; env --unset=NS bash -c 'kubectl -n "$NS" get pods'`, "", "bash runs code that operon does not analyze"},
		"a text in a text, with an exported":    {`export NS=web; bash -c 'bash -c "kubectl -n \$NS get pods"'`, "", "bash runs code that operon does not analyze"},
		"a text in a text, with one of its own": {`bash -c 'export NS=web; K=pods; bash -c "kubectl -n \$NS get \$K"'`, "", "bash runs code that operon does not analyze"},
		"a text in a text that exports":         {`bash -c 'export NS=web; bash -c "kubectl -n \$NS get pods"'`, "", "bash runs code that operon does not analyze"},
		"eval sees all":                         {`NS=web; eval 'kubectl -n "$NS" get pods'`, "", "eval runs code that operon does not analyze"},
		"eval writes":                           {`NS=web; K=pods; eval 'NS=b'; kubectl -n "$NS" get "$K"`, "", kindUnknown},
		"eval writes what is unknown":           {`K=pods; eval "K=$X"; kubectl get "$K"`, "", kindUnknown},
		"a trap sees all":                       {`NS=web; trap 'kubectl -n "$NS" get pods' EXIT`, "", "trap runs code that operon does not analyze"},
		"a trap writes":                         {`K=pods; trap 'K=nodes; kubectl get "$K"' EXIT`, "", "trap runs code that operon does not analyze"},
		"two unknown texts are one":             {`kubectl get cm "$A$B"`, "own: get /configmaps\n", ""},
		"a text that doubles in a loop":         {`a=x; for i in 1 2 3; do a="$a$a"; done; kubectl get cm "$a"`, "own: get /configmaps\n", ""},
		"texts that double":                     {doubled(60, `"$v%d$v%d"`), "own: get /configmaps\n", ""},
		"lists that double":                     {doubled(60, `("${v%d[@]}" "${v%d[@]}")`), "", "kubectl: the arguments are known only at run time"},
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

// doubled returns n assignments, each with twice the value of the previous one.
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

// nested returns a function with n nested loops around a command and kubectl.
func nested(n int, command string) string {
	return "f() {\n" + strings.Repeat("while :; do\n", n) + command + "\nkubectl get \"$1\"\n" + strings.Repeat("done\n", n) + "}\nf pods"
}
