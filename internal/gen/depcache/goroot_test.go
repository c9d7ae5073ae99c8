package depcache

import (
	"path/filepath"
	"testing"
)

// TestPrebuiltSum checks that the checksums are used only for files of the same sizes.
func TestPrebuiltSum(t *testing.T) {
	t.Parallel()
	version := prebuiltRelease().Version
	if version == "" || len(prebuiltRelease().Packages) < 50 {
		t.Fatal("goroot.json lacks packages")
	}
	goRoot := t.TempDir()
	writeFile(t, filepath.Join(goRoot, "VERSION"), version)
	source := filepath.Join(goRoot, "src", "io", "io.go")
	writeFile(t, source, "package io\n")
	p := Package{Path: "io", Dir: filepath.Dir(source), Files: []string{"io.go"}}
	prebuiltRelease().Packages["io|io.go|"] = described{Size: 11, Sum: prebuiltRelease().Packages["context|context.go|"].Sum}
	of := func(prebuilt bool) Identity {
		ids := NewIdentities(goRoot, t.TempDir(), nil)
		ids.Prebuilt = prebuilt
		id, _ := ids.Of(p)
		return id
	}
	read := of(false)
	if of(true) == read {
		t.Error("the prebuilt checksum is not used")
	}
	writeFile(t, source, "package io2\n")
	if of(true) != of(false) {
		t.Error("the prebuilt checksum is used for a file of another size")
	}
	writeFile(t, source, "package io\n")
	writeFile(t, filepath.Join(goRoot, "VERSION"), version+"x")
	if of(true) != read {
		t.Error("the prebuilt checksum is used for another release")
	}
}
