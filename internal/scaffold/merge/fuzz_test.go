package merge

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzText checks rules that hold for any three texts.
func FuzzText(f *testing.F) {
	for _, s := range [][3]string{
		{"", "", ""},
		{"a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n"},
		{"a\nb\nc", "a\nc", "a\nb\nc\nd\n"},
		{"a\r\nb\r\n", "a\r\nc\r\n", "a\nb\nd\n"},
		{"x\nx\nx\n", "x\nx\n", "x\nx\nx\nx\n"},
		{"{\n}\n\n{\n}\n", "{\n}\n\n{\n}\n\n{\n}\n", "{\n\ta\n}\n\n{\n}\n"},
	} {
		f.Add([]byte(s[0]), []byte(s[1]), []byte(s[2]))
	}
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		for _, law := range []struct {
			name                     string
			base, ours, theirs, want []byte
		}{
			{"merge(b,b,x) = x", base, base, theirs, theirs},
			{"merge(b,x,b) = x", base, ours, base, ours},
			{"merge(b,x,x) = x", base, ours, ours, ours},
		} {
			got, clean := Text(law.base, law.ours, law.theirs)
			if !clean || !bytes.Equal(got, law.want) {
				t.Errorf("%s: clean = %v, %s", law.name, clean, cmp.Diff(string(law.want), string(got)))
			}
		}
		got, clean := Text(base, ours, theirs)
		back, cleanBack := Text(base, theirs, ours)
		if lineEnd(ours) == lineEnd(theirs) && (clean != cleanBack || clean && !bytes.Equal(got, back)) {
			t.Errorf("the result depends on the order of the sides: %v %q, %v %q", clean, got, cleanBack, back)
		}
		if !clean && bytes.Count(got, []byte(markOurs)) < 1 {
			t.Errorf("conflict without markers: %q", got)
		}
		checkDiff(t, lines(base), lines(ours))
	})
}

// checkDiff checks that the changes from a to b are well formed and produce b.
func checkDiff(t *testing.T, a, b []string) {
	t.Helper()
	var out []string
	done := -1
	for _, c := range diff(a, b) {
		if c.start <= done || c.end < c.start || c.end > len(a) || c.end == c.start && len(c.lines) == 0 {
			t.Fatalf("bad change %v of %q to %q", c, a, b)
		}
		out = append(append(out, a[max(done, 0):c.start]...), c.lines...)
		done = c.end
	}
	out = append(out, a[max(done, 0):]...)
	if diff := cmp.Diff(strings.Join(b, ""), strings.Join(out, "")); diff != "" {
		t.Fatalf("the changes of %q do not result in %q:\n%s", a, b, diff)
	}
}

// FuzzGit compares with git merge-file on a base of distinct lines, for which
// the diff is unambiguous.
func FuzzGit(f *testing.F) {
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("git is not installed")
	}
	f.Add([]byte{0x03}, []byte{0x08})
	f.Add([]byte{0x00, 0x41}, []byte{0x02, 0x83})
	f.Add([]byte{0x05, 0x45, 0x85}, []byte{0x05})
	f.Add([]byte{0x01, 0x05, 0x09}, []byte{0x43, 0x47, 0x4b})
	f.Fuzz(func(t *testing.T, oursOps, theirsOps []byte) {
		base := make([]string, 16)
		for i := range base {
			base[i] = fmt.Sprintf("line %d\n", i)
		}
		ours, theirs := operate(base, oursOps, "m"), operate(base, theirsOps, "n")
		got, clean := Text(text(base), text(ours), text(theirs))
		want, wantClean := gitMerge(t, text(base), text(ours), text(theirs))
		if clean != wantClean {
			t.Errorf("clean = %v, git returns %v\nours %q\ntheirs %q\ngot %s\ngit %s", clean, wantClean, ours, theirs, got, want)
		}
		if diff := cmp.Diff(string(want), string(got)); clean && diff != "" {
			t.Errorf("merged (-git +got):\n%s", diff)
		}
	})
}

// operate applies one operation per byte: the high bits choose delete, replace
// or insert, of a unique line or of one that the other side may write too.
func operate(base []string, ops []byte, own string) []string {
	edited := make([]string, len(base))
	copy(edited, base)
	for n, op := range ops[:min(len(ops), 6)] {
		i := int(op & 0x0f)
		shared := fmt.Sprintf("shared %d\n", i)
		switch op >> 4 {
		case 0, 1:
			edited[i] = ""
		case 2, 3, 4, 5:
			edited[i] = fmt.Sprintf("%s %d\n", own, n)
		case 6, 7:
			edited[i] = shared
		case 8, 9, 10, 11:
			edited[i] = base[i] + fmt.Sprintf("%s %d\n", own, n)
		default:
			edited[i] = base[i] + shared
		}
	}
	return edited
}

func text(lines []string) []byte { return []byte(strings.Join(lines, "")) }

func gitMerge(t *testing.T, base, ours, theirs []byte) (merged []byte, clean bool) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string][]byte{"base": base, "ours": ours, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "merge-file", "-p", "ours", "base", "theirs")
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 127) {
		t.Fatal(err)
	}
	return out, err == nil
}
