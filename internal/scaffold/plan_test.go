package scaffold

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

const (
	main1 = "package main\n\nfunc main() {\n// here\n}\n"
	main2 = "package main\n\n// v2\n\nfunc main() {\n// here\n}\n"
)

// TestPlan applies a first plan, makes the user's changes, and checks a second
// plan and what it writes. Content "" in user deletes the file.
func TestPlan(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		first, second func(*testing.T, *Plan)
		user          map[string]string
		options       Options
		want          []string
		files         map[string]string // the relevant files after the second plan
	}{
		{
			name:   "repeating changes nothing",
			first:  func(t *testing.T, p *Plan) { seed(t, p, "a", "x"); must(t, p.Generate("g", "b", []byte("y"))) },
			second: func(t *testing.T, p *Plan) { seed(t, p, "a", "x"); must(t, p.Generate("g", "b", []byte("y"))) },
			want:   []string{},
		},
		{
			name:   "the user's edit of a seeded file stays",
			first:  func(t *testing.T, p *Plan) { seed(t, p, "a", "x") },
			user:   map[string]string{"a": "mine"},
			second: func(t *testing.T, p *Plan) { seed(t, p, "a", "x") },
			want:   []string{"keep seeded a"},
			files:  map[string]string{"a": "mine"},
		},
		{
			name:    "force replaces it",
			first:   func(t *testing.T, p *Plan) { seed(t, p, "a", "x"); seed(t, p, "b", "x") },
			user:    map[string]string{"a": "mine"},
			second:  func(t *testing.T, p *Plan) { seed(t, p, "a", "x"); seed(t, p, "b", "x") },
			options: Options{Force: true},
			want:    []string{"update seeded a"},
			files:   map[string]string{"a": "x"},
		},
		{
			name:    "force replaces a file that operon never wrote",
			user:    map[string]string{"a": "mine"},
			second:  func(t *testing.T, p *Plan) { seed(t, p, "a", "x") },
			options: Options{Force: true},
			want:    []string{"update seeded a"},
			files:   map[string]string{"a": "x"},
		},
		{
			name:    "force keeps a file that is only edited",
			first:   func(t *testing.T, p *Plan) { seed(t, p, "main.go", main1) },
			user:    map[string]string{"main.go": "// mine\n" + main1},
			second:  func(t *testing.T, p *Plan) { must(t, p.Edit("main.go", appendLine("one"))) },
			options: Options{Force: true},
			want:    []string{"update seeded main.go"},
			files:   map[string]string{"main.go": "// mine\n" + strings.Replace(main1, "// here", "one\n// here", 1)},
		},
		{
			name: "a template change is merged into the user's edited file",
			first: func(t *testing.T, p *Plan) {
				seed(t, p, "main.go", main1)
				must(t, p.Edit("main.go", appendLine("one")))
			},
			user: map[string]string{"main.go": strings.Replace(main1, "// here\n}", "one\n// here\nmine()\n}", 1)},
			second: func(t *testing.T, p *Plan) {
				seed(t, p, "main.go", main2)
				must(t, p.Edit("main.go", appendLine("one")))
			},
			want:  []string{"update seeded main.go"},
			files: map[string]string{"main.go": strings.Replace(main2, "// here\n}", "one\n// here\nmine()\n}", 1)},
		},
		{
			name:   "an edit applies although the base lacks its place",
			first:  func(t *testing.T, p *Plan) { seed(t, p, "main.go", "package main\n") },
			user:   map[string]string{"main.go": main1},
			second: func(t *testing.T, p *Plan) { must(t, p.Edit("main.go", appendLine("one"))) },
			want:   []string{"update seeded main.go"},
			files:  map[string]string{"main.go": strings.Replace(main1, "// here", "one\n// here", 1)},
		},
		{
			name:   "a shared file is created once and then kept",
			first:  func(t *testing.T, p *Plan) { must(t, p.Share("s", 0, []byte("one"))) },
			user:   map[string]string{"s": "mine"},
			second: func(t *testing.T, p *Plan) { must(t, p.Share("s", 0, []byte("two"))) },
			want:   []string{},
			files:  map[string]string{"s": "mine"},
		},
		{
			name: "a shared file is edited in the plan that creates it",
			second: func(t *testing.T, p *Plan) {
				for range 2 {
					must(t, p.Share("s", 0, []byte("// here\n")))
					must(t, p.Edit("s", appendLine("one")))
				}
			},
			want:  []string{"create shared s"},
			files: map[string]string{"s": "one\n// here\n"},
		},
		{
			name:  "a generated file is always replaced",
			first: func(t *testing.T, p *Plan) { must(t, p.Generate("g", "b", []byte("y"))) },
			user:  map[string]string{"b": "mine", "c": "kubebuilder's"},
			second: func(t *testing.T, p *Plan) {
				must(t, p.Generate("g", "b", []byte("y")))
				must(t, p.Generate("g", "c", []byte("z")))
			},
			want:  []string{"update generated b", "update generated c"},
			files: map[string]string{"b": "y", "c": "z"},
		},
		{
			name:  "a deleted generated file is created again, and a seeded one stays deleted",
			first: func(t *testing.T, p *Plan) { seed(t, p, "a", "x"); must(t, p.Generate("g", "b", []byte("y"))) },
			user:  map[string]string{"a": "", "b": ""},
			second: func(t *testing.T, p *Plan) {
				seed(t, p, "a", "x")
				must(t, p.Generate("g", "b", []byte("y")))
			},
			want:  []string{"create generated b"},
			files: map[string]string{"b": "y"},
		},
		{
			name:  "remove",
			first: func(t *testing.T, p *Plan) { seed(t, p, "d/a", "x"); must(t, p.Generate("g", "d/b", []byte("y"))) },
			second: func(t *testing.T, p *Plan) {
				for _, name := range []string{"d/a", "d/b", "d/never"} {
					must(t, p.Remove(name))
				}
			},
			want:  []string{"delete seeded d/a", "delete generated d/b"},
			files: map[string]string{},
		},
		{
			name:  "generated again after remove",
			first: func(t *testing.T, p *Plan) { must(t, p.Generate("g", "b", []byte("y"))) },
			second: func(t *testing.T, p *Plan) {
				must(t, p.Remove("b"))
				must(t, p.Generate("g", "b", []byte("z")))
			},
			want:  []string{"update generated b"},
			files: map[string]string{"b": "z"},
		},
		{
			name: "two seeds of the same content",
			second: func(t *testing.T, p *Plan) {
				seed(t, p, "main.go", main1)
				must(t, p.Edit("main.go", appendLine("one")))
				seed(t, p, "main.go", main1)
			},
			want:  []string{"create seeded main.go"},
			files: map[string]string{"main.go": strings.Replace(main1, "// here", "one\n// here", 1)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, fsys := project(t, nil)
			if tt.first != nil {
				apply(t, fsys, Options{}, func(p *Plan) { tt.first(t, p) })
			}
			for name, content := range tt.user {
				must(t, ignoreMissing(os.Remove(filepath.Join(root, name))))
				if content != "" {
					write(t, root, name, content)
				}
			}
			got := apply(t, fsys, tt.options, func(p *Plan) { tt.second(t, p) })
			same(t, "changes", tt.want, got)
			if tt.files != nil {
				files := contents(t, root)
				for name := range files {
					if _, ok := tt.files[name]; !ok && len(tt.files) > 0 {
						delete(files, name)
					}
				}
				same(t, "files", tt.files, files)
			}
		})
	}
}

// TestEditReachesTheBase checks that an edit is also made in the base, because
// it is operon's and not the user's. If the user deletes the edited lines, they
// are not added again.
func TestEditReachesTheBase(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	edited := strings.Replace(main1, "// here", "one\n// here", 1)
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "main.go", main1) })
	write(t, root, "main.go", "// mine\n"+main1)
	apply(t, fsys, Options{}, func(p *Plan) { must(t, p.Edit("main.go", appendLine("one"))) })
	same(t, "disk", "// mine\n"+edited, contents(t, root)["main.go"])
	same(t, "base", edited, storedBase(t, root, "main.go"))
	write(t, root, "main.go", main1)
	replay := func(p *Plan) {
		seed(t, p, "main.go", main1)
		must(t, p.Edit("main.go", appendLine("one")))
	}
	same(t, "replay", []string{"keep seeded main.go"}, apply(t, fsys, Options{}, replay))
}

// TestEditOfMovedLinesReachesTheBase checks that lines are edited in the file
// to which the user moved them, and in the base of the file where operon wrote
// them.
func TestEditOfMovedLinesReachesTheBase(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	edited := strings.Replace(main1, "// here", "one\n// here", 1)
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "main.go", main1) })
	write(t, root, "main.go", "// mine\n")
	write(t, root, "other.go", main1)
	refuse := func([]byte) ([]byte, error) { return nil, errors.New("no place") }
	apply(t, fsys, Options{}, func(p *Plan) {
		must(t, p.Edit("other.go", appendLine("one")))
		must(t, p.EditBase("main.go", appendLine("one")))
		must(t, p.EditBase("main.go", refuse))
		must(t, p.EditBase("never written", appendLine("one")))
	})
	same(t, "files", map[string]string{"main.go": "// mine\n", "other.go": edited}, contents(t, root))
	same(t, "base", edited, storedBase(t, root, "main.go"))
}

func TestPlanConflict(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"b": "mine", "a": "mine"})
	before := snapshot(t, root)
	p := newPlan(t, fsys, Options{})
	seed(t, p, "a", "x")
	seed(t, p, "b", "y")
	seed(t, p, "c", "z")
	same(t, "changes", []string{"conflict seeded a", "conflict seeded b", "create seeded c"}, list(p))
	same(t, "conflicts", []string{"a", "b"}, p.Conflicts())
	b, err := p.Read("a")
	must(t, err)
	same(t, "a conflict reads as the disk", "mine", string(b))
	err = p.Apply(context.Background())
	if err == nil || fault.Code(err) != fault.CodeDifferences || err.Error() != "these files exist and differ: a, b" {
		t.Errorf("got %v, code %d", err, fault.Code(err))
	}
	same(t, "tree", before, snapshot(t, root))
}

func TestPlanReads(t *testing.T) {
	t.Parallel()
	_, fsys := project(t, map[string]string{"disk": "d", "gone": "g", "dir/f": "f"})
	p := newPlan(t, fsys, Options{})
	seed(t, p, "new", "// here\n")
	must(t, p.Edit("new", appendLine("one")))
	must(t, p.Remove("gone"))
	for name, want := range map[string]string{"disk": "d", "new": "one\n// here\n"} {
		b, err := p.Read(name)
		must(t, err)
		same(t, name, want, string(b))
		b[0] = '!' // callers may modify the bytes
		again, err := p.Read(name)
		must(t, err)
		same(t, name, want, string(again))
		if !p.Exists(name) {
			t.Errorf("%s does not exist", name)
		}
	}
	for _, name := range []string{"gone", "never", "no/such/dir"} {
		if _, err := p.Read(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read %s: %v", name, err)
		}
		if err := p.Edit(name, appendLine("x")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("edit %s: %v", name, err)
		}
		if p.Exists(name) {
			t.Errorf("%s exists", name)
		}
	}
	if p.Exists("dir") || p.Exists("../disk") {
		t.Error("a folder or a path outside of the project counts as a file")
	}
}

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	tests := []struct {
		name string
		fill func(*Plan) error
		want string
	}{
		{"seeds that differ", func(p *Plan) error {
			return errors.Join(p.Seed("a", 0, []byte("x")), p.Seed("a", 0, []byte("y")))
		}, "a is planned twice, with different content"},
		{"seeded and shared", func(p *Plan) error {
			return errors.Join(p.Share("a", 0, []byte("x")), p.Seed("a", 0, []byte("y")))
		}, "a is planned as a shared and as a seeded file"},
		{"generated and seeded", func(p *Plan) error {
			return errors.Join(p.Seed("a", 0, []byte("y")), p.Generate("g", "a", nil))
		}, "a is planned as a seeded and as a generated file"},
		{"no generator", func(p *Plan) error { return p.Generate("", "a", nil) }, "the generator of a has no name"},
		{"an edit's own error", func(p *Plan) error {
			return p.Edit("disk", func([]byte) ([]byte, error) { return nil, boom })
		}, "boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, fsys := project(t, map[string]string{"disk": "// here\n"})
			err := tt.fill(newPlan(t, fsys, Options{}))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestPlanInMemory uses the in-memory file system of the plugin tests.
func TestPlanInMemory(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	fill := func(p *Plan) {
		seed(t, p, "cmd/main.go", main1)
		must(t, p.Share("config/kustomization.yaml", 0, []byte("// here\n")))
		must(t, p.Edit("config/kustomization.yaml", appendLine("- x")))
		must(t, p.Generate("crd", "config/crd/x.yaml", []byte("crd")))
	}
	apply(t, fsys, Options{}, fill)
	same(t, "repeat", []string{}, apply(t, fsys, Options{}, fill))
	apply(t, fsys, Options{}, func(p *Plan) {
		must(t, p.Remove("config/crd/x.yaml"))
		must(t, p.Edit("cmd/main.go", appendLine("one")))
	})
	b, err := afero.ReadFile(fsys, "cmd/main.go")
	must(t, err)
	same(t, "main.go", strings.Replace(main1, "// here", "one\n// here", 1), string(b))
	if ok, _ := afero.Exists(fsys, "config/crd"); ok {
		t.Error("config/crd should be gone with its last file")
	}
	did, err := Recover(fsys)
	if did || err != nil {
		t.Errorf("recover: %v, %v", did, err)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	p := newPlan(t, afero.NewMemMapFs(), Options{})
	b := Warning{File: "b.go", Line: 3, Message: "second"}
	a := Warning{File: "a.go", Line: 9, Message: "first"}
	lines := Warning{File: "a.go", Rule: "first", Message: "add these", Lines: "import x\nx.Add()"}
	part := Warning{File: "a.go", Rule: "second", Message: "x is unused", Lines: "x.Add()"}
	partOfLine := Warning{File: "a.go", Rule: "second", Message: "Add is unused", Lines: "Add()"}
	otherFile := Warning{File: "b.go", Rule: "second", Message: "x is unused", Lines: "x.Add()"}
	otherPlace := Warning{File: "a.go", Rule: "first", Message: "add these to the second call", Lines: lines.Lines}
	for _, w := range []Warning{b, a, b, lines, part, partOfLine, otherFile, otherPlace} {
		p.Warn(w)
	}
	same(t, "warnings", []Warning{b, a, lines, partOfLine, otherFile, otherPlace}, p.Warnings())
}
