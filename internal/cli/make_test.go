package cli

import (
	"context"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/templates"
)

var makeTarget = regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `)

// TestMakeTargets checks that each target of a generated Makefile is a command, or that the hint
// for it as an unknown command names make.
func TestMakeTargets(t *testing.T) {
	t.Parallel()
	targets := []string{}
	err := fs.WalkDir(templates.FS, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(path.Base(name), "Makefile") {
			return err
		}
		src, err := templates.FS.ReadFile(name)
		for _, m := range makeTarget.FindAllSubmatch(src, -1) {
			targets = append(targets, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(targets)
	for _, target := range slices.Compact(targets) {
		root := newRoot(&command.App{Out: io.Discard, Err: io.Discard, Catalogue: catalogue()})
		if cmd, _, err := root.Find([]string{target}); err == nil && cmd != root || target == "validate" || target == "help" {
			continue // cobra adds help later; the other one is operon hooks validate
		}
		root.SetArgs([]string{target})
		err := root.ExecuteContext(context.Background())
		if hint := fault.HintOf(err); !strings.HasSuffix(hint, ": make "+target) {
			t.Errorf("operon %s: %v, hint %q", target, err, hint)
		}
	}
	if len(targets) < 20 {
		t.Errorf("found only the targets %v", targets)
	}
}
