package scaffold

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

func TestState(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	apply(t, fsys, Options{Command: "operon init --domain x.y"}, func(p *Plan) {
		must(t, p.Generate("rbac", "config/role.yaml", []byte("role\n")))
		must(t, p.Generate("crd", "config/<x>.yaml", []byte("crd\n")))
		must(t, p.Share("shared", 0, []byte("s")))
		seed(t, p, "cmd/main.go", main1)
		must(t, p.Edit("cmd/main.go", appendLine("one")))
	})
	state := snapshot(t, root)
	main2 := strings.Replace(main1, "// here", "one\n// here", 1)
	line, err := appendBase(nil, "cmd/main.go", []byte(main2))
	must(t, err)
	packed := line[0][strings.LastIndexByte(line[0], '\t')+1:]
	want := map[string]string{
		".operon/.gitignore":     "# Files that operon uses only on this machine.\nlock\njournal/\n",
		".operon/.gitattributes": housekeeping()[".operon/.gitattributes"],
		".operon/base.lines": `# The files of this project as operon created them, to merge later changes with yours.
# Each file is one line; the lines around it separate the changes of git branches.
# begin cmd/main.go
cmd/main.go	` + hash([]byte(main2)) + "\t" + packed + `
# end cmd/main.go
`,
		".operon/generated.json": `{
  "version": 2,
  "files": {
    "config/<x>.yaml": {
      "generator": "crd",
      "sha256": "` + hash([]byte("crd\n")) + `"
    },
    "config/role.yaml": {
      "generator": "rbac",
      "sha256": "` + hash([]byte("role\n")) + `"
    }
  }
}
`,
	}
	got := map[string]string{}
	for name, n := range state {
		if strings.HasPrefix(name, stateDir) && !strings.HasPrefix(name, journalDir) && n.Mode.IsRegular() {
			got[name] = n.Content
		}
	}
	same(t, "state", want, got)
	names := []string{}
	for name := range state {
		if strings.HasPrefix(name, journalDir) {
			names = append(names, name)
		}
		if strings.HasPrefix(name, stateDir) && strings.HasSuffix(name, ".go") {
			t.Errorf("%s is a Go file", name)
		}
	}
	slices.Sort(names)
	same(t, "journal", []string{".operon/journal", ".operon/journal/000001", ".operon/journal/000001/plan.json"}, names)
	if s := state[".operon/journal/000001/plan.json"].Content; !strings.Contains(s, `"command": "operon init --domain x.y"`) {
		t.Errorf("the journal does not name the command: %s", s)
	}
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) {
		for _, name := range []string{"d", "c", "b", "a", "e"} {
			must(t, p.Generate("g-"+name, name, []byte(name)))
		}
	})
	write(t, root, "b", "mine")
	must(t, os.Remove(filepath.Join(root, "c")))
	var got []Recorded
	intact := map[string]bool{}
	apply(t, fsys, Options{}, func(p *Plan) {
		got = p.Recorded()
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			intact[name] = p.Unchanged(name)
		}
		must(t, p.Remove("a"))
		must(t, p.Remove("c"))
		seed(t, p, "d", "d") // now another class
		must(t, p.Edit("e", func([]byte) ([]byte, error) { return []byte("e2"), nil }))
	})
	rec := func(name, content string) Recorded { return Recorded{name, "g-" + name, hash([]byte(content))} }
	same(t, "recorded", []Recorded{rec("a", "a"), rec("b", "b"), rec("c", "c"), rec("d", "d"), rec("e", "e")}, got)
	same(t, "intact", map[string]bool{"a": true, "b": false, "c": false, "d": true, "e": true, "f": false}, intact)
	same(t, "afterwards", []Recorded{rec("b", "b"), rec("e", "e2")}, newPlan(t, fsys, Options{}).Recorded())
}

// TestBaseIsDropped checks that a base is removed with its file, and when the
// file becomes a generated one.
func TestBaseIsDropped(t *testing.T) {
	t.Parallel()
	_, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "d/a", "x"); seed(t, p, "d/b", "y"); seed(t, p, "c", "z") })
	apply(t, fsys, Options{}, func(p *Plan) { must(t, p.Remove("d/a")); must(t, p.Generate("g", "d/b", []byte("y"))) })
	names, err := newPlan(t, fsys, Options{}).bases.paths()
	must(t, err)
	same(t, "bases", []string{"c"}, names)
}

func TestNothingToDoWritesNothing(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"a": "x", "b": "y"})
	before := snapshot(t, root)
	apply(t, fsys, Options{}, func(p *Plan) {
		must(t, p.Share("a", 0, []byte("other")))
		must(t, p.Edit("b", func(b []byte) ([]byte, error) { return b, nil }))
		must(t, p.Remove("c"))
		p.Unchanged("c")
	})
	same(t, "a foreign project", before, snapshot(t, root))

	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "s", "s"); must(t, p.Generate("g", "t", []byte("t"))) })
	write(t, root, "s", "mine")
	before = snapshot(t, root)
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "s", "s"); must(t, p.Generate("g", "t", []byte("t"))) })
	same(t, "a repeat", before, snapshot(t, root))
}

// TestAdopt checks that files with the planned content are adopted without a
// visible change.
func TestAdopt(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"a": "x", "b": "y"})
	got := apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "a", "x"); must(t, p.Generate("g", "b", []byte("y"))) })
	same(t, "changes", []string{}, got)
	same(t, "files", map[string]string{"a": "x", "b": "y"}, contents(t, root))
	write(t, root, "a", "x")
	got = apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "a", "x2") })
	same(t, "with a base it can be updated", []string{"update seeded a"}, got)
}

func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, content, want string }{
		{"no JSON", "<<<<<<< HEAD\n", ".operon/generated.json is damaged"},
		{"merged", "{\n<<<<<<< HEAD\n=======\n>>>>>>> b\n}\n", ".operon/generated.json has merge conflicts"},
		{"empty", "", ".operon/generated.json is damaged"},
		{"newer", `{"version":3,"files":{}}`, ".operon/generated.json has version 3; this operon supports version 2"},
		{"outside", `{"version":2,"files":{"../x":{}}}`, `.operon/generated.json: path "../x" must be clean and relative to the project root`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewMemMapFs()
			must(t, afero.WriteFile(fsys, recordsFile, []byte(tt.content), 0o644))
			_, err := New(fsys, Options{})
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if tt.name == "no JSON" && fault.HintOf(err) == "" {
				t.Error("no hint")
			}
		})
	}
}

// TestApplyOfNothing checks that Apply checks the context even if there is
// nothing to write.
func TestApplyOfNothing(t *testing.T) {
	t.Parallel()
	must(t, newPlan(t, afero.NewMemMapFs(), Options{}).Apply(context.Background()))
}
