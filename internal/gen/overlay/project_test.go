package overlay

import "testing"

// TestRelativeTo also uses paths of Windows, on every system.
func TestRelativeTo(t *testing.T) {
	t.Parallel()
	tests := []struct{ root, separator, msg, want string }{
		{"/p", "/", "/p/api/v1/x.go:3:1: expected 'x'", "api/v1/x.go:3:1: expected 'x'"},
		{"/p", "/", "/q/x.go: /p/y.go", "/q/x.go: y.go"},
		{`C:\p`, `\`, `C:\p\api\v1\x.go:3:1: invalid escape '\q'`, `api/v1/x.go:3:1: invalid escape '\q'`},
		{`C:\p`, `\`, `found packages v1 (a.go) and v2 (b.go) in C:\p\api\my v1`, `found packages v1 (a.go) and v2 (b.go) in api/my v1`},
		{`C:\p`, `\`, `open "C:\p\a\b": C:\p\c\d, C:\q\e`, `open "a/b": c/d, C:\q\e`},
		{`C:\p`, `\`, "C:\\p\\a\\b\r\nx\\y", "a/b\r\nx\\y"},
	}
	for _, tt := range tests {
		if got := relativeTo(tt.root, tt.separator, tt.msg); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.msg, got, tt.want)
		}
	}
}
