package scaffold

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
)

// project returns a real folder, because the tests need links, modes and
// renames.
func project(t testing.TB, files map[string]string) (string, afero.Fs) {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		write(t, root, name, content)
	}
	return root, baseFs(root)
}

func baseFs(root string) afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), root) }

// write writes a file. Content "-> x" makes a link, and content that starts
// with "#!" an executable.
func write(t testing.TB, root, name, content string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	if target, ok := strings.CutPrefix(content, "-> "); ok {
		must(t, os.Symlink(target, file))
		return
	}
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(content, "#!") {
		mode = 0o755
	}
	must(t, os.WriteFile(file, []byte(content), mode))
}

// node is a file, link or folder.
type node struct {
	Mode    fs.FileMode
	Content string // of a file, or the target of a link
}

// snapshot maps every path below root to its node, including folders. It omits
// the skipped folders.
func snapshot(t testing.TB, root string, skip ...string) map[string]node {
	t.Helper()
	all := map[string]node{}
	must(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if slices.Contains(skip, name) {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(file)
		case info.Mode().IsRegular():
			var b []byte
			b, err = os.ReadFile(file)
			content = string(b)
		}
		all[name] = node{info.Mode(), content}
		return err
	}))
	return all
}

// scratch returns a temporary folder in memory, if the system has one:
// thousands of trials are slow on a disk.
func scratch(t testing.TB) string {
	t.Helper()
	root, err := os.MkdirTemp("/dev/shm", "operon-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must(t, os.RemoveAll(root)) })
	return root
}

// restore makes root equal to a snapshot.
func restore(t testing.TB, root string, nodes map[string]node) {
	t.Helper()
	must(t, os.RemoveAll(root))
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		n, file := nodes[name], filepath.Join(root, filepath.FromSlash(name))
		switch {
		case n.Mode.IsDir():
			must(t, os.MkdirAll(file, 0o755))
		case n.Mode&fs.ModeSymlink != 0:
			must(t, os.Symlink(n.Content, file))
			continue
		default:
			must(t, os.WriteFile(file, []byte(n.Content), 0o644))
		}
		must(t, os.Chmod(file, n.Mode))
	}
}

// contents is a snapshot without modes, folders and state.
func contents(t testing.TB, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for name, n := range snapshot(t, root, stateDir) {
		if !n.Mode.IsDir() {
			files[name] = n.Content
		}
	}
	return files
}

func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// storedBase returns the base of a file, or "" if there is none.
func storedBase(t testing.TB, root, name string) string {
	t.Helper()
	_, base, err := newPlan(t, baseFs(root), Options{}).Before(name)
	must(t, err)
	return string(base)
}

func newPlan(t testing.TB, fsys afero.Fs, o Options) *Plan {
	t.Helper()
	p, err := New(fsys, o)
	must(t, err)
	return p
}

// apply fills a plan, applies it, and returns its changes.
func apply(t testing.TB, fsys afero.Fs, o Options, fill func(*Plan)) []string {
	t.Helper()
	p := newPlan(t, fsys, o)
	fill(p)
	done := list(p)
	must(t, p.Apply(context.Background()))
	return done
}

// list formats each change of a plan as one line.
func list(p *Plan) []string {
	lines := []string{}
	for _, c := range p.Changes() {
		lines = append(lines, fmt.Sprintf("%s %s %s", c.Op, c.Class, c.Path))
	}
	return lines
}

func seed(t testing.TB, p *Plan, name, content string) {
	t.Helper()
	must(t, p.Seed(name, 0o644, []byte(content)))
}

// appendLine is an idempotent edit that adds a line before "// here".
func appendLine(line string) func([]byte) ([]byte, error) {
	return func(src []byte) ([]byte, error) {
		s := string(src)
		switch {
		case strings.Contains(s, line+"\n"):
			return src, nil
		case !strings.Contains(s, "// here\n"):
			return nil, fmt.Errorf("no place for %q", line)
		}
		return []byte(strings.Replace(s, "// here\n", line+"\n// here\n", 1)), nil
	}
}
