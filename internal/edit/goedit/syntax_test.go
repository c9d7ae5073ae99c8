package goedit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/repository"
)

// TestCleanAfter inserts lines at random places of generated files, and compares the check of one
// declaration with the whole file's.
func TestCleanAfter(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(repository.Path("testdata/golden/*/cmd/main.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	tests, err := filepath.Glob(repository.Path("testdata/golden/fleet/internal/*/*/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	clean, local := 0, 0
	for _, name := range append(files, tests...) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(name, src)
		if err != nil || !f.formatted() {
			continue
		}
		for range 40 {
			at := f.lineStart(random.IntN(len(src)))
			c := []splice{{at, at, insertions[random.IntN(len(insertions))]}}
			g, err := f.apply(c)
			if err != nil {
				continue
			}
			if got, want := g.cleanAfter(c), g.formatted(); got != want {
				t.Errorf("%s: clean is %v, want %v, after %q at line %d", name, got, want, c[0].text, f.line(f.tok.Pos(at)))
			} else if want {
				clean++
			}
			for _, d := range g.file.Decls {
				if first, last, ok := g.block(d); ok && first < at && at+len(c[0].text) <= last {
					local++
				}
			}
		}
	}
	if clean < 50 || local < 100 {
		t.Errorf("%d edits kept a file clean, %d were in one declaration", clean, local)
	}
}

var insertions = []string{
	"\tx()\n", "x()\n", "\t\tx()\n", "\n", "\n\n", "\t// A comment.\n", "\tx() // a comment\n", "\tx()   // a comment\n",
	"\t\"a/b\"\n", "\tz \"z.example/z\"\n", "\t// +marker\n", "\tif x {\n\t\ty()\n\t}\n", "\t\tA: 1, // a\n", "\t\tAbcDef: 1,\n", "\tvar a,b int\n",
	"\tx := `a\n  b`\n", "var x = 1\n", "func x() {}\n", "}\n\nfunc more() {\n", "\tswitch {\n\tcase x:\n\t}\n", fmt.Sprintf("\tx(%q)\n", "a"),
}
