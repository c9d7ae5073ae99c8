package hooks

import "testing"

// TestWithoutTracebacks checks that the error at the end of a traceback stays.
func TestWithoutTracebacks(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"one\n  two\n": "one\n  two\n",
		"start\nTraceback (most recent call last):\n  File \"/hooks/a.py\", line 3, in <module>\n    prin(1)\n    ^^^^\nNameError: name 'prin' is not defined\n": "start\nNameError: name 'prin' is not defined\n",
		"  File \"/hooks/a.py\", line 46\n    def foo(:\n            ^\nSyntaxError: invalid syntax\nend":                                                        "SyntaxError: invalid syntax\nend",
	} {
		if got := WithoutTracebacks(output); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
