package sequences

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestAnyOrder creates three kinds in every order. Each tree passes go vet, which compiles its tests, too, and has
// the same lines in the same files. A repeat of each command has nothing to do.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	var commands [][]string
	for _, kind := range []string{"Frigate", "Type --namespaced=false", "Person --controller=false"} {
		commands = append(commands, strings.Fields("create api --group ship --version v1 --make=false --kind "+kind))
	}
	o, checked := orders{T: t}, 0
	o.run(operontest.InitProject(t), commands, func(dir string) {
		checked++
		projecttest.WantGo(t, fmt.Sprint("any order ", checked), dir, "vet", "./...")
		for _, args := range commands {
			if out := operontest.Run(t, dir, args...); out != "nothing to do\n" {
				t.Errorf("a repeat of %v:\n%s", args, out)
			}
		}
	})
}

// TestAnyOrderOfHooks creates hooks and a kind in every order. Each tree has the same lines in the same files, and a
// repeat of init has nothing to do.
func TestAnyOrderOfHooks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fleet")
	treetest.MakeDir(t, dir)
	operontest.Run(t, dir, "init", "--domain", "example.org", "--plugins", "shell")
	o := orders{T: t}
	o.run(dir, [][]string{
		{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--make=false"},
		{"create", "hook", "guard", "--validate", "Pod", "--make=false"},
		{"create", "hook", "boats", "--on", "kubernetes:Secret", "--lang", "python", "--make=false"},
	}, func(dir string) {
		if out := operontest.Run(t, dir, "init"); out != "nothing to do\n" {
			t.Errorf("init again:\n%s", out)
		}
	})
}

// orders runs commands in every order.
type orders struct {
	*testing.T
	done  []string            // the commands that led to the current project
	first map[string][]string // the lines of the first result
}

// run runs the commands in copies of a project, and then generates. check checks each result.
func (o *orders) run(project string, commands [][]string, check func(dir string)) {
	o.Helper()
	if len(commands) == 0 {
		operontest.Run(o.T, project, "generate")
		check(project)
		lines := sortedLines(treetest.Read(o.T, project))
		if o.first == nil {
			o.first = lines
		}
		if diff := cmp.Diff(o.first, lines); diff != "" {
			o.Errorf("another order results in other files (-first +this):\n%s\n%s", strings.Join(o.done, "\n"), diff)
		}
		return
	}
	for i, args := range commands {
		dir := filepath.Join(o.TempDir(), "fleet")
		if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
			o.Fatal(err)
		}
		operontest.Run(o.T, dir, args...)
		o.done = append(o.done, strings.Join(args, " "))
		o.run(dir, slices.Delete(slices.Clone(commands), i, i+1), check)
		o.done = o.done[:len(o.done)-1]
	}
}

// sortedLines returns the sorted lines of the files of a project, and only the names of those in .operon, which has
// checksums of files: each command adds its lines below those that exist.
func sortedLines(tree map[string]string) map[string][]string {
	sorted := map[string][]string{}
	for name, content := range tree {
		sorted[name] = nil
		if !strings.HasPrefix(name, ".operon/") {
			sorted[name] = slices.Sorted(strings.SplitSeq(content, "\n"))
		}
	}
	return sorted
}
