//go:build testall

package rbac

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzShell checks that Derive terminates for any shell hook, and that all findings are in
// the hook or in a file that it starts.
func FuzzShell(f *testing.F) {
	for _, s := range []string{`f() { bash -c 'kubectl delete ns "$1"' _ "$2"; }; f a b`, "bash -euo pipefail -s -- a <<'EOF'\nkubectl get \"$1\"\nEOF", `bash --norc /hooks/lib/walk.sh a`,
		"a=(x {1..9}); echo ${a[@]:1} ${a[*]} ~b ${!a} $((a+1)) $'\\x41' ${a:?b} ${a%%b} <(c)", "cat <<-E >$KUBERNETES_PATCH_PATH\n\t{\"operation\": \"Delete\"}\nE", "x='eval \"$x\"'\neval \"$x\"", `f() { shift; f "$1x" "$@"; }; f a b c`, "python3 -uc 'a = ['; python3 -- - <<EOF\na = {\nEOF", `xargs -I{} kubectl -n {} get "${a[@]:-pods}" <b`,
		`k() { command kubectl "$@"; }; for p in $(k get pods -o name); do trap "k delete $p" EXIT; done`, `find . -exec sh -c 'kubectl apply -f -' _ {} \;`} {
		f.Add(s)
	}
	kinds := table(f)
	f.Fuzz(func(t *testing.T, text string) {
		placed(t, Input{Kinds: kinds, Hooks: []Hook{{Source: Source{Path: "hooks/a.sh", Text: []byte(text)}}},
			Library: []Source{{"hooks/lib/walk.sh", []byte("kubectl get cm \"$1\"\n/hooks/lib/walk.sh \"${1}x\"\n")}}})
	})
}

// placed fails the test if the place of a finding or origin does not exist, or if a rule
// contains a placeholder.
func placed(t *testing.T, in Input) {
	t.Helper()
	r := derive(t, in)
	length := map[string]int{}
	literal := false // of what stands for the unknown
	for _, s := range append([]Source{in.Hooks[0].Source}, in.Library...) {
		length[s.Path] = bytes.Count(s.Text, []byte("\n")) + 1
		literal = literal || !standsForItself(string(s.Text))
	}
	for _, f := range r.Findings {
		if n, known := length[f.File]; !known || f.Line > n {
			t.Errorf("a finding at %s:%d: %s", f.File, f.Line, f.Message)
		}
	}
	for _, role := range r.Roles {
		for _, rule := range role.Rules {
			for _, o := range rule.Origins {
				if n, known := length[o.File]; !known || o.Line > n {
					t.Errorf("a reason at %s:%d: %s", o.File, o.Line, o.Why)
				}
			}
			if names := strings.Join(append(rule.ResourceNames, role.Namespace), " "); !literal && !standsForItself(names) {
				t.Errorf("a rule for %q", names)
			}
		}
	}
}

// standsForItself reports whether a text contains no placeholders.
func standsForItself(text string) bool { return isKnown(text) }
