package generatecmd

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
	"github.com/operon-dev/operon/internal/watch"
	"github.com/spf13/afero"
)

func TestWatchLine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 14, 2, 7, 0, time.UTC)
	changed := func(op scaffold.Op, paths ...string) (list []scaffold.Change) {
		for _, p := range paths {
			list = append(list, scaffold.Change{Path: p, Op: op})
		}
		return list
	}
	const source, crd, deepcopy = "api/v1/frigate_types.go", "config/crd/bases/ship_frigates.yaml", "api/v1/zz_generated.deepcopy.go"
	for _, tc := range []struct {
		line  line
		width int
		want  string
		quiet bool
	}{
		{line{causes: []string{source}}, 0, "api/v1/frigate_types.go -> no change", true},
		{line{causes: []string{source}, changes: changed(scaffold.Update, deepcopy, crd)}, 0,
			"api/v1/frigate_types.go -> api/v1/zz_generated.deepcopy.go, config/crd/bases/ship_frigates.yaml", false},
		{line{causes: []string{source}, changes: changed(scaffold.Update, deepcopy, crd)}, 100,
			"api/v1/frigate_types.go -> zz_generated.deepcopy.go, ship_frigates.yaml", false},
		{line{causes: []string{source}, changes: changed(scaffold.Update, deepcopy, crd)}, 80,
			"api/v1/frigate_types.go -> 2 files", false},
		{line{causes: []string{source, "go.mod"}, changes: changed(scaffold.Update, crd)}, 45,
			"2 files -> 1 file", false},
		{line{causes: []string{source, "go.mod"}, changes: changed(scaffold.Update, crd)}, 10, // nothing fits
			"2 files -> 1 file", false},
		{line{causes: []string{"a.go", "b.go", "c.go", "d.go"}, changes: append(changed(scaffold.Create, "1", "2"), append(changed(scaffold.Update, "3"), changed(scaffold.Delete, "4")...)...)}, 0,
			"4 files -> 4 files (2 new, 1 removed)", false},
		{line{causes: []string{"api/"}, changes: append(changed(scaffold.Create, "1"), changed(scaffold.Delete, "2")...)}, 0,
			"api/ -> 1 (new), 2 (removed)", false},
		{line{causes: []string{"1", "2"}, changes: changed(scaffold.Create, "1", "2")}, 0, "1, 2 -> restored", false},
		{line{causes: []string{watch.Everything, source}, changes: changed(scaffold.Create, "1", "2", "3", "4")}, 0, "many files -> 4 files (4 new)", false},
		{line{causes: []string{"go.mod"}, changes: changed(scaffold.Delete, "1", "2", "3", "4")}, 0, "go.mod -> 4 files (4 removed)", false},
		{line{causes: []string{source}, failed: true}, 0, source + " -> error", false},
		{line{causes: []string{source}, failed: true, again: true}, 0, source + " -> the same error", true},
		{line{causes: []string{source}, recovered: true}, 0, source + " -> fixed", false},
		{line{causes: []string{source}, recovered: true, changes: changed(scaffold.Update, crd)}, 0, source + " -> fixed, " + crd, false},
	} {
		tc.line.at, tc.line.spent = at, 38400*time.Microsecond
		if got, want := tc.line.text(func(_, text string) string { return text }, tc.width), "14:02:07    38 ms  "+tc.want; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := tc.line.quiet(); got != tc.quiet {
			t.Errorf("%s: quiet is %t", tc.want, got)
		}
	}
	slow := line{at: at, spent: 83 * time.Second, causes: []string{"go.mod"}, failed: true}
	paint := func(colour, text string) string { return "<" + colour + ":" + text + ">" }
	if got, want := slow.text(paint, 0), "<"+term.Faint+":14:02:07   83.0 s  >go.mod<"+term.Faint+": -> ><"+term.Red+":error>"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestWatchIdle checks that the changes of a cycle itself, successful or not, do not start
// another cycle.
func TestWatchIdle(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put("PROJECT", "version: \"3\"\n")
	put("config/old.yaml", "old\n")
	put("config/stale.yaml", "stale\n")
	plan, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), root), scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(plan.Generate("crd", "config/old.yaml", []byte("new\n")), plan.Generate("crd", "crd/bases/made.yaml", []byte("new\n")), plan.Remove("config/stale.yaml")); err != nil {
		t.Fatal(err)
	}
	loop := watchLoop{App: &command.App{Dir: root}, root: root, plan: plan}
	check := func(when string, idle map[string]bool) {
		t.Helper()
		for file, want := range idle {
			if got := loop.isUnchanged(file); got != want {
				t.Errorf("%s: %s is idle: %t", when, file, got)
			}
		}
	}

	loop.recordState(false)
	check("a failed cycle", map[string]bool{
		"config/old.yaml": true, "config/stale.yaml": true, "crd/bases/made.yaml": true, "crd/bases/": true, "crd/": true, "crd": true,
		"api/": false, "api/v1/gone.go": false, "4913": true, "PROJECT": false, watch.Everything: false,
	})
	put("crd/bases/made.yaml", "by hand\n")
	put("config/old.yaml", "by hand\n")
	check("edits after the cycle", map[string]bool{"config/old.yaml": false, "crd/bases/made.yaml": false, "config/stale.yaml": true})

	if err := os.RemoveAll(filepath.Join(root, "crd")); err != nil {
		t.Fatal(err)
	}
	put("config/old.yaml", "old\n")
	if err := plan.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	loop.recordState(true)
	check("a successful cycle", map[string]bool{"config/old.yaml": true, "config/stale.yaml": true, "crd/bases/made.yaml": true, "crd/bases/": false})
	for _, file := range []string{"config/old.yaml", "config/stale.yaml", "crd/bases/made.yaml", "PROJECT", "main.go"} {
		if !loop.isRelevant(file) {
			t.Errorf("%s is not relevant", file)
		}
	}
	put("config/stale.yaml", "back\n")
	if err := os.RemoveAll(filepath.Join(root, "crd")); err != nil {
		t.Fatal(err)
	}
	check("edits after the cycle", map[string]bool{"config/stale.yaml": false, "crd/bases/made.yaml": false, "crd/": false})

	for file, want := range map[string]bool{"README.md": false, "main_test.go": false, "inflections.json": true, "api/inflections.json": false, "go.mod": true} {
		if got := loop.isRelevant(file); got != want {
			t.Errorf("%s is relevant: %t", file, got)
		}
	}
	loop.inputs.Listed = []string{"api/v1"}
	for file, want := range map[string]bool{"api/v1/frigate_test.go": true, "api/v1/.#frigate_types.go": false} {
		if got := loop.isRelevant(file); got != want {
			t.Errorf("%s in a listed folder is relevant: %t", file, got)
		}
	}
	loop.failure = "an error"
	if !loop.isRelevant("README.md") {
		t.Error("after an error, a file is not relevant")
	}
	for _, file := range []string{"api/v1/.frigate_types.go.swp", "api/v1/.#frigate_types.go", "api/v1/#frigate_types.go#", "README.md~"} {
		if loop.isRelevant(file) {
			t.Errorf("%s, a temporary file of an editor, is relevant", file)
		}
	}
}
