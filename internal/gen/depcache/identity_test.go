package depcache

import (
	"os"
	"path/filepath"
	"testing"
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
		id, ok := NewIdentities(goRoot, modCache).Of(p)
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
	writeFile(t, filepath.Join(goRoot, "VERSION"), "go1.26.9\n")
	distinct("in another release", of(usual))
	writeFile(t, ziphash, "h1:def")
	distinct("in another module of that version", of(inModule))

	for name, change := range map[string]func(*Package){
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
