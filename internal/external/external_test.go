package external

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// install creates files; those that start with #! are executable.
func install(t *testing.T, files map[string]string) Folders {
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
	return Folders{filepath.Join(root, "operon"), filepath.Join(root, "kubebuilder")}
}

func TestFind(t *testing.T) {
	t.Parallel()
	const program = "#!/bin/sh\n"
	folders := install(t, map[string]string{
		"kubebuilder/sample/v1/sample":                          program,
		"kubebuilder/sample/v1/sample.go":                       "package main",
		"kubebuilder/both/v1/both.py":                           program,
		"operon/both/v1/both.sh":                                program,
		"kubebuilder/dotted.example.org/v1/dotted.example.org":  program,
		"kubebuilder/other/v1/name.sh":                          program,
		"kubebuilder/two/v1/two.sh":                             program,
		"kubebuilder/two/v2-alpha/two.sh":                       program,
		"kubebuilder/text/v1/text.sh":                           "no program",
		"kubebuilder/go.kubebuilder.io/v4/go.kubebuilder.io.sh": program,
		"kubebuilder/badversion/one/badversion":                 program,
	})
	for name, want := range map[string]string{
		"sample/v1": "kubebuilder/sample/v1/sample", "sample": "kubebuilder/sample/v1/sample", "both/v1": "operon/both/v1/both.sh",
		"dotted.example.org/v1": "kubebuilder/dotted.example.org/v1/dotted.example.org", "two/v2-alpha": "kubebuilder/two/v2-alpha/two.sh",
		"sample/v2": "", "other/v1": "", "../sample/v1": "", "sample/../v1": "", "go.kubebuilder.io/v4": "", "badversion/one": "", "": "",
		"two": "error: the plugin two has several versions", "text/v1": "error: the plugin text is not executable",
	} {
		found, ok, err := folders.Find(name)
		got := ""
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case ok:
			rel, _ := filepath.Rel(filepath.Dir(folders.operon), found.Path)
			got = filepath.ToSlash(rel)
			if string(found.Protocol) != strings.SplitN(got, "/", 2)[0] {
				t.Errorf("%s: protocol %s", name, found.Protocol)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	want := []string{"both/v1", "dotted.example.org/v1", "sample/v1", "two/v1", "two/v2-alpha"}
	if got := folders.Keys(); !slices.Equal(got, want) {
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
	for text, want := range map[string]string{
		`{"error": true}`: "", "{}\n": "",
		"": "the plugin a/v1 gave no valid answer: it is empty", "{} {}": "the plugin a/v1 gave no valid answer: there is more text after it",
		`{"universe": 3}`: "the plugin a/v1 gave no valid answer: json: cannot unmarshal number into Go struct field peerResponse.universe of type map[string]string",
	} {
		var into peerResponse
		err := decode("a/v1", []byte(text), &into)
		if got := errorText(err); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
