package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBareProject checks a project without any kind.
func TestBareProject(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fleet")
	makeDir(t, dir)
	operon(t, dir, "init", "--domain", "example.org", "--repo", "example.org/fleet")
	checkProject(t, dir)
}

// TestAnyOrder creates three kinds in every order: each tree vets, which
// compiles its tests too, and holds the same files.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	kinds := [][]string{
		{"--kind", "Frigate"},
		{"--kind", "Type", "--namespaced=false"},
		{"--kind", "Person", "--controller=false"},
	}
	var first []string
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		dir := filepath.Join(t.TempDir(), "fleet")
		makeDir(t, dir)
		operon(t, dir, "init", "--domain", "example.org", "--repo", "example.org/fleet")
		for _, i := range order {
			args := append([]string{"create", "api", "--group", "ship", "--version", "v1", "--make=false"}, kinds[i]...)
			operon(t, dir, args...)
			if out := operon(t, dir, args...); out != "nothing to do\n" {
				t.Errorf("order %v: a repeat of %v:\n%s", order, kinds[i], out)
			}
		}
		operon(t, dir, "generate")
		goPasses(t, dir, "vet", "./...")
		var files []string
		for name := range readTree(t, dir) {
			files = append(files, name)
		}
		slices.Sort(files)
		if first == nil {
			first = files
		}
		if !slices.Equal(first, files) {
			t.Errorf("order %v makes other files:\n%s", order, strings.Join(files, "\n"))
		}
	}
}
