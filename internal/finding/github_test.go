package finding

import "testing"

func TestAnnotation(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		Annotation
		want string
	}{
		{Annotation{Severity: Error, File: "api/v1/a.go", Line: 3, Title: "differs", Message: "plain: a, b"},
			"::error file=api/v1/a.go,line=3,title=differs::plain: a, b\n"},
		{Annotation{Severity: Warning, Title: "rule", Message: "no position"},
			"::warning title=rule::no position\n"},
		{Annotation{Severity: Warning, File: "a.go", Line: 1, Column: 2, Title: "rule", Message: ""},
			"::warning file=a.go,line=1,col=2,title=rule::\n"},
		{Annotation{Severity: Error, File: "a,line=9:b%3A.go", Line: 1, Title: "x::y\r\n::error::z", Message: "100%\r\n::error::%0A"},
			"::error file=a%2Cline=9%3Ab%253A.go,line=1,title=x%3A%3Ay%0D%0A%3A%3Aerror%3A%3Az::100%25%0D%0A::error::%250A\n"},
	} {
		if got := tc.String(); got != tc.want {
			t.Errorf("got  %q\nwant %q", got, tc.want)
		}
	}
}
