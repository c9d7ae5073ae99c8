package scaffold

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scenario is a tree and a plan for it.
type scenario struct {
	name  string
	start func(t testing.TB, root string)
	fill  func(*Plan) error
}

// scenarios look like init in a folder that is not empty, like create api and
// generate in a project with user edits, links and odd modes, like delete, like
// edit, which moves folders.
func scenarios() []scenario {
	existing := func(t testing.TB, root string) {
		for name, content := range map[string]string{
			"README.md": "mine", "run.sh": "#!/bin/sh\n// here\n", "real/shared.yaml": "// here\n",
			"shared.yaml": "-> real/shared.yaml", "link": "-> real", "empty/.keep": "",
		} {
			write(t, root, name, content)
		}
		must(t, os.Chmod(filepath.Join(root, "empty"), 0o700))
	}
	project := func(t testing.TB, root string) {
		existing(t, root)
		fsys := baseFs(root)
		for _, fill := range []func(*Plan) error{initPlan("v1"), func(p *Plan) error {
			return errors.Join(
				p.Generate("crd", "config/crd/bases/old.yaml", []byte("old")),
				p.Seed("api/v1/only/x_types.go", 0, []byte("x")))
		}} {
			apply(t, fsys, Options{}, func(p *Plan) { must(t, fill(p)) })
		}
		write(t, root, "cmd/main.go", "// mine\n"+strings.Replace(main1, "// here", "one\n// here", 1))
		must(t, os.Chmod(filepath.Join(root, "Makefile"), 0o600))
		must(t, os.Chmod(filepath.Join(root, "config/role.yaml"), 0o444))
	}
	return []scenario{
		{"init", existing, initPlan("v1")},
		{"init in an empty folder", func(testing.TB, string) {}, initPlan("v1")},
		{"update", project, func(p *Plan) error {
			return errors.Join(
				initPlan("v2")(p),
				p.Edit("cmd/main.go", appendLine("two")),
				p.Edit("run.sh", appendLine("two")),
				p.Edit("shared.yaml", appendLine("two")),
				p.Seed("link/deep/new.go", 0, []byte("new")),
				p.Generate("crd", "config/crd/bases/new.yaml", []byte("new")),
				p.Remove("config/crd/bases/old.yaml"))
		}},
		{"delete", project, func(p *Plan) error {
			return errors.Join(
				p.Remove("config/crd/bases/old.yaml"),
				p.Remove("api/v1/only/x_types.go"),
				p.Remove("config/role.yaml"),
				p.Remove("run.sh"),
				p.Remove("link/shared.yaml"))
		}},
		{"move", project, func(p *Plan) error {
			return errors.Join(
				moveFolder(p, "api/v1", "api/ship/v1"),
				moveFolder(p, "config/crd", "crd"),
				p.Move("cmd/main.go", "cmd/manager/main.go"),
				p.Edit("cmd/manager/main.go", appendLine("two")),
				p.Move("run.sh", "hack/again.sh"),
				p.Move("config/role.yaml", "role.yaml"))
		}},
	}
}

func initPlan(version string) func(*Plan) error {
	return func(p *Plan) error {
		return errors.Join(
			p.Seed("Makefile", 0, []byte("all: "+version+"\n")),
			p.Seed("hack/run.sh", 0o755, []byte("#!/bin/sh\n")),
			p.Seed("cmd/main.go", 0, []byte(main1)),
			p.Edit("cmd/main.go", appendLine("one")),
			p.Share("config/kustomization.yaml", 0, []byte("// here\n")),
			p.Edit("config/kustomization.yaml", appendLine(version)),
			p.Generate("rbac", "config/role.yaml", []byte("role "+version+"\n")))
	}
}

// run makes a plan in fsys and applies it.
func (s scenario) run(ctx context.Context, fsys *faulty) error {
	p, err := New(fsys, Options{})
	if err == nil {
		err = s.fill(p)
	}
	if err == nil {
		err = p.Apply(ctx)
	}
	return err
}

// trial is the tree of a scenario in its own folder.
type trial struct {
	scenario
	before map[string]node
	after  map[string]node // the files after a successful run
	dirs   []string        // the folders after it
	trace  []string        // the operations of that run
	root   string
}

func (s scenario) trial(t testing.TB) *trial {
	t.Helper()
	tr := &trial{scenario: s, root: filepath.Join(scratch(t), "project")}
	must(t, os.Mkdir(tr.root, 0o755))
	s.start(t, tr.root)
	tr.before = snapshot(t, tr.root)
	fsys := &faulty{Fs: baseFs(tr.root)}
	must(t, s.run(t.Context(), fsys))
	tr.after, tr.dirs, tr.trace = files(t, tr.root), folders(t, tr.root), fsys.trace
	restore(t, tr.root, tr.before)
	return tr
}

// files returns the result of a finished command: all files except the journal.
func files(t testing.TB, root string) map[string]node {
	t.Helper()
	nodes := snapshot(t, root, journalDir)
	maps.DeleteFunc(nodes, func(_ string, n node) bool { return n.Mode.IsDir() })
	return nodes
}

// folders returns the folders of a project except the journal.
func folders(t testing.TB, root string) []string {
	t.Helper()
	nodes := snapshot(t, root, journalDir)
	maps.DeleteFunc(nodes, func(_ string, n node) bool { return !n.Mode.IsDir() })
	return slices.Sorted(maps.Keys(nodes))
}

// untouched fails unless the tree is unchanged.
func (tr *trial) untouched(t testing.TB, what string) {
	t.Helper()
	same(t, what+": the tree", tr.before, snapshot(t, tr.root))
}

// done reports whether the command is complete. If so, it restores the initial
// tree.
func (tr *trial) done(t testing.TB) bool {
	t.Helper()
	if !cmp.Equal(tr.after, files(t, tr.root)) {
		return false
	}
	restore(t, tr.root, tr.before)
	return true
}

// recovered runs Recover on a disk without faults and checks the result.
func (tr *trial) recovered(t testing.TB, what string) {
	t.Helper()
	if _, err := Recover(baseFs(tr.root)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if did, err := Recover(baseFs(tr.root)); did || err != nil {
		t.Fatalf("%s: a second recovery: %v, %v", what, did, err)
	}
	if cmp.Equal(tr.after, files(t, tr.root)) {
		same(t, what+": folders", tr.dirs, folders(t, tr.root))
	}
	if !tr.done(t) {
		tr.untouched(t, what)
	}
}

// finish returns the index of the rename that commits the command.
func (tr *trial) finish() int {
	return slices.IndexFunc(tr.trace, func(op string) bool {
		return strings.HasPrefix(op, "rename ") && strings.HasSuffix(op, "/"+finishedFile)
	})
}

// matters reports whether the command must fail if an operation fails. Only
// closing a file after reading may fail.
func matters(op string) bool {
	return !strings.HasPrefix(op, "close ") || strings.Contains(op, "/"+stagedDir+"/") ||
		strings.Contains(op, "/"+pendingFile)
}

// TestFaults lets every operation fail in every possible way, and checks that
// the command leaves no traces.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		for _, h := range []how{once, short, lies, full} {
			t.Run(fmt.Sprintf("%s/%s", s.name, h), func(t *testing.T) {
				t.Parallel()
				tr := s.trial(t)
				for i, op := range tr.trace {
					err := tr.run(t.Context(), &faulty{Fs: baseFs(tr.root), at: i + 1, how: h})
					what := fmt.Sprintf("operation %d, %s", i+1, op)
					switch {
					case err == nil && (!tr.done(t) || h == once && i <= tr.finish() && matters(op)):
						t.Fatalf("%s: no error", what)
					case err == nil:
					case !errors.Is(err, errFault) && !errors.Is(err, io.ErrShortWrite):
						t.Fatalf("%s: %v", what, err)
					default:
						tr.untouched(t, what)
					}
				}
			})
		}
	}
}

// TestFaultsCover checks that the scenarios use every kind of operation.
func TestFaultsCover(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range scenarios() {
		for _, op := range s.trial(t).trace {
			kind, _, _ := strings.Cut(op, " ")
			seen[kind] = true
		}
	}
	for _, kind := range []string{"open", "create", "read", "write", "flush", "close", "rename", "mkdir", "remove", "chmod", "list", "stat", "readlink"} {
		if !seen[kind] {
			t.Errorf("no scenario has the operation %q", kind)
		}
	}
}

// TestDeath kills the process at every operation. The next command recovers.
func TestDeath(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tr := s.trial(t)
			for i, op := range tr.trace {
				_ = tr.run(t.Context(), &faulty{Fs: baseFs(tr.root), at: i + 1, how: dead})
				tr.recovered(t, fmt.Sprintf("death at operation %d, %s", i+1, op))
			}
		})
	}
}

// TestDeathOfRecovery kills the process after the first, a middle and the last
// rename, and then kills the recovery at every operation.
func TestDeathOfRecovery(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tr := s.trial(t)
			var renames []int
			for i, op := range tr.trace {
				if strings.HasPrefix(op, "rename ") {
					renames = append(renames, i+1)
				}
			}
			for _, n := range []int{renames[0], renames[len(renames)/2], renames[len(renames)-2]} {
				for m, alive := 1, true; alive; m++ {
					_ = tr.run(t.Context(), &faulty{Fs: baseFs(tr.root), at: n + 1, how: dead})
					fsys := &faulty{Fs: baseFs(tr.root), at: m, how: dead}
					_, _ = Recover(fsys)
					tr.recovered(t, fmt.Sprintf("death after operation %d, %s, and of the recovery at %d", n, tr.trace[n-1], m))
					alive = fsys.n >= m
				}
			}
		})
	}
}

// TestCancel cancels the context at every operation.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tr := s.trial(t)
			for i, op := range tr.trace {
				ctx, cancel := context.WithCancel(t.Context())
				err := tr.run(ctx, &faulty{Fs: baseFs(tr.root), hook: func(n int, _ string) {
					if n == i+1 {
						cancel()
					}
				}})
				cancel()
				what := fmt.Sprintf("cancelled at operation %d, %s", i+1, op)
				switch {
				case err == nil && (!tr.done(t) || i < tr.finish()):
					t.Fatalf("%s: no error", what)
				case err == nil:
				case !errors.Is(err, context.Canceled):
					t.Fatalf("%s: %v", what, err)
				default:
					tr.untouched(t, what)
				}
			}
		})
	}
}
