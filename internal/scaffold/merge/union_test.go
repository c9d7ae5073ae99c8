package merge

import (
	"strings"
	"testing"
)

func TestUnion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, a, b, guide, want string }{
		{"equal", "1 2", "1 2", "", "1 2"},
		{"one side adds", "1 2", "1 x 2", "1 x 2", "1 x 2"},
		{"different places", "1 a 2 3", "1 2 b 3", "", "1 a 2 b 3"},
		{"the same place, in the order of the guide", "1 a 2", "1 b 2", "1 b 2 a", "1 b a 2"},
		{"without a guide", "1 b 2", "1 a 2", "", "1 b a 2"},
		{"lines in turn", "1 a c 2", "1 b d 2", "1 a b c d 2", "1 a b c d 2"},
		{"blocks stay together", "1 a } 2", "1 b } 2", "1 b } a } 2", "1 b a } 2"},
		{"a block with a line that both have elsewhere", "1 { a } 2 { z", "1 { b } 2 { z", "1 { b } { a } 2 { z", "1 { b a } 2 { z"},
		{"lines that the user deleted", "1 a 2", "1 b 2", "1 2", "1 a b 2"},
		{"disjoint", "a", "b", "b a", "b a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Union(split(tt.a), split(tt.b), split(tt.guide)); string(got) != string(split(tt.want)) {
				t.Errorf("got %q, want %q", strings.Fields(string(got)), tt.want)
			}
		})
	}
	if got := Union([]byte("a"), []byte("b\n"), []byte("a\r\nb\r\n")); string(got) != "a\nb\n" {
		t.Errorf("without a final newline: %q", got)
	}
}

// split returns a text with a line for each word.
func split(words string) []byte {
	if words == "" {
		return nil
	}
	return []byte(strings.ReplaceAll(words, " ", "\n") + "\n")
}
