package scaffold

import (
	"strings"
	"testing"
)

// placed returns a function whose placeholder has these words.
func placed(words string) string {
	return "f {\n\t// Your code goes here: " + words + "\n\t// " + words + "\n}\nrest\n"
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const none = "\x00" // a missing file
	const lines = "a\nb\nc\nd\ne\nf\ng\n"
	tests := []struct {
		name             string
		base, disk, next string
		op               Op
		content          string
	}{
		{"first write", none, none, "x", Create, "x"},
		{"first write of an empty file", none, none, "", Create, ""},
		{"deleted by the user", "x", none, "x", Create, "x"},
		{"unchanged", "x", "x", "x", Keep, "x"},
		{"the same, never written by operon", none, "x", "x", Keep, "x"},
		{"the user already has next", "x", "y", "y", Keep, "y"},
		{"newer template", "x", "x", "y", Update, "y"},
		{"emptied by the user", "x", "", "x", Keep, ""},
		{"edited by the user", "x", "z", "x", Keep, "z"},
		{"empty base is a base", "", "", "y", Update, "y"},
		{"empty disk is a file", none, "", "y", Conflict, ""},
		{"never written by operon", none, "z", "x", Conflict, "z"},
		{"edits in different places", lines, "A\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nd\ne\nf\nG\n", Update, "A\nb\nc\nd\ne\nf\nG\n"},
		{"edits in one place", lines, "a\nb\nX\nd\ne\nf\ng\n", "a\nb\nY\nd\ne\nf\ng\n", Conflict, "a\nb\nX\nd\ne\nf\ng\n"},
		{"placeholder replaced", placed("old"), "f {\n\tcode\n}\nrest\n", placed("new"), Keep, "f {\n\tcode\n}\nrest\n"},
		{"placeholder replaced, with another change", placed("old") + "end\n", "f {\n\tcode\n}\nrest\nend\n", placed("new") + "END\n",
			Update, "f {\n\tcode\n}\nrest\nEND\n"},
		{"placeholder kept", placed("old"), placed("old") + "mine\n", placed("new"), Update, placed("new") + "mine\n"},
		{"one of two placeholders replaced", placed("old") + placed("other"), "f {\n\tcode\n}\nrest\n" + placed("other"), placed("new") + placed("another"),
			Update, "f {\n\tcode\n}\nrest\n" + placed("another")},
		{"placeholder replaced, with a change next to it", placed("old"), "f {\n\tcode\n}\nrest\n", strings.Replace(placed("new"), "f {", "g {", 1),
			Conflict, "f {\n\tcode\n}\nrest\n"},
		{"merged to nothing", "\n", "\r\n", "", Update, ""},
		{"the user has all of next and more", lines, "A\nb\nc\nd\ne\nf\nG\n", "a\nb\nc\nd\ne\nf\nG\n", Keep, "A\nb\nc\nd\ne\nf\nG\n"},
	}
	file := func(s string) []byte {
		if s == none {
			return nil
		}
		return []byte(s)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			op, content := Decide(file(tt.base), file(tt.disk), file(tt.next))
			if op != tt.op || string(content) != tt.content || content == nil {
				t.Errorf("got %s %q, want %s %q", op, content, tt.op, tt.content)
			}
		})
	}
}

func FuzzDecide(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n", "a\nb\nd\n")
	f.Add("\n", "\r\n", "")
	f.Fuzz(func(t *testing.T, base, disk, next string) {
		op, content := Decide([]byte(base), []byte(disk), []byte(next))
		if content == nil {
			t.Fatal("an existing file was removed")
		}
		if (op == Keep || op == Conflict) && string(content) != disk {
			t.Fatalf("%s changes %q to %q", op, disk, content)
		}
		if op == Update && string(content) == disk {
			t.Fatal("the update changes nothing")
		}
		if op == Conflict {
			return
		}
		// The decision is stable: repeating it keeps everything.
		if again, kept := Decide([]byte(next), content, []byte(next)); again != Keep || string(kept) != string(content) {
			t.Fatalf("the second time: %s, %q becomes %q", again, content, kept)
		}
	})
}
