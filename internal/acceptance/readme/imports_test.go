package readme

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gobwas/glob"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"go.yaml.in/yaml/v3"
)

const modulePath = "github.com/operon-dev/operon/"

// TestImports compares the arrows of docs/architecture.md, the rules of depguard and the imports in the
// sources. An import, or an import that a rule allows, must follow arrows of the page, and each arrow must
// be an import.
func TestImports(t *testing.T) {
	t.Parallel()
	arrows, rules := readArrows(t), readRules(t)
	unused := maps.Clone(arrows.direct)
	wrong := map[string]bool{} // a rule is wrong once for all packages of a folder
	for from, imported := range imports(t) {
		a := arrows.folder(t, from)
		for _, to := range imported {
			b := arrows.folder(t, to)
			delete(unused, [2]string{a, b})
			if !arrows.lead(a, b) {
				wrong[fmt.Sprintf("%s imports %s, but docs/architecture.md has no arrows from %s to %s", from, to, a, b)] = true
			}
			for name, r := range rules {
				if r.denies(from, to) {
					wrong[fmt.Sprintf("%s imports %s, which the rule %s in .golangci.yml denies", from, to, name)] = true
				}
			}
		}
		for name, r := range rules {
			for _, to := range r.allows(from) {
				if b := arrows.folder(t, to); !arrows.lead(a, b) {
					wrong[fmt.Sprintf("the rule %s in .golangci.yml lets %s import %s, but docs/architecture.md has no arrows from %s to %s", name, a, to, a, b)] = true
				}
			}
		}
	}
	for arrow := range unused {
		wrong[fmt.Sprintf("docs/architecture.md has the arrow %s → %s, but no such import exists", arrow[0], arrow[1])] = true
	}
	for _, message := range slices.Sorted(maps.Keys(wrong)) {
		t.Error(message)
	}
}

// arrows are the folders and the arrows in docs/architecture.md.
type arrows struct {
	direct map[[2]string]bool
	leaves []string // that every folder may import
}

// readArrows reads lines such as "a → b → c, d". The line "leaves: e, f" has folders without arrows.
func readArrows(t *testing.T) arrows {
	t.Helper()
	_, text, _ := strings.Cut(page(t, "docs/architecture.md"), "\nImports go in one direction")
	text, _, _ = strings.Cut(text, "\n## ")
	a := arrows{direct: map[[2]string]bool{}}
	for line := range strings.Lines(text) {
		if leaves, ok := strings.CutPrefix(line, "    leaves: "); ok {
			a.leaves = list(leaves)
		}
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		parts := strings.Split(line, " → ")
		for i := range parts[1:] {
			for _, from := range list(parts[i]) {
				for _, to := range list(parts[i+1]) {
					a.direct[[2]string{from, to}] = true
				}
			}
		}
	}
	if len(a.direct) == 0 || len(a.leaves) == 0 {
		t.Fatal("docs/architecture.md has no arrows or no leaves")
	}
	return a
}

func list(text string) []string { return strings.Split(strings.TrimSpace(text), ", ") }

// folder returns the name that the page has for the folder of a package: the longest one that matches.
func (a arrows) folder(t *testing.T, pkg string) string {
	t.Helper()
	names := slices.Clone(a.leaves)
	for arrow := range a.direct {
		names = append(names, arrow[:]...)
	}
	for name := strings.TrimPrefix(pkg, "internal/"); name != "."; name = path.Dir(name) {
		for _, pattern := range names {
			if ok, _ := path.Match(pattern, name); ok {
				return pattern
			}
		}
	}
	t.Fatalf("docs/architecture.md does not say what %s may import", pkg)
	return ""
}

// lead reports whether arrows lead from one folder to another. They lead from every folder to the leaves.
func (a arrows) lead(from, to string) bool {
	if from == to || slices.Contains(a.leaves, to) && !slices.Contains(a.leaves, from) {
		return true
	}
	for arrow := range a.direct {
		if arrow[0] == from && a.lead(arrow[1], to) {
			return true
		}
	}
	return false
}

// imports returns what the packages of operon import of each other. Programs for tests do not count.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, top := range []string{"cmd", "internal", "plugins", "templates"} {
		err := filepath.WalkDir(repository.Path(top), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{"testdata", "testkit", "bench"}, d.Name()):
				return fs.SkipDir
			case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			rel, err := filepath.Rel(repository.Path(), filepath.Dir(name))
			if err != nil {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			pkg := filepath.ToSlash(rel)
			for _, spec := range file.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				if to, ours := strings.CutPrefix(imported, modulePath); ours && !slices.Contains(all[pkg], to) {
					all[pkg] = append(all[pkg], to)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// rule is a rule of depguard, which decides by the longest prefix of the imported path.
type rule struct {
	Files []string
	Mode  string `yaml:"list-mode"`
	Allow []string
	Deny  []struct{ Pkg string }
}

func readRules(t *testing.T) map[string]rule {
	t.Helper()
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct{ Rules map[string]rule }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(page(t, ".golangci.yml")), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Linters.Settings.Depguard.Rules) == 0 {
		t.Fatal(".golangci.yml has no rules of depguard")
	}
	return config.Linters.Settings.Depguard.Rules
}

// covers reports whether a rule is about the sources of a package. depguard matches absolute paths.
func (r rule) covers(pkg string) bool {
	file := fmt.Sprintf("/operon/%s/file.go", pkg)
	covered := len(r.Files) == 0
	for _, pattern := range r.Files {
		pattern, not := strings.CutPrefix(pattern, "!")
		if pattern == "$test" || !glob.MustCompile(pattern, '/').Match(file) {
			continue
		}
		if not {
			return false
		}
		covered = true
	}
	return covered
}

// allows returns the packages of operon that a rule lets a package import.
func (r rule) allows(from string) (all []string) {
	for _, allowed := range r.Allow {
		if to, ours := strings.CutPrefix(strings.TrimSuffix(allowed, "$"), modulePath); ours && r.covers(from) {
			all = append(all, to)
		}
	}
	return all
}

func (r rule) denies(from, to string) bool {
	if !r.covers(from) {
		return false
	}
	denied := -1
	if r.Mode == "strict" {
		denied = 0
	}
	for _, d := range r.Deny {
		denied = max(denied, prefix(d.Pkg, modulePath+to))
	}
	allowed := -1
	for _, path := range r.Allow {
		allowed = max(allowed, prefix(path, modulePath+to))
	}
	return denied > allowed
}

// prefix returns the length of a prefix of a path, or -1. "$" ends a whole path.
func prefix(prefix, path string) int {
	whole, exact := strings.CutSuffix(prefix, "$")
	if path == whole || !exact && strings.HasPrefix(path, whole) {
		return len(whole)
	}
	return -1
}
