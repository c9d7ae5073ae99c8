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
		"descriptions": {crd + "v0.15.0\nspec:\n  description: a\n", crd + "v0.23.0\nspec:\n  description: |-\n    a\n    b\n", true},
		"old fields":   {crd + "v0.4.0\n  creationTimestamp: null\nspec: {}\nstatus: {conditions: []}\n", crd + "v0.23.0\nspec: {}\n", true},
		"shortened":    {crd + "v0.15.0\nspec: {}\n", crd + "v0.23.0\nspec:\n  description: a\n", false},
		"a comment":    {crd + "v0.15.0\n# mine\nspec:\n  description: a\n", crd + "v0.23.0\nspec:\n  description: b\n", false},
		"another type": {crd + "v0.15.0\nspec: {type: string}\n", crd + "v0.23.0\nspec: {type: integer}\n", false},
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

func TestMerge(t *testing.T) {
	t.Parallel()
	const (
		short = "kind: Crd\nspec:\n  names: {kind: A}\n  versions:\n  - name: v1 # kept\n    schema: {}\n"
		long  = "kind: Crd\nspec:\n  names: {kind: A}\n  versions:\n  - name: v1\n    schema:\n      description: an A\n"
	)
	const role = "kind: ClusterRole\nmetadata:\n  name: manager-role\n"
	tests := map[string]struct{ name, base, disk, next, want string }{
		"lines":          {"zz.go", "a\nb\nc\nd\ne\n", "# mine\na\nb\nc\nd\ne\n", "a\nb\nc\nd\ne\nf\n", "# mine\na\nb\nc\nd\ne\nf\n"},
		"the same lines": {"zz.go", "a\n", "b\n", "c\n", "error: the command changes lines that someone else changed"},
		"a file of its own": {"r.yaml", "", role + "rules:\n- verbs: [get] # mine\n", role + "rules:\n- verbs:\n  - list\n",
			role + "rules:\n- verbs: [get] # mine\n- verbs:\n  - list\n"},
		"an item that is there": {"r.yaml", "", role + "rules:\n- verbs: [list] # mine\n", role + "rules:\n- verbs:\n  - list\n",
			role + "rules:\n- verbs: [list] # mine\n"},
		"another object": {"r.yaml", "", role + "rules: []\n", "---\n" + strings.ReplaceAll(role, "manager", "other") + "rules: []\n",
			role + "rules: []\n---\n" + strings.ReplaceAll(role, "manager", "other") + "rules: []\n"},
		"a version of a CRD without descriptions": {"c.yaml", named(long), named(short), named(long) + "  - name: v2\n    schema:\n      description: an A\n",
			named(short) + "  - name: v2\n    schema:\n      description: an A\n"},
		"a changed rule": {"r.yaml", role + "rules:\n- verbs: [a]\n", role + "rules:\n- verbs: [mine]\n- verbs: [a]\n", role + "rules:\n- verbs: [a, b]\n",
			role + "rules:\n- verbs: [mine]\n- verbs:\n  - a\n  - b\n"},
		"not YAML":             {"r.yaml", "", "a: [\n", role, "error: yaml: line 1: did not find expected node content"},
		"a removed object":     {"r.yaml", role + "rules: []\n", "# nothing\n", role + "rules:\n- verbs:\n  - list\n", "# nothing\n"},
		"a value that differs": {"r.yaml", role + "x: 1\n", strings.ReplaceAll(role, "manager-role\n", "manager-role # mine\n") + "x: 2\n", role + "x: 3\n", "error: x changes"},
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
