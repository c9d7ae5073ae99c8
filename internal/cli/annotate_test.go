package cli

import "testing"

func TestAnnotation(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		annotation
		want string
	}{
		{annotation{level: "error", file: "api/v1/a.go", line: 3, title: "differs", message: "plain: a, b"},
			"::error file=api/v1/a.go,line=3,title=differs::plain: a, b\n"},
		{annotation{level: "warning", title: "rule", message: "nowhere"},
			"::warning title=rule::nowhere\n"},
		{annotation{level: "warning", file: "a.go", line: 1, column: 2, title: "rule", message: ""},
			"::warning file=a.go,line=1,col=2,title=rule::\n"},
		{annotation{level: "error", file: "a,line=9:b%3A.go", line: 1, title: "x::y\r\n::error::z", message: "100%\r\n::error::%0A"},
			"::error file=a%2Cline=9%3Ab%253A.go,line=1,title=x%3A%3Ay%0D%0A%3A%3Aerror%3A%3Az::100%25%0D%0A::error::%250A\n"},
	} {
		if got := tc.String(); got != tc.want {
			t.Errorf("got  %q\nwant %q", got, tc.want)
		}
	}
}
