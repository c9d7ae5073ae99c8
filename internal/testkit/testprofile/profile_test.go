package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRead reads events as go test prints them.
func TestRead(t *testing.T) {
	t.Parallel()
	const events = `{"Action":"start","Package":"github.com/operon-dev/operon/internal/a"}
{"Action":"output","Package":"github.com/operon-dev/operon/internal/a","Test":"TestA","Output":"    a_test.go:1: quiet\n"}
{"Action":"pass","Package":"github.com/operon-dev/operon/internal/a","Test":"TestA","Elapsed":2.5}
{"Action":"output","Package":"github.com/operon-dev/operon/internal/a","Output":"PASS\n"}
{"Action":"output","Package":"github.com/operon-dev/operon/internal/a","Output":"CPU: 4.2 s\n"}
{"Action":"output","Package":"github.com/operon-dev/operon/internal/a","Output":"ok  \tinternal/a\t3.0s\n"}
{"Action":"pass","Package":"github.com/operon-dev/operon/internal/a","Elapsed":3}
{"Action":"run","Package":"github.com/operon-dev/operon/internal/b","Test":"TestSlow"}
{"Action":"run","Package":"github.com/operon-dev/operon/internal/c","Test":"TestC"}
{"Action":"output","Package":"github.com/operon-dev/operon/internal/b","Test":"TestB","Output":"    b_test.go:1: wrong\n"}
{"Action":"fail","Package":"github.com/operon-dev/operon/internal/b","Test":"TestB","Elapsed":0.5}
{"Action":"output","Package":"github.com/operon-dev/operon/internal/b","Output":"FAIL\n"}
{"Action":"output","Package":"github.com/operon-dev/operon/internal/b","Output":"FAIL\tinternal/b\t1.0s\n"}
{"Action":"fail","Package":"github.com/operon-dev/operon/internal/b","Elapsed":1}
{"Action":"pass","Package":"github.com/operon-dev/operon/internal/c","Test":"TestC","Elapsed":9}
{"Action":"output","Package":"github.com/operon-dev/operon/internal/c","Output":"ok  \tinternal/c\t(cached)\n"}
{"Action":"pass","Package":"github.com/operon-dev/operon/internal/c","Elapsed":9}
`
	var out strings.Builder
	p, err := read(strings.NewReader(events), &out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("ok  \tinternal/a\t3.0s\n    b_test.go:1: wrong\nFAIL\tinternal/b\t1.0s\nok  \tinternal/c\t(cached)\n", out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	want := strings.Join([]string{
		"  wall s  CPU s  package",
		"     3.0    4.2  internal/a",
		"     1.0         internal/b",
		"",
		"  wall s    test, with its subtests",
		"     2.5    internal/a TestA",
		"     0.5    internal/b TestB",
		"",
	}, "\n")
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("\nfailed:\ninternal/b TestB\n    b_test.go:1: wrong\ninternal/b\ninternal/b TestSlow did not end\n", p.failures()); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}
