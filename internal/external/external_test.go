package external

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// install creates files; those that start with #! are executable.
func install(t *testing.T, files map[string]string) Folder {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), mode([]byte(content))); err != nil {
			t.Fatal(err)
		}
	}
	return Folder(root)
}

func TestFind(t *testing.T) {
	t.Parallel()
	const program = "#!/bin/sh\n"
	folder := install(t, map[string]string{
		"sample/v1/sample":                          program,
		"sample/v1/sample.go":                       "package main",
		"dotted.example.org/v1/dotted.example.org":  program,
		"other/v1/name.sh":                          program,
		"two/v1/two.sh":                             program,
		"two/v2-alpha/two.sh":                       program,
		"text/v1/text.sh":                           "no program",
		"go.kubebuilder.io/v4/go.kubebuilder.io.sh": program,
		"badversion/one/badversion":                 program,
		"sample/docs/sample":                        program,
	})
	for name, want := range map[string]string{
		"sample/v1": "sample/v1/sample", "sample": "sample/v1/sample",
		"dotted.example.org/v1": "dotted.example.org/v1/dotted.example.org", "two/v2-alpha": "two/v2-alpha/two.sh",
		"sample/v2": "", "other/v1": "", "../sample/v1": "", "sample/../v1": "", "go.kubebuilder.io/v4": "", "badversion/one": "", "badversion": "", "": "",
		"two": "error: the plugin two has several versions", "text/v1": "error: the plugin text is not executable",
	} {
		found, ok, err := folder.Find(name)
		got := ""
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case ok:
			rel, _ := filepath.Rel(string(folder), found.Path)
			got = filepath.ToSlash(rel)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	want := []string{"dotted.example.org/v1", "sample/v1", "two/v1", "two/v2-alpha"}
	if got := folder.Keys(); !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
}

func TestGuessFlags(t *testing.T) {
	t.Parallel()
	flags := guessFlags([]string{"--domain", "d", "--name", "n", "--deep", "--level=3", "--quiet=true", "--last"}, func(name string) bool { return name != "domain" })
	var got []string
	for _, f := range flags {
		got = append(got, f.Name+" "+f.Type)
	}
	if want := []string{"name string", "deep bool", "level string", "quiet bool", "last bool"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const invalid = "the plugin a/v1 returned an invalid response: "
	for text, want := range map[string]string{
		`{"error": true, "command": "flags"}`: "", "{}\n": "", "": invalid + "it is empty", "{} {}": invalid + "there is more text after it",
		`{"universe": 3}`: invalid + "the key universe must not be of the type number", "[]": invalid + "the document must not be of the type array",
	} {
		var into response
		if got := errorText(decode("a/v1", []byte(text), &into)); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestInstallFolder(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"XDG_CONFIG_HOME": home}, filepath.Join(home, "kubebuilder", "plugins")},
		{map[string]string{"XDG_CONFIG_HOME": home, "EXTERNAL_PLUGINS_PATH": work}, work},
		{map[string]string{"EXTERNAL_PLUGINS_PATH": "rel"}, filepath.Join(work, "rel")},
		{map[string]string{"HOME": "rel", "APPDATA": "rel"}, ""},
	} {
		if got := InstallFolder(func(name string) string { return test.env[name] }, work); string(got) != test.want {
			t.Errorf("%v: %v", test.env, got)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
