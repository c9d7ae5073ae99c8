package projectcmd

import "testing"

func TestReleaseOf(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"go1.26.1\n":                         "go1.26.1",
		"go1.27rc1\n":                        "go1.27rc1",
		"go1.26-X:nodwarf5\n":                "go1.26",
		"go1.26.1 X:nodwarf5\n":              "go1.26.1",
		"devel go1.27-abcdef Mon Nov 23\n":   "go1.27",
		"devel +abcdef Mon Nov 23 04:00:00 ": "",
	} {
		if got := releaseOf(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
