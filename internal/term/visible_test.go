package term

import "testing"

func TestVisible(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text     string
		coloured bool
		want     string
	}{
		{"plain, ünïcode 日本\n\ttext", false, "plain, ünïcode 日本\n\ttext"},
		{"\x1b[31mred\x1b[0m", false, `\x1b[31mred\x1b[0m`},
		{"\x1b[31mred\x1b[0m\x1b[2J", true, "\x1b[31mred\x1b[0m" + `\x1b[2J`},
		{"a\rb\r\n+c\r\x1b[0m\n", true, `a\rb` + "\r\n+c\r\x1b[0m\n"},
		{"a\u202eb\u2066c\ufeff\u2028", false, `a\u202eb\u2066c\ufeff\u2028`},
		{"\x00\x7f\u009b\xff\a", false, `\x00\x7f\u009b\xff\a`},
	} {
		if got := Visible(tc.text, tc.coloured); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
	if got := Line("a\n\tb\x1b", false); got != `a\n\tb\x1b` {
		t.Errorf("a line: %q", got)
	}
}

func TestIndent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"error: one":                          "error: one",
		"x\nerror: forged\nfile.go:1: real":   "x\n\terror: forged\nfile.go:1: real",
		"x\n\x1b[31merror:\x1b[0m forged":     "x\n\t\x1b[31merror:\x1b[0m forged",
		"x\r\n\r\x1b[2m\x1b[33mwarning: y\nz": "x\r\n\t\r\x1b[2m\x1b[33mwarning: y\nz",
	} {
		if got := Indent(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
