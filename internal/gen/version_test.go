package gen

import "testing"

func TestOnlyVersion(t *testing.T) {
	t.Parallel()
	crd := func(version, name string) string {
		return "metadata:\n  annotations:\n    controller-gen.kubebuilder.io/version: " + version + "\n  name: " + name + "\n"
	}
	for _, tc := range []struct {
		a, b string
		from string // empty: more differs, or nothing
	}{
		{crd("v0.22.0", "a"), crd("v0.23.0", "a"), "v0.22.0"},
		{crd("(devel)", "a"), crd("v0.23.0", "a"), "(devel)"},
		{crd("v0.23.0", "a"), crd("v0.23.0", "a"), ""},
		{crd("v0.22.0", "b"), crd("v0.23.0", "a"), ""},
		{"# x\n" + crd("v0.22.0", "a"), crd("v0.23.0", "a"), ""},
		{"metadata:\n  name: a\n", crd("v0.23.0", "a"), ""},
		{crd("v0.22.0", "a"), "", ""},
		{"metadata:\n  name: a\n", "metadata:\n  name: b\n", ""},
	} {
		from, to, only := OnlyVersion([]byte(tc.a), []byte(tc.b))
		if only != (tc.from != "") || only && (from != tc.from || to != "v0.23.0") {
			t.Errorf("%q, %q: %s -> %s, %t", tc.a, tc.b, from, to, only)
		}
	}
}
