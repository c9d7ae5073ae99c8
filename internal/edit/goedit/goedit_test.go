package goedit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

// edited applies fn to src and then to the result, which must not change, and
// checks that a gofmt-clean source stays clean.
func edited(t *testing.T, src string, fn func(*File) error) string {
	t.Helper()
	once := func(src string) string {
		t.Helper()
		f, err := Parse("main.go", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if err := fn(f); err != nil {
			t.Fatal(err)
		}
		out, err := f.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	out := once(src)
	if formatted([]byte(src)) && !formatted([]byte(out)) {
		t.Errorf("the result is not gofmt-clean:\n%s", out)
	}
	if diff := cmp.Diff(out, once(out)); diff != "" {
		t.Errorf("the second time changed it (-once +twice):\n%s", diff)
	}
	return out
}

func TestParseGoError(t *testing.T) {
	t.Parallel()
	_, err := Parse("cmd/main.go", []byte("package p\n\nfunc f( {\n\nfunc\n"))
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff("cmd/main.go:3:9: expected ')', found '{'", err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if fault.Code(err) != fault.CodeFailed || fault.HintOf(err) == "" {
		t.Errorf("code %d, hint %q", fault.Code(err), fault.HintOf(err))
	}
}
