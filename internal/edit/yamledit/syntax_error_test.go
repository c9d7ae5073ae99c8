package yamledit

import (
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

func TestCheckSyntax(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"":                             "",
		"a: 1\n---\nb: 1\n":            "",
		"{\"a\": [1]}\n":               "",
		"a: 1\n---\nb: 1\n c: 1\nd: 1": "f.yaml:4:2: mapping values are not allowed in this context",
		"a:\n  b: [a: \"x\nc: 1\n":     "f.yaml:2:3: found unexpected end of stream",
		"a: \xff\n":                    "f.yaml:1:4: not UTF-8 text",
	} {
		err := CheckSyntax("f.yaml", []byte(src))
		switch {
		case err == nil && want != "":
			t.Errorf("%q: no error", src)
		case err != nil && (err.Error() != want || fault.HintOf(err) == "" || fault.Code(err) != fault.CodeUsage):
			t.Errorf("%q: %v, hint %q, code %d; want %q", src, err, fault.HintOf(err), fault.Code(err), want)
		}
	}
}
