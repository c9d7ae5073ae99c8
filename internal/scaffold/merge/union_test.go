package merge

import (
	"strings"
	"testing"
)

func TestUnion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, a, b, guide, want string }{
		{"equal", "1 2", "1 2", "1 2", "1 2"},
		{"one side adds", "1 2", "1 x 2", "1 x 2", "1 x 2"},
		{"different places", "1 a 2 3", "1 2 b 3", "1 a 2 b 3", "1 a 2 b 3"},
		{"the same place, in the order of the guide", "1 a 2", "1 b 2", "1 b a 2", "1 b a 2"},
		{"lines in turn", "1 a c 2", "1 b d 2", "1 a b c d 2", "1 a b c d 2"},
		{"blocks with equal lines", "1 a { } 2", "1 b { } 2", "1 b { } a { } 2", "1 b { } a { } 2"},
		{"the user's own lines", "1 a 2", "1 b 2", "0 1 a mine b 2", "1 a b 2"},
		{"a line that the user changed", "1 a { } 2", "1 b { } 2", "1 a { } mine { } 2", "1 a { } b { } 2"},
		{"lines that the user deleted", "1 a 2", "1 b 2", "1 2", "1 a b 2"},
		{"a line that one side replaced", "1 old 2", "1 new 2", "1 new 2", "1 new old 2"},
		{"a line that both removed", "1 2 a", "1 2 b", "1 x 2 a b", "1 2 a b"},
		{"without a guide", "1 a { } 2", "1 b { } 2", "", "1 a b { } 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Union(split(tt.a), split(tt.b), split(tt.guide)); string(got) != string(split(tt.want)) {
				t.Errorf("got %q, want %q", strings.Fields(string(got)), tt.want)
			}
		})
	}
	if got := Union([]byte("a"), []byte("b\n"), []byte("a\r\nb\r\n")); string(got) != "b\na" {
		t.Errorf("without a final newline: %q", got)
	}
}

// split returns a text with a line for each word; nil without words.
func split(words string) []byte {
	if words == "" {
		return nil
	}
	return []byte(strings.ReplaceAll(words, " ", "\n") + "\n")
}
