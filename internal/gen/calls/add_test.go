package calls_test

import (
	"testing"

	"github.com/operon-dev/operon/internal/gen/calls"
)

// makefile has a rule with these lines in its recipe.
func makefile(recipe string) string { return "CONTROLLER_GEN = bin/controller-gen\nall:\n" + recipe }

func TestAddPath(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ recipe, want string }{ // no want: the calls have no place
		"after the last": {"\tcontroller-gen \\\n\t\tpaths=./api/... \\\n\t\tpaths=./b/... \\\n\t\tcrd\n", "\tcontroller-gen \\\n\t\tpaths=./api/... \\\n\t\tpaths=./b/... \\\n\t\tpaths=./new/... \\\n\t\tcrd\n"},
		"CRLF":           {"\tcontroller-gen \\\r\n  paths=./api/... \\\r\n  crd\r\n", "\tcontroller-gen \\\r\n  paths=./api/... \\\r\n  paths=./new/... \\\r\n  crd\r\n"},
		"last line":      {"\tcontroller-gen \\\n  crd \\\n  paths=./api/...\n", ""},
		"one line":       {"\tcontroller-gen crd paths=./api/...\n", ""},
		"another call":   {"\tcontroller-gen crd paths=./api/...\n\tcontroller-gen \\\n paths=./api/... \\\n object\n", ""},
		"several a line": {"\tcontroller-gen \\\n paths=./a paths=./b \\\n crd\n", ""},
		"done":           {"\tcontroller-gen paths=./new/... crd\n", "\tcontroller-gen paths=./new/... crd\n"},
		"repeated": {"\tcontroller-gen \\\n\t\tpaths=./a \\\n\t\tcrd\n\techo\n\tcontroller-gen \\\n\t\tpaths=./a \\\n\t\tcrd\n",
			"\tcontroller-gen \\\n\t\tpaths=./a \\\n\t\tpaths=./new/... \\\n\t\tcrd\n\techo\n\tcontroller-gen \\\n\t\tpaths=./a \\\n\t\tpaths=./new/... \\\n\t\tcrd\n"},
	} {
		checkAdd(t, name, tc.recipe, tc.want, func(p calls.Project, src []byte) ([]byte, bool) {
			return calls.AddPath(p, "Makefile", src, "crd", "./new/...")
		})
	}
}

func TestAddGenerator(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ recipe, want string }{
		"before the paths": {"\t\"$(CONTROLLER_GEN)\" rbac:roleName=r crd webhook paths=\"./...\" output:dir=x\n", "\t\"$(CONTROLLER_GEN)\" rbac:roleName=r crd webhook new:a=b paths=\"./...\" output:dir=x\n"},
		"options":          {"\tcontroller-gen crd:maxDescLen=0 paths=./a\r\n", "\tcontroller-gen crd:maxDescLen=0 new:a=b paths=./a\r\n"},
		"after the paths":  {"\tcontroller-gen paths=./a crd\n", "\tcontroller-gen paths=./a crd new:a=b\n"},
		"quotes":           {"\tcontroller-gen 'crd:maxDescLen=0' paths=./a && true\n", "\tcontroller-gen 'crd:maxDescLen=0' new:a=b paths=./a && true\n"},
		"a line for each":  {"\tcontroller-gen \\\n\t\tpaths=./a \\\n\t\tcrd \\\n\t\toutput:dir=x\n", "\tcontroller-gen \\\n\t\tpaths=./a \\\n\t\tcrd \\\n\t\tnew:a=b \\\n\t\toutput:dir=x\n"},
		"the last line":    {"\tcontroller-gen \\\n\t\tpaths=./a \\\n\t\tcrd\n", "\tcontroller-gen \\\n\t\tpaths=./a \\\n\t\tcrd new:a=b\n"},
		"some lines":       {"\tcontroller-gen rbac:roleName=x crd \\\n\t\tpaths=./a\n", "\tcontroller-gen rbac:roleName=x crd new:a=b \\\n\t\tpaths=./a\n"},
		"another call":     {"\tcontroller-gen object paths=./crd\n", ""},
		"two in a line":    {"\tcontroller-gen crd paths=./a && controller-gen crd paths=./b\n", ""},
		"a variable":       {"\tcontroller-gen $(OPTIONS) paths=./a\nOPTIONS = crd\n", ""},
		"an expression":    {"\tcontroller-gen paths=./a crd:maxDescLen=$(shell echo 3)\n", ""},
		"done":             {"\tcontroller-gen crd new paths=./a\n", "\tcontroller-gen crd new paths=./a\n"},
	} {
		checkAdd(t, name, tc.recipe, tc.want, func(p calls.Project, src []byte) ([]byte, bool) {
			return calls.AddGenerator(p, "Makefile", src, "crd", "new:a=b")
		})
	}
}

// checkAdd expects the same edit in the project's file and in a version with further lines.
func checkAdd(t *testing.T, name, recipe, want string, add func(calls.Project, []byte) ([]byte, bool)) {
	t.Helper()
	before := makefile(recipe)
	for _, above := range []string{"", "# one\n\n# two\n"} {
		wantText := above + makefile(want)
		if want == "" {
			wantText = above + before
		}
		if next, ok := add(files{"Makefile": before}, []byte(above+before)); ok != (want != "") || string(next) != wantText {
			t.Errorf("%s: %t\n%s", name, ok, next)
		}
	}
}
