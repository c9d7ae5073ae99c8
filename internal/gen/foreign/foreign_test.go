package foreign

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	const version = "metadata:\n  annotations:\n    controller-gen.kubebuilder.io/version: "
	tests := map[string]struct{ disk, output, want string }{
		"equal":              {"a\n", "a\n", ""},
		"a notice":           {"# mine\na\nb\n", "a\nb\n", `f.yaml:1: 1 line that operon did not write: "# mine"`},
		"in the middle":      {"a\n\nmine\nb\n", "a\nb\n", `f.yaml:3: 2 lines that operon did not write: "mine"`},
		"without lines":      {"a\nd\n", "a\nb\nc\nd\n", `f.yaml:2: 2 lines are missing: "b"`},
		"without the end":    {"a\n", "a\nb\n", `f.yaml:2: 1 line is missing: "b"`},
		"another line":       {"a\nx\n", "a\nb\n", `f.yaml:2: 1 line that operon did not write: "x"`},
		"another version":    {version + "v0.14.0\na: b\n", version + "v0.20.0\na: b\n", ""},
		"version and notice": {version + "v0.14.0\na: b\nc: d\n", version + "v0.20.0\na: b\n", `f.yaml:5: 1 line that operon did not write: "c: d"`},
		"nothing generated":  {"a\n", "", `f.yaml:1: 1 line that operon did not write: "a"`},
	}
	for name, tt := range tests {
		f, differs := Compare("f.yaml", []byte(tt.disk), []byte(tt.output))
		got := ""
		if differs {
			got = f.String()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestExplainedByVersion(t *testing.T) {
	t.Parallel()
	const crd = "---\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    controller-gen.kubebuilder.io/version: "
	tests := map[string]struct {
		disk, output string
		want         bool
	}{
		"descriptions":  {crd + "v0.15.0\nspec:\n  description: a\n", crd + "v0.23.0\nspec:\n  description: |-\n    a\n    b\n", true},
		"old fields":    {crd + "v0.4.0\n  creationTimestamp: null\nspec: {}\nstatus: {conditions: []}\n", crd + "v0.23.0\nspec: {}\n", true},
		"new default":   {crd + "v0.14.0\nspec: {type: string}\n", crd + "v0.23.0\nspec: {default: \"\", type: string}\n", true},
		"other default": {crd + "v0.14.0\nspec: {type: string}\n", crd + "v0.23.0\nspec: {default: a, type: string}\n", false},
		"shortened":     {crd + "v0.15.0\nspec: {}\n", crd + "v0.23.0\nspec:\n  description: a\n", false},
		"a comment":     {crd + "v0.15.0\n# mine\nspec:\n  description: a\n", crd + "v0.23.0\nspec:\n  description: b\n", false},
		"another type":  {crd + "v0.15.0\nspec: {type: string}\n", crd + "v0.23.0\nspec: {type: integer}\n", false},
		"grouped rules": {"kind: Role\nrules:\n- resources: [a]\n  verbs: [get]\n- resources: [b]\n  verbs: [get]\n",
			"---\nkind: Role\nrules:\n- resources: [a, b]\n  verbs: [get]\n", true},
		"another rule": {"kind: Role\nrules:\n- resources: [a]\n  verbs: [get]\n- resources: [b]\n  verbs: [get]\n",
			"kind: Role\nrules:\n- resources: [a]\n  verbs: [get]\n", false},
		"build constraints": {"//go:build x\n// +build x\n\npackage v1\n", "//go:build x\n\npackage v1\n", true},
		"a license":         {"// License\n//go:build x\n\npackage v1\n", "//go:build x\n\npackage v1\n", false},
	}
	for name, tt := range tests {
		if got := ExplainedByVersion([]byte(tt.disk), []byte(tt.output)); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestIsNewRole(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  labels:\n    app.kubernetes.io/managed-by: kustomize\n  name: manager-role\n"
	const example = "rules:\n- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [get, list, watch]\n"
	tests := map[string]struct {
		role string
		want bool
	}{
		"of kubebuilder":    {head + example, true},
		"of operon":         {"# Without permissions until a controller has markers.\n" + head + "rules: []\n", true},
		"generated":         {"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: manager-role\nrules: []\n", true},
		"with a rule":       {head + example + "- apiGroups: [\"\"]\n  resources: [secrets]\n  verbs: [get]\n", false},
		"with a comment":    {head + "# mine\nrules: []\n", false},
		"aggregated":        {head + "aggregationRule: {}\nrules: []\n", false},
		"without the label": {"kind: ClusterRole\nmetadata: {name: manager-role}\n" + example, false},
		"another kind":      {"kind: ConfigMap\n", false},
	}
	for name, tt := range tests {
		if got := IsNewRole([]byte(tt.role)); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	const (
		code  = "package v1\n\nfunc (A) A() {}\n\n// B is B.\n//\n// It is long.\nfunc (A) B() {}\n"
		short = "kind: Crd\nspec:\n  names: {kind: A}\n  versions:\n  - name: v1 # kept\n    schema: {}\n"
		long  = "kind: Crd\nspec:\n  names: {kind: A}\n  versions:\n  - name: v1\n    schema:\n      description: an A\n"
	)
	const role = "kind: ClusterRole\nmetadata:\n  name: manager-role\n"
	tests := map[string]struct{ name, base, disk, next, want string }{
		"lines":          {"zz.go", code, "// mine\n" + code, code + "\nfunc (A) C() {}\n", "// mine\n" + code + "\nfunc (A) C() {}\n"},
		"the same lines": {"zz.go", "a\n", "b\n", "c\n", "error: it has other lines where the command changes some"},
		"a file of its own": {"r.yaml", "", role + "rules:\n- verbs: [get] # mine\n", role + "rules:\n- verbs:\n  - list\n",
			role + "rules:\n- verbs: [get] # mine\n- verbs:\n  - list\n"},
		"an item that is there": {"r.yaml", "", role + "rules:\n- verbs: [list] # mine\n", role + "rules:\n- verbs:\n  - list\n",
			role + "rules:\n- verbs: [list] # mine\n"},
		"another object": {"r.yaml", "", role + "rules: []\n", "---\n" + strings.ReplaceAll(role, "manager", "other") + "rules: []\n",
			role + "rules: []\n---\n" + strings.ReplaceAll(role, "manager", "other") + "rules: []\n"},
		"an empty line after a license": {"r.yaml", "", "# Mine.\n\n---\n" + role + "rules: []\n", "---\n" + role + "rules:\n- verbs: [get]\n",
			"# Mine.\n\n---\n" + role + "rules:\n- verbs:\n  - get\n"},
		"a version of a CRD without descriptions": {"c.yaml", named(long), named(short), named(long) + "  - name: v2\n    schema:\n      description: an A\n",
			named(short) + "  - name: v2\n    schema:\n      description: an A\n"},
		"a rule that someone changed": {"r.yaml", role + "rules:\n- resources: [a]\n  verbs: [get, delete]\n",
			role + "rules:\n- resources: [a]\n  verbs: [get]\n", role + "rules:\n- resources: [a, b]\n  verbs: [get, delete]\n",
			role + "rules:\n- resources: [a]\n  verbs: [get]\n- resources:\n  - b\n  verbs:\n  - get\n  - delete\n"},
		"a function that someone wrote": {"zz.go", code, code + "\nfunc (A) C() {}\n", strings.Replace(code, "func (A) A() {}", "func (A) A() {}\n\nfunc (A) C() {}", 1),
			"error: it would declare A.C twice"},
		"not YAML": {"r.yaml", "", "a: [\n", role, "error: yaml: line 1: did not find expected node content"},
		"a removed object": {"r.yaml", role + "rules: []\n", "# nothing\n", role + "rules:\n- verbs:\n  - list\n",
			"error: the ClusterRole that the command changes is not in the file"},
		"a value that differs":   {"r.yaml", named("x: 1\n"), named("x: 2\n"), named("x: 3\n"), "error: x changes"},
		"names that are no text": {"r.yaml", "", "metadata: {name: {a: b}}\n", "metadata: {name: {a: c}}\n", "metadata: {name: {a: b}}\n---\nmetadata: {name: {a: c}}\n"},
		"another separator":      {"r.yaml", "", role + "--- # more\nkind: A\n", role + "rules: []\n", "error: a line that separates its objects has more than three dashes"},
	}
	for name, tt := range tests {
		var base []byte
		if tt.base != "" {
			base = []byte(tt.base)
		}
		merged, err := Merge(tt.name, base, []byte(tt.disk), []byte(tt.next))
		got := string(merged)
		if err != nil {
			_, why, _ := strings.Cut(err.Error(), "generates: ")
			got = "error: " + why
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func named(src string) string { return "metadata:\n  name: a\n" + src }
