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

// TestBasesOfBranches reads a file with the lines of two branches. The next command that
// changes it sorts them, and joins the lines of the files that it seeds.
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
