package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"testing"
)

func TestError(t *testing.T) {
	t.Parallel()
	missing := &Error{Code: CodeUsage, Msg: "no such thing", Hint: "name another", Err: fs.ErrNotExist}
	for _, tc := range []struct {
		err        error
		text, hint string
		code       int
	}{
		{nil, "", "", CodeOK},
		{errors.New("plain"), "plain", "", CodeFailed},
		{missing, "no such thing: file does not exist", "name another", CodeUsage},
		{fmt.Errorf("around: %w", missing), "around: no such thing: file does not exist", "name another", CodeUsage},
		{In("edit cmd/main.go", missing), "edit cmd/main.go: no such thing: file does not exist", "name another", CodeUsage},
		{In("read", errors.New("plain")), "read: plain", "", CodeFailed},
		{Usage("h", "bad %q", "x"), `bad "x"`, "h", CodeUsage},
		{Failed("", "broken"), "broken", "", CodeFailed},
		{Differences("", "drift"), "drift", "", CodeDifferences},
		{&Error{Code: CodeInterrupted, Err: errors.New("cause")}, "cause", "", CodeInterrupted},
	} {
		if tc.err != nil && tc.err.Error() != tc.text {
			t.Errorf("text %q, want %q", tc.err.Error(), tc.text)
		}
		if got := Code(tc.err); got != tc.code {
			t.Errorf("%v: code %d, want %d", tc.err, got, tc.code)
		}
		if got := HintOf(tc.err); got != tc.hint {
			t.Errorf("%v: hint %q, want %q", tc.err, got, tc.hint)
		}
	}
	if In("nowhere", nil) != nil {
		t.Error("In returns an error for nil")
	}
	if !errors.Is(In("read", missing), fs.ErrNotExist) {
		t.Error("In does not wrap the cause")
	}
}

func TestReason(t *testing.T) {
	t.Parallel()
	plain := errors.New("plain")
	for _, err := range []error{plain, &fs.PathError{Op: "open", Path: "/x", Err: plain}, fmt.Errorf("around: %w", &url.Error{Op: "Get", URL: "https://x", Err: plain})} {
		if got := Reason(err); !errors.Is(plain, got) {
			t.Errorf("%v: %v", err, got)
		}
	}
}
