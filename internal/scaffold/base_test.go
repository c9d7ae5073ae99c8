package scaffold

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// downgrade writes the state of a project as version 1 had it.
func downgrade(t testing.TB, root string) {
	t.Helper()
	b := bases{tree: newTree(baseFs(root))}
	paths, err := b.paths()
	must(t, err)
	for _, path := range paths {
		content, err := b.read(path, nil)
		must(t, err)
		write(t, root, oldBaseDir+"/"+path+oldBaseExt, string(content))
	}
	must(t, os.Remove(filepath.Join(root, baseFile)))
	write(t, root, oldBaseAttributes, "*.base -merge\n")
	records, err := os.ReadFile(filepath.Join(root, recordsFile))
	must(t, err)
	write(t, root, recordsFile, strings.Replace(string(records), `"version": 2`, `"version": 1`, 1))
}

// TestOldBases checks that a project of version 1 works, and that the next command that
// writes migrates it.
func TestOldBases(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "a", "1\n"); seed(t, p, "d/b", "2\n"); seed(t, p, "c", "3\n") })
	want := snapshot(t, root, journalDir)
	downgrade(t, root)
	before := snapshot(t, root, journalDir)

	same(t, "nothing to do", []string{}, apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "a", "1\n") }))
	same(t, "a command that changes nothing", before, snapshot(t, root, journalDir))
	p := newPlan(t, fsys, Options{})
	names, err := p.Below("d")
	must(t, err)
	same(t, "below", []string{"d/b"}, names)
	if !p.HasBase("c") || p.HasBase("d") {
		t.Error("the bases of version 1 are not found")
	}

	same(t, "update", []string{"update seeded a"}, apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "a", "one\n") }))
	same(t, "bases", []string{"one\n", "2\n", "3\n"}, []string{storedBase(t, root, "a"), storedBase(t, root, "d/b"), storedBase(t, root, "c")})
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "a", "1\n") })
	same(t, "the migrated project", want, snapshot(t, root, journalDir))
}

// TestBothFormats merges a branch of version 1 into one that is migrated.
func TestBothFormats(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "a", "1\n2\nnew\n") })
	write(t, root, oldBaseDir+"/a.base", "1\nold\n2\n")
	write(t, root, oldBaseDir+"/b.base", "b\n")
	same(t, "bases", []string{"1\nold\n2\nnew\n", "b\n"}, []string{storedBase(t, root, "a"), storedBase(t, root, "b")})
	write(t, root, "a", "1\nold\n2\nnew\nmine\n")
	same(t, "plan", []string{"update seeded a", "create seeded c"}, apply(t, fsys, Options{}, func(p *Plan) {
		seed(t, p, "a", "zero\n1\nold\n2\nnew\n")
		seed(t, p, "c", "c\n")
	}))
	same(t, "the user's file", "zero\n1\nold\n2\nnew\nmine\n", contents(t, root)["a"])
	same(t, "bases", []string{"zero\n1\nold\n2\nnew\n", "b\n"}, []string{storedBase(t, root, "a"), storedBase(t, root, "b")})
	if _, there := snapshot(t, root)[oldBaseDir]; there {
		t.Errorf("%s is still there", oldBaseDir)
	}
}

// TestBasesOfBranches reads a file with the lines of two branches. The next command that
// changes it sorts them, and joins those of the files that it seeds.
func TestBasesOfBranches(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "main.go", "1\nours\n2\n"); seed(t, p, "x", "ours\n") })
	ours, err := os.ReadFile(filepath.Join(root, baseFile))
	must(t, err)
	theirs, err := appendBase(nil, "main.go", []byte("1\ntheirs\n2\n"))
	must(t, err)
	theirs, err = appendBase(theirs, "x", []byte("theirs\n"))
	must(t, err)
	write(t, root, baseFile, strings.Join(theirs, "\r\n")+"\r\n"+string(ours)+string(ours))
	write(t, root, "main.go", "1\ntheirs\nmine\nours\n2\n")

	plan := apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "main.go", "1\nours\ntheirs\n2\n") })
	same(t, "nothing but the user's edit", []string{"keep seeded main.go"}, plan)
	same(t, "plan", []string{"update seeded main.go"}, apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "main.go", "1\ntheirs\nours\n2\nthird\n") }))
	same(t, "the user's file", "1\ntheirs\nmine\nours\n2\nthird\n", contents(t, root)["main.go"])

	b := bases{tree: newTree(fsys)}
	must(t, b.load())
	same(t, "lines", map[string]int{"main.go": 1, "x": 2}, map[string]int{"main.go": len(b.lines["main.go"]), "x": len(b.lines["x"])})
	if n := strings.Count(string(b.src), "# begin "); n != 2 {
		t.Errorf("%d files have a comment, want 2", n)
	}
}

func TestDamagedBases(t *testing.T) {
	t.Parallel()
	line, err := appendBase(nil, "a", []byte("content"))
	must(t, err)
	for _, tt := range []struct{ name, content, want, hint string }{
		{"merge conflicts", "#\n<<<<<<< HEAD\n", ".operon/base.lines:2: the file has merge conflicts", "delete the lines that start with <<<<<<<"},
		{"no fields", line[0][:4] + "\n", ".operon/base.lines:1 is damaged", "restore the file from version control"},
		{"outside", "../" + line[0], `.operon/base.lines:1: path "../a" must be clean`, ""},
		{"another hash", strings.Replace(line[0], "\t", "\t0", 1), "the line of a in .operon/base.lines is damaged", "restore the file from version control"},
		{"cut off", line[0][:len(line[0])-8], "the line of a in .operon/base.lines is damaged", "restore the file from version control"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewMemMapFs()
			must(t, afero.WriteFile(fsys, baseFile, []byte(tt.content), 0o644))
			err := newPlan(t, fsys, Options{}).Seed("a", 0, []byte("next"))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !strings.HasPrefix(fault.HintOf(err), tt.hint) {
				t.Errorf("got %v (%s), want %s (%s)", err, fault.HintOf(err), tt.want, tt.hint)
			}
		})
	}
}

// TestGeneratorsReadNoBases checks that a plan of generated files and edits that change
// nothing does not read the bases, which are large in a project of many kinds.
func TestGeneratorsReadNoBases(t *testing.T) {
	t.Parallel()
	_, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "a", "a"); must(t, p.Generate("g", "b", []byte("b"))) })
	p := newPlan(t, fsys, Options{})
	must(t, p.Generate("g", "b", []byte("b")))
	must(t, p.KeepGenerated("g", "b", hash([]byte("b"))))
	if _, err := p.Read("a"); err != nil || !p.Exists("a") {
		t.Error(err)
	}
	must(t, p.Apply(t.Context()))
	in, _ := p.Inputs()
	if p.bases.loaded || slices.Contains(in.Looked, baseFile) {
		t.Error("the bases were read")
	}
}

func FuzzBases(f *testing.F) {
	line, err := appendBase(nil, "a/b.go", []byte("content\n"))
	must(f, err)
	f.Add(line[0])
	f.Add("# comment\n\n" + line[0] + "\r\n" + line[0] + "\n")
	f.Add(line[0] + "\n" + rewrittenMark + line[0] + "\n")
	f.Fuzz(func(t *testing.T, src string) {
		all, marked, err := parseBases(src)
		if err != nil {
			return
		}
		out, err := (&bases{lines: all, marked: marked}).encode(nil, nil)
		must(t, err)
		again, markedAgain, err := parseBases(string(out))
		must(t, err)
		same(t, "lines", all, again)
		maps.DeleteFunc(marked, func(path string, _ []string) bool { return all[path] == nil })
		same(t, "marked lines", marked, markedAgain)
	})
}
