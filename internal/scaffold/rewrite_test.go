package scaffold

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// TestRewrite checks what Rewrite makes of the user's edits, and that later commands keep its changes:
// the base stays.
func TestRewrite(t *testing.T) {
	t.Parallel()
	const base = "a\nb\nc\nd\n"
	for name, tc := range map[string]struct{ users, rewritten, want string }{
		"no edit":            {base, "a\nb\nc\nd\ne\n", "a\nb\nc\nd\ne\n"},
		"with the edit":      {"a\nb\nc\nd\nmine\n", "a\nb\nc\nd\nmine\ne\n", "a\nb\nc\nd\nmine\ne\n"},
		"without the edit":   {"A\nb\nc\nd\n", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n"},
		"as written first":   {"A\nb\nc\nd\n", base, "A\nb\nc\nd\n"},
		"overlaps":           {"a\nb\nmine\nd\n", "a\nb\nyours\nd\n", ""},
		"other line endings": {"a\r\nb\r\nc\r\nd\r\n", "a\nb\nc\nd\ne\n", "a\nb\nc\nd\ne\n"},
	} {
		fsys := afero.NewMemMapFs()
		applied(t, fsys, func(p *Plan) error { return p.Seed("f", 0o644, []byte(base)) })
		if err := afero.WriteFile(fsys, "f", []byte(tc.users), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := New(fsys, Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = p.Rewrite("f", []byte(tc.rewritten))
		if tc.want == "" {
			if fault.Code(err) != fault.CodeDifferences {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		applied(t, fsys, func(p *Plan) error { return p.Seed("f", 0o644, []byte(strings.Replace(base, "c", "C", 1))) })
		got, err := afero.ReadFile(fsys, "f")
		if want := strings.Replace(tc.want, "c", "C", 1); err != nil || string(got) != want {
			t.Errorf("%s: %q, want %q; %v", name, got, want, err)
		}
	}
}

// TestRewriteAgain rewrites a file that the same plugin rewrote before: only what the user changed since then is an edit.
func TestRewriteAgain(t *testing.T) {
	t.Parallel()
	const base, first = "a\nb\nc\nd\n", "a\nB\nc\nd\n"
	for name, tc := range map[string]struct{ users, rewritten, want string }{
		"no edit":             {first, "a\nBB\nc\nd\n", "a\nBB\nc\nd\n"},
		"another line":        {"a\nB\nc\nmine\n", "a\nBB\nc\nd\n", "a\nBB\nc\nmine\n"},
		"with another line":   {"a\nB\nc\nmine\n", "a\nBB\nc\nmine\n", "a\nBB\nc\nmine\n"},
		"the same line":       {"a\nmine\nc\nd\n", "a\nBB\nc\nd\n", ""},
		"back to the base":    {first, base, base},
		"other line endings":  {"a\r\nB\r\nc\r\nd\r\n", "a\nBB\nc\nd\n", "a\r\nBB\r\nc\r\nd\r\n"},
		"lines at the end":    {first, "a\nB\nc\nd\nx\ny\n", "a\nB\nc\nd\nx\ny\n"},
		"the user reverts it": {base, "a\nBB\nc\nd\n", "a\nBB\nc\nd\n"},
	} {
		for seeded, later := range map[string]string{"of operon": "0\n", "of the plugin": ""} {
			start := later
			if strings.Contains(tc.users, "\r") {
				start = strings.ReplaceAll(later, "\n", "\r\n")
			}
			fsys := afero.NewMemMapFs()
			applied(t, fsys, func(p *Plan) error { return p.Seed("old", 0o644, []byte(base)) })
			applied(t, fsys, func(p *Plan) error { return p.Rewrite("old", []byte(first)) })
			applied(t, fsys, func(p *Plan) error { return p.Move("old", "f") })
			// A newer template of operon is no edit of the user.
			applied(t, fsys, func(p *Plan) error { return p.Seed("f", 0o644, []byte(later+base)) })
			if err := afero.WriteFile(fsys, "f", []byte(start+tc.users), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := New(fsys, Options{})
			if err != nil {
				t.Fatal(err)
			}
			err = p.Rewrite("f", []byte(later+tc.rewritten))
			if tc.want == "" {
				if fault.Code(err) != fault.CodeDifferences {
					t.Errorf("%s %s: %v", name, seeded, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", name, seeded, err)
				continue
			}
			if err := p.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, _ := afero.ReadFile(fsys, "f"); string(got) != start+tc.want {
				t.Errorf("%s %s: %q, want %q", name, seeded, got, start+tc.want)
			}
			// What the plugin changes now is what it wrote, and not an edit of the user either.
			if p, err = New(fsys, Options{}); err != nil {
				t.Fatal(err)
			}
			if err := p.Rewrite("f", []byte(start+strings.ReplaceAll(tc.want, "BB", "three"))); err != nil {
				t.Errorf("%s %s, again: %v", name, seeded, err)
			}
		}
	}
}

// TestRewriteRepeat checks that a plan which changes nothing writes nothing, although a plugin rewrote a file before:
// also none of the files of operon's state that are written together with others.
func TestRewriteRepeat(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	seed := func(p *Plan) error { return p.Seed("f", 0o644, []byte("a\nb\n")) }
	applied(t, fsys, seed)
	applied(t, fsys, func(p *Plan) error { return p.Rewrite("f", []byte("a\nB\n")) })
	must(t, fsys.Remove(".operon/.gitattributes"))
	before := snapshot(t, root)
	applied(t, fsys, seed)
	same(t, "after a repeat", before, snapshot(t, root))
}

// TestRewriteSeeded checks a file that the same plan creates.
func TestRewriteSeeded(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	applied(t, fsys, func(p *Plan) error {
		if err := p.Seed("f", 0o644, []byte("a\n")); err != nil {
			return err
		}
		if err := p.Rewrite("f", []byte("a\nb\n")); err != nil {
			return err
		}
		return p.Edit("f", func(src []byte) ([]byte, error) { return append([]byte("0\n"), src...), nil })
	})
	applied(t, fsys, func(p *Plan) error { return p.Seed("f", 0o644, []byte("0\na\n")) })
	if got, _ := afero.ReadFile(fsys, "f"); string(got) != "0\na\nb\n" {
		t.Errorf("%q", got)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for name, content := range map[string]string{
		"a.txt": "a", "bin/tool": "\x00", "latin": "\xff", "large": strings.Repeat("a", MaxText+1), ".git/config": "x", "removed": "x",
	} {
		if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := New(fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Seed("new", 0o644, []byte("n")); err != nil {
		t.Fatal(err)
	}
	if err := p.Remove("removed"); err != nil {
		t.Fatal(err)
	}
	texts, err := p.Texts()
	if err != nil || len(texts) != 2 || string(texts["a.txt"]) != "a" || string(texts["new"]) != "n" {
		t.Errorf("%v, %v", texts, err)
	}
}

func applied(t *testing.T, fsys afero.Fs, fill func(*Plan) error) {
	t.Helper()
	p, err := New(fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(p); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
}
