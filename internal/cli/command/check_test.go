package command

import (
	"testing"
)

func TestFirstDifference(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		before, after string
		want          int
	}{
		{"", "a\n", 1},
		{"a\n", "b\n", 1},
		{"a\nb\nc\n", "a\nB\nc\n", 2},
		{"a\nb\n", "a\nx\nb\n", 2},
		{"a\nb\nc\n", "a\nb\n", 3},
		{"a\nb\n", "a\nb\nc\n", 2}, // the end of line 2 is the nearest position
		{"a\nb", "a\nb\n", 2},
		{"a\nb\n", "a\nb", 2},
		{"a\n", "", 1},
		{"a\r\nb\n", "a\nb\n", 1},
	} {
		if got := firstDifference([]byte(tc.before), []byte(tc.after)); got != tc.want {
			t.Errorf("%q -> %q: line %d, want %d", tc.before, tc.after, got, tc.want)
		}
	}
}
