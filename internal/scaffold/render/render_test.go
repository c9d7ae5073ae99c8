package render

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// rendered maps "mode path" to content for the files that Tree renders.
func rendered(fsys fs.FS, vars map[string]string, data any) (map[string]string, error) {
	files := map[string]string{}
	err := Tree(fsys, "tree", vars, data, func(name string, mode fs.FileMode, content []byte) error {
		files[fmt.Sprintf("%04o %s", mode, name)] = string(content)
		return nil
	})
	return files, err
}

func mapFile(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

func TestTree(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"tree/[dir]/[kind]_types.go.tmpl":   mapFile("package  {{ .Package }}\nvar ( a=1 )\n"),
		"tree/.github/workflows/test.yml":   mapFile("run: ${{ matrix.go }}\n"),
		"tree/hack/run.sh.tmpl":             mapFile("#!/bin/sh\necho {{ .Package | upper }}\n"),
		"tree/empty.go.tmpl":                mapFile("{{ if false }}package x{{ end }}\n"),
		"other/left.txt":                    mapFile("of another tree"),
		"tree/config/[kind]-notes.txt.tmpl": mapFile("{{ range .List }}{{ . }};{{ end }}\n"),
	}
	data := map[string]any{"Package": "v1", "List": []string{"a", "b"}}
	got, err := rendered(fsys, map[string]string{"dir": "api/v1", "kind": "frigate"}, data)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"0644 api/v1/frigate_types.go":    "package v1\n\nvar (\n\ta = 1\n)\n",
		"0644 .github/workflows/test.yml": "run: ${{ matrix.go }}\n",
		"0755 hack/run.sh":                "#!/bin/sh\necho V1\n",
		"0644 config/frigate-notes.txt":   "a;b;\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestTreeErrorsNameTheTemplate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, content, want string }{
		"unknown placeholder": {"tree/[nobody].txt", "x", "tree/[nobody].txt: unknown placeholder [nobody]"},
		"missing key":         {"tree/a.txt.tmpl", "\n{{ .Nobody }}", "tree/a.txt.tmpl:2"},
		"syntax":              {"tree/a.txt.tmpl", "{{ if }}", "tree/a.txt.tmpl:1"},
		"invalid Go":          {"tree/a.go.tmpl", "package p\nfunc {", "tree/a.go.tmpl: output does not parse"},
		"no clock":            {"tree/a.txt.tmpl", "{{ now }}", `function "now" not defined`},
		"no randomness":       {"tree/a.txt.tmpl", "{{ shuffle .A }}", `function "shuffle" not defined`},
		"no keys":             {"tree/a.txt.tmpl", "{{ genPrivateKey }}", `function "genPrivateKey" not defined`},
	} {
		_, err := rendered(fstest.MapFS{tc.file: mapFile(tc.content)}, nil, map[string]any{"A": "a"})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
