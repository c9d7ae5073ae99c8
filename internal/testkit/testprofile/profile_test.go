package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/treetest"
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

// TestSuite selects tests by the build tags of their files.
func TestSuite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"internal/a/a_test.go":              "package a\n\nfunc TestPlain(t *testing.T) {}\n",
		"internal/a/all_test.go":            "//go:build testall\n\npackage a\n\nfunc TestMain(m *testing.M) {}\n\nfunc TestServer(_ *testing.T) {}\n\nfunc FuzzA(f *testing.F) {}\n\nfunc helper(t *testing.T) {}\n",
		"internal/b/b_test.go":              "//go:build unix && testall\n\npackage b\n\nfunc TestB(t *testing.T) {}\nfunc TestServer(t *testing.T) {}\n",
		"internal/b/random_test.go":         "//go:build testextra\n\npackage b\n\nfunc TestRandom(t *testing.T) {}\n",
		"internal/b/testdata/x/x_test.go":   "//go:build testall\n\npackage x\n\nfunc TestNo(t *testing.T) {}\n",
		"internal/c/helpers_test.go":        "//go:build testall\n\npackage c\n",
		"internal/d/other_test.go":          "//go:build testallother\n\npackage d\n\nfunc TestNo(t *testing.T) {}\n",
		".hidden/e/e_test.go":               "//go:build testall\n\npackage e\n\nfunc TestNo(t *testing.T) {}\n",
		"internal/f/not_a_test_file.go.txt": "//go:build testall\n\npackage f\n\nfunc TestNo(t *testing.T) {}\n",
	} {
		treetest.WriteFile(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	for _, tt := range []struct{ tag, only, args, want string }{
		{"testall", "", "-p 3 ./internal/b ./internal/none", "-tags=testall -run=^(FuzzA|TestB|TestServer)$ -p 3 ./internal/b ./internal/a"},
		{"testall", "internal/a", "-p 3 ./internal/b", "-tags=testall -run=^(FuzzA|TestServer)$ -p 3 ./internal/a"},
		{"testall", "olm internal/a", "", "-tags=testall -run=^(FuzzA|TestServer)$ ./internal/a"},
		{"testextra", "", "", "-tags=testextra,testall -run=^(TestRandom)$ ./internal/b"},
		{"testall", "olm", "", `no package whose path contains "olm" has tests with the build tag testall`},
	} {
		got, err := suite(dir, tt.tag, tt.only, strings.Fields(tt.args))
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if text != tt.want {
			t.Errorf("%s %s: %s\nwant %s", tt.tag, tt.only, text, tt.want)
		}
	}
}
