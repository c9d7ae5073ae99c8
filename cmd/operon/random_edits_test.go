package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRandomEdits edits a project at random, and sees after each edit that what
// operon keeps between runs changes neither what it would write, nor what it says.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	const seed = 6
	p := &editedProject{T: t, Rand: rand.New(rand.NewPCG(seed, 1)), dir: filepath.Join(t.TempDir(), "fleet")}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	operon(t, p.dir, "init", "--domain", "example.org", "--repo", "example.org/fleet")
	operon(t, p.dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate")
	operon(t, p.dir, "create", "webhook", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--defaulting")
	operon(t, p.dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Sloop", "--controller=false")
	for step := range 12 {
		what := p.edit()
		t.Logf("%d: %s", step, what)
		want := p.says("generate", "--dry-run", "--diff", "--no-cache")
		for range 2 {
			if diff := cmp.Diff(want, p.says("generate", "--dry-run", "--diff")); diff != "" {
				t.Fatalf("step %d, %s (-without +with a cache):\n%s", step, what, diff)
			}
		}
		p.says("generate")
		if p.IntN(2) == 0 { // else the next edit meets what was kept before
			time.Sleep(settle)
			p.says("generate", "--dry-run", "--diff")
		}
	}
}

// editedProject is a project that somebody edits.
type editedProject struct {
	*testing.T
	*rand.Rand
	dir   string
	count int    // of edits
	order []int  // in which they are made
	mend  func() // takes a mistake back
}

// says runs operon and returns what it says, and how it ends.
func (p *editedProject) says(args ...string) string {
	p.Helper()
	var out, errs strings.Builder
	cmd := exec.Command("operon", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &out, &errs
	cmd.Env = append(environment(), uncollected)
	_ = cmd.Run()
	return fmt.Sprintf("%d\n%s%s", cmd.ProcessState.ExitCode(), &out, &errs)
}

const (
	frigate = "api/v1/frigate_types.go"
	extra   = "internal/controller/extra.go"
	crds    = "config/crd/bases/ship.example.org_frigates.yaml"
)

// edit makes one edit and returns its name.
func (p *editedProject) edit() string {
	if p.mend != nil {
		p.mend()
		p.mend = nil
		return "mended"
	}
	p.count++
	edits := []struct {
		name string
		make func()
	}{
		{"field", func() {
			p.replace(frigate, "type FrigateSpec struct {\n", fmt.Sprintf("type FrigateSpec struct {\n\t// Extra is one more.\n\tExtra%[1]d *string `json:\"extra%[1]d,omitempty\"`\n\n", p.count))
		}},
		{"type that another uses", func() {
			p.write("api/v1/shared.go", fmt.Sprintf("package v1\n\n// Shared is number %d.\ntype Shared struct {\n\t// +optional\n\tValue%[1]d []string `json:\"value,omitempty\"`\n}\n", p.count))
			if !strings.Contains(p.read(frigate), "*Shared") {
				p.replace(frigate, "type FrigateSpec struct {\n", "type FrigateSpec struct {\n\tShared *Shared `json:\"shared,omitempty\"`\n\n")
			}
		}},
		{"same size, time set back", func() {
			info, err := os.Stat(p.path(frigate))
			if err != nil {
				p.Fatal(err)
			}
			text := []byte(p.read(frigate))
			at := strings.Index(string(text), "Frigate is the") + len("Frigate is th")
			text[at] = byte('a' + p.count%26)
			p.write(frigate, string(text))
			if err := os.Chtimes(p.path(frigate), info.ModTime(), info.ModTime()); err != nil {
				p.Fatal(err)
			}
		}},
		{"marker", func() {
			p.write(extra, fmt.Sprintf("package controller\n\n// +kubebuilder:rbac:groups=apps,resources=things%d,verbs=get\n\nvar _ = 0\n", p.count))
		}},
		{"marker with a warning", func() {
			p.write(extra, "package controller\n\n// +kubebuilder:rbac:groups=apps/v1,resources=statefulsets,verbs=get\n\nvar _ = 0\n")
		}},
		{"build tag", func() { p.write(extra, "//go:build never\n\npackage controller\n") }},
		{"file removed", func() { p.remove(extra) }},
		{"new package", func() { p.write(fmt.Sprintf("pkg/p%d/p.go", p.count), "package p\n") }},
		{"package of nothing", func() { p.write("pkg/none/none.go", "//go:build never\n\npackage none\n") }},
		{"output edited", func() { p.write(crds, p.read(crds)+"# By hand.\n") }},
		{"output removed", func() { p.remove(crds) }},
		{"role removed", func() { p.remove("config/rbac/role.yaml") }},
		{"header", func() { p.write("hack/boilerplate.go.txt", fmt.Sprintf("// Header %d.\n", p.count)) }},
		{"PROJECT", func() { p.write("PROJECT", p.read("PROJECT")+"# More.\n") }},
		{"go.mod", func() { p.write("go.mod", p.read("go.mod")+"// More.\n") }},
		{"kustomization", func() { p.write("config/crd/kustomization.yaml", "resources: []\n") }},
		{"record removed", func() { p.remove(".operon/generated.json") }},
		{"nothing", func() {}},
		{"syntax error", func() { p.mistake("api/v1/broken.go", "package v1\n\ntype Broken struct {\n") }},
		{"type error", func() { p.mistake("api/v1/broken.go", "package v1\n\ntype Broken struct{ Field Unknown }\n") }},
		{"other module", func() { p.mistake("nested/go.mod", "module example.org/nested\n") }},
		{"import of nothing", func() { p.mistake("api/v1/broken.go", "package v1\n\nimport _ \"example.org/nothing\"\n") }},
	}
	if p.order == nil {
		p.order = p.Perm(len(edits))
	}
	e := edits[p.order[p.count%len(edits)]]
	e.make()
	return e.name
}

func (p *editedProject) path(name string) string {
	return filepath.Join(p.dir, filepath.FromSlash(name))
}

// read returns a file, or nothing when there is none.
func (p *editedProject) read(name string) string {
	text, _ := os.ReadFile(p.path(name))
	return string(text)
}

func (p *editedProject) write(name, text string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

func (p *editedProject) remove(name string) { _ = os.Remove(p.path(name)) }

func (p *editedProject) replace(name, old, next string) {
	p.Helper()
	text := p.read(name)
	if !strings.Contains(text, old) {
		p.Fatalf("%s has no %q", name, old)
	}
	p.write(name, strings.Replace(text, old, next, 1))
}

func (p *editedProject) mistake(name, text string) {
	p.write(name, text)
	p.mend = func() { p.remove(name) }
}
