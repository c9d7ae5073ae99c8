package goenv

import "testing"

func TestSource(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a.go": true, "a_test.go": true, "asm_amd64.s": true, "a.S": true, "a.swigcxx": true, "a.f90": true,
		"_a.go": false, ".a.go": false, "a.go~": false, "a.md": false, "go.mod": false, "ago": false, "": false,
	} {
		if Source(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestVariable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"GOFLAGS": true, "GOENV": true, "CGO_ENABLED": true, "CC": true, "PATH": true, "Path": true, "HOME": true, "XDG_CONFIG_HOME": true,
		"OPERON_CACHE": false, "TERM": false, "SHLVL": false, "XDG_SESSION_ID": false, "": false,
	} {
		if Variable(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestBuilds(t *testing.T) {
	for src, want := range map[string]bool{
		"package x":                                  true,
		"//go:build linux && !x\n\npackage x":        true,
		"//go:build go1.20 && cgo\n\npackage x":      true,
		"// License.\n\n//go:build e2e\n\npackage x": false,
		"// +build e2e\n\npackage x":                 false,
		"//go:build ignore\n\npackage main":          false,
		"package x\n\n//go:build e2e\n":              true,
		"pakage":                                     true,
	} {
		if got := Builds("test/x_test.go", []byte(src)); got != want {
			t.Errorf("%q: %t", src, got)
		}
	}
	if Builds("x_windows.go", []byte("package x")) {
		t.Error("a file for Windows")
	}
}
