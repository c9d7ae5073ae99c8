package depcache

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/gen/store"
)

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestIdentities changes one property of a package at a time.
func TestIdentities(t *testing.T) {
	t.Parallel()
	goRoot, modCache := t.TempDir(), t.TempDir()
	ziphash := filepath.Join(modCache, "cache", "download", "example.com", "!m", "@v", "v1.0.0.ziphash")
	writeFile(t, filepath.Join(goRoot, "VERSION"), "go1.26.8\n")
	source := filepath.Join(goRoot, "src", "time", "time.go")
	writeFile(t, source, "package time\n")
	writeFile(t, ziphash, "h1:abc")
	of := func(change func(*Package)) Identity {
		t.Helper()
		p := Package{Path: "time", Dir: filepath.Dir(source), Files: []string{"time.go"}, Imports: map[string]Imported{"io": {"io", "io"}}}
		change(&p)
		id, ok := NewIdentities(goRoot, modCache, nil).Of(p)
		if !ok {
			return Identity{}
		}
		return id
	}
	usual := func(*Package) {}
	inModule := func(p *Package) { p.Dir = filepath.Join(modCache, "example.com", "!m@v1.0.0", "time") }

	seen := map[Identity]string{}
	distinct := func(name string, id Identity) {
		t.Helper()
		if other, ok := seen[id]; ok {
			t.Errorf("%s has the identity of %s", name, other)
		}
		seen[id] = name
	}
	seen[Identity{}] = "none"
	distinct("usual", of(usual))
	distinct("another path", of(func(p *Package) { p.Path = "vendor/time" }))
	distinct("an import of another name", of(func(p *Package) { p.Imports["io"] = Imported{"io", "in"} }))
	distinct("an import of another package", of(func(p *Package) { p.Imports["io"] = Imported{"vendor/io", "io"} }))
	distinct("another import", of(func(p *Package) { p.Imports["os"] = Imported{"os", "os"} }))
	distinct("translated by cgo", of(func(p *Package) { p.Files, p.Other = nil, p.Files }))
	distinct("in a module", of(inModule))
	distinct("elsewhere in a module", of(func(p *Package) { inModule(p); p.Dir = filepath.Dir(p.Dir) }))
	writeFile(t, source, "package time // changed\n")
	distinct("changed", of(usual))
	writeFile(t, ziphash, "h1:def")
	distinct("in another module of that version", of(inModule))

	for name, change := range map[string]func(*Package){
		"missing file":       func(p *Package) { p.Files = []string{"gone.go"} },
		"elsewhere":          func(p *Package) { p.Dir = t.TempDir() },
		"module without sum": func(p *Package) { p.Dir = filepath.Join(modCache, "example.com", "n@v1.0.0") },
		"outside a module":   func(p *Package) { p.Dir = filepath.Join(modCache, "cache") },
		"outside Go's src":   func(p *Package) { p.Dir = filepath.Join(goRoot, "test") },
	} {
		if of(change) != (Identity{}) {
			t.Errorf("%s has an identity", name)
		}
	}
}

// TestSums checks that the files of a Go release are read only once.
func TestSums(t *testing.T) {
	t.Parallel()
	goRoot, s := t.TempDir(), store.Open(t.TempDir())
	version, source := filepath.Join(goRoot, "VERSION"), filepath.Join(goRoot, "src", "time", "time.go")
	p := Package{Path: "time", Dir: filepath.Dir(source), Files: []string{"time.go"}}
	identity := func() Identity {
		i := NewIdentities(goRoot, "", s)
		id, _ := i.Of(p)
		i.Save()
		return id
	}
	writeFile(t, source, "package time\n")
	if identity() != (Identity{}) {
		t.Error("a package without a release has an identity")
	}
	writeFile(t, version, "go1.26.8\n")
	first := identity()
	if first == (Identity{}) {
		t.Fatal("the package has no identity")
	}
	writeFile(t, source, "package time // changed\n")
	if identity() != first {
		t.Error("read the files of a release twice")
	}
	writeFile(t, version, "go1.26.9\n")
	if identity() == first {
		t.Error("used the files of another release")
	}
}
