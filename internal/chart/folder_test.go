package chart

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

// writeFolder writes files into a new folder. A content such as "-> ../a" makes a link.
func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if target, isLink := strings.CutPrefix(content, "-> "); isLink && err == nil {
			err = os.Symlink(target, name)
		} else if err == nil {
			err = os.WriteFile(name, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// contents returns the files of a chart that Helm has read.
func contents(files []*chart.File) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		all[f.Name] = string(f.Data)
	}
	return all
}

const chartYAML = "apiVersion: v2\nname: web\nversion: 1.0.0\n"

// TestLoad loads folders, and compares the files with those that Helm loads. The contents of the files
// result in the same chart, which operon generate loads.
func TestLoad(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"Chart.yaml": chartYAML, "values.yaml": "\ufeffa: 1\n", "templates/a.yaml": "a: b\n", "templates/.a.yaml.swp": "\x00", "templates/.d/a.yaml": "{{",
		".helmignore": "# comment\n*.bak\n/only.yaml\ndocs/\ntemplates/skip*\n", "values.yaml.bak": "x", "only.yaml": "x", "sub/only.yaml": "x", "docs/a/b.md": "x",
		"templates/skipped.yaml": "{{ fail }}", "charts/b/Chart.yaml": "apiVersion: v2\nname: b\nversion: 1.0.0\n", "charts/b/.helmignore": "templates\n", "charts/b/templates/b.yaml": "b: c\n",
	}
	dir := writeFolder(t, files)
	want, err := loader.LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(want.Raw), contents(got.Raw)); diff != "" {
		t.Errorf("files (-helm +operon):\n%s", diff)
	}
	raw := map[string][]byte{}
	for name, content := range files {
		raw[name] = []byte(content)
	}
	if got, err = LoadFiles(raw); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(want.Raw), contents(got.Raw)); diff != "" {
		t.Errorf("contents (-helm +operon):\n%s", diff)
	}
}

func TestLoadLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets only administrators make links")
	}
	shared := writeFolder(t, map[string]string{"shared/b.yaml": "b: c\n", "shared/deep/c.yaml": "c: d\n"})
	files := map[string]string{"Chart.yaml": chartYAML, "real.yaml": "a: b\n", "templates/a.yaml": "-> ../real.yaml", ".git": "gitdir: nowhere\n"}
	inside := writeFolder(t, files)
	files["templates/shared"] = "-> " + shared + "/shared"
	dir := writeFolder(t, files)
	want := map[string]string{"Chart.yaml": chartYAML, "real.yaml": "a: b\n", "templates/a.yaml": "a: b\n"}
	fetched, err := Fetcher{}.Fetch(t.Context(), Source{Chart: inside})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, contents(fetched.Chart.Raw)); diff != "" {
		t.Error(diff)
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want["templates/shared/b.yaml"], want["templates/shared/deep/c.yaml"] = "b: c\n", "c: d\n"
	if diff := cmp.Diff(want, contents(c.Raw)); diff != "" {
		t.Error(diff)
	}
	_, err = Fetcher{}.Fetch(t.Context(), Source{Chart: dir})
	if message := dir + "/templates/shared: the link leads out of the chart, to " + shared + "/shared"; err == nil || err.Error() != message || fault.HintOf(err) == "" {
		t.Errorf("got  %v\nwant %s", err, message)
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets only administrators make links")
	}
	for want, files := range map[string]map[string]string{
		"a/loop: the link leads to a folder that contains it":                    {"Chart.yaml": chartYAML, "a/loop": "-> .."},
		"files: the link leads nowhere":                                          {"Chart.yaml": chartYAML, "files": "-> nowhere"},
		"self: the link leads nowhere":                                           {"Chart.yaml": chartYAML, "self": "-> self"},
		"null: not a regular file, but a pipe, a socket or a device":             {"Chart.yaml": chartYAML, "null": "-> /dev/null"},
		"large: the file is larger than 5 MiB, so Helm does not load it":         {"Chart.yaml": chartYAML, "large": strings.Repeat(".", 5<<20+1)},
		".helmignore: double-star (**) syntax is not supported":                  {"Chart.yaml": chartYAML, ".helmignore": "a/**\n"},
		"Chart.yaml: the file is missing":                                        {"templates/a.yaml": "a: b\n", "loop": "-> ."},
		"Chart.yaml:3: mapping values are not allowed in this context":           {"Chart.yaml": "name: a\nversion: 1.0.0\na: b: c\n"},
		"values.yaml:2: the values are a list, not a mapping of names to values": {"Chart.yaml": chartYAML, "values.yaml": "# comment\n- a\n"},
	} {
		_, err := Load(writeFolder(t, files))
		if located, isChart := InFolder("", err); !isChart || located.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := Load(writeFolder(t, map[string]string{"Chart.yaml": chartYAML, ".helmignore": "loop\n", "loop": "-> .", "gone": "-> loop/loop/real", "real": ""})); err != nil {
		t.Errorf("a link that .helmignore excludes: %v", err)
	}
}
