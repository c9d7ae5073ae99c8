package controllertools

import (
	"runtime/debug"
	"testing"

	"github.com/operon-dev/operon/internal/pins"
)

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
		from, to, only := DifferOnlyInVersion([]byte(tc.a), []byte(tc.b))
		if only != (tc.from != "") || only && (from != tc.from || to != "v0.23.0") {
			t.Errorf("%q, %q: %s -> %s, %t", tc.a, tc.b, from, to, only)
		}
	}
}

func TestToolsVersion(t *testing.T) {
	t.Parallel()
	dep := func(v string, replace *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Deps: []*debug.Module{{Path: Module, Version: v, Replace: replace}}}
	}
	tests := []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, pins.ControllerTools},
		{&debug.BuildInfo{}, pins.ControllerTools},
		{dep("v0.99.0", nil), "v0.99.0"},
		{dep("v0.99.0", &debug.Module{Path: "example.com/fork", Version: "v0.99.1-fork"}), "v0.99.1-fork"},
		{dep("v0.99.0", &debug.Module{Path: "../controller-tools"}), "(devel)"},
	}
	for _, tt := range tests {
		if got := versionIn(tt.info); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.info, got, tt.want)
		}
	}
	if got := Version(); got != pins.ControllerTools {
		t.Errorf("this binary has %s, the pin is %s", got, pins.ControllerTools)
	}
}
