package external

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
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
		"kubebuilder/sample/docs/sample":                        program,
	})
	for name, want := range map[string]string{
		"sample/v1": "kubebuilder/sample/v1/sample", "sample": "kubebuilder/sample/v1/sample", "both/v1": "operon/both/v1/both.sh",
		"dotted.example.org/v1": "kubebuilder/dotted.example.org/v1/dotted.example.org", "two/v2-alpha": "kubebuilder/two/v2-alpha/two.sh",
		"sample/v2": "", "other/v1": "", "../sample/v1": "", "sample/../v1": "", "go.kubebuilder.io/v4": "", "badversion/one": "", "badversion": "", "": "",
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
	const invalid = "the plugin a/v1 returned an invalid response: "
	for text, want := range map[string]string{
		`{"error": true, "command": "flags"}`: "", "{}\n": "", "": invalid + "it is empty", "{} {}": invalid + "there is more text after it",
		`{"universe": 3}`: invalid + "the key universe must not be of the type number", "[]": invalid + "the document must not be of the type array",
	} {
		var into kubebuilderResponse
		if got := errorText(decode("a/v1", []byte(text), false, &into)); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	for text, want := range map[string]string{
		`{"config": {"a": 5}}`: "", `{"config": null}`: "",
		`{"files": []} {"error": "second"}`: invalid + "there is more text after it",
		`{"config": 5}`:                     invalid + "the key config must not be of the type number",
		`{"file": []}`:                      invalid + `unknown key "file"`,
	} {
		var into response
		if got := errorText(decode("a/v1", []byte(text), true, &into)); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestManifest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"events: [init]\nreads: [Makefile, config/*/*.yaml]\n": "",
		"event: [init]\n":                         `unknown key "event"`,
		"events: init\n":                          "the key events must not be of the type string",
		"events: [init\n":                         "yaml: line 1: did not find expected ',' or ']'",
		"reads: [a]\n":                            "the key events is missing",
		"events: [init]\nreads: [../x]\n":         `reads: "../x" is not a path in the project`,
		"events: [init]\nreads: [/etc/x]\n":       `reads: "/etc/x" is not a path in the project`,
		"events: [init]\nreads: ['a[']\n":         `reads: "a[" is not a valid pattern`,
		"events: [init]\nflags: [{name: A}]\n":    `flags: "A" is not a valid flag name`,
		"events: [init]\nflags: [{name: help}]\n": `flags: "help" is not a valid flag name`,
		"events: [init, edit]\nflags: [{name: a, events: [init]}, {name: b}, {name: a, events: [edit]}]\n": "flags: a occurs twice",
		"events: [init]\nflags: [{name: a, type: bool, values: [x]}]\n":                                    "flags: a is a bool, and has values",
		"events: [init]\nflags: [{name: a, default: z, values: [x]}]\n":                                    `flags: the values of a do not include its default "z"`,
		"events: [init]\nflags: [{name: a, default: x, values: [x]}]\n":                                    "",
	} {
		folders := install(t, map[string]string{"operon/a/v1/a": "#!/bin/sh\n", "operon/a/v1/plugin.yaml": text})
		file := filepath.Join(folders.operon, "a", "v1", "plugin.yaml")
		_, err := readManifest(filepath.Join(filepath.Dir(file), "a"))
		if got := strings.TrimPrefix(errorText(err), file+": "); got != want {
			t.Errorf("%s%s", text, got)
		}
	}
}

func TestInstallFolders(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	for _, test := range []struct {
		env  map[string]string
		want Folders
	}{
		{nil, Folders{}},
		{map[string]string{"XDG_CONFIG_HOME": home}, Folders{filepath.Join(home, "operon", "plugins"), filepath.Join(home, "kubebuilder", "plugins")}},
		{map[string]string{"OPERON_PLUGINS": "rel", "EXTERNAL_PLUGINS_PATH": home}, Folders{filepath.Join(work, "rel"), home}},
		{map[string]string{"HOME": "rel", "APPDATA": "rel"}, Folders{}},
	} {
		if got := InstallFolders(func(name string) string { return test.env[name] }, work); got != test.want {
			t.Errorf("%v: %v", test.env, got)
		}
	}
}

// TestOptions checks what a plugin gets of the flags of the command line.
func TestOptions(t *testing.T) {
	t.Parallel()
	o := &OperonPlugin{manifest: manifest{Flags: []manifestFlag{
		{Name: "level", Values: []string{"low", "high"}}, {Name: "teams", Type: "list", Values: []string{"a", "b"}}, {Name: "text"}, {Name: "deep", Type: "bool"},
	}}}
	for _, test := range []struct {
		options map[string]any
		want    string
	}{
		{nil, "map[]"},
		{map[string]any{"other": "x", "text": "any", "deep": true}, "map[deep:true text:any]"},
		{map[string]any{"level": "low", "teams": []string{"a", "b"}}, "map[level:low teams:[a b]]"},
		{map[string]any{"level": "middle"}, `--level cannot be "middle"; valid values: low, high`},
		{map[string]any{"level": ""}, `--level cannot be ""; valid values: low, high`},
		{map[string]any{"teams": []string{"a", "c"}}, `--teams cannot be "c"; valid values: a, b`},
	} {
		own, err := o.declaredOptions(plugin.Event{Options: test.options})
		got := fmt.Sprint(own)
		if err != nil {
			got = err.Error() + "; " + fault.HintOf(err)
		}
		if got != test.want {
			t.Errorf("%v: %s, want %s", test.options, got, test.want)
		}
	}
}

// TestRead checks which files a plugin gets for its manifest.
func TestRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{"a.txt": "a", "b.txt": "b", "large.txt": strings.Repeat("a", scaffold.MaxText+1), "zero.txt": "\x00", "api/c.txt": "c"} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := cmp.Or(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmp.Or(os.Symlink("api", filepath.Join(root, "link")), os.Symlink("a.txt", filepath.Join(root, "link.txt"))); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ reads, want string }{
		{"*", "a.txt, b.txt"}, {"*.txt", "a.txt, b.txt"}, {"*/*", "api/c.txt"}, {"a.txt a.txt a.* absent", "a.txt"}, {"large.txt zero.txt", ""},
		{"link.txt", "link.txt"}, {"link/c.txt", "link/c.txt"}, {"api", "error: api is a folder, not a file"},
		{"link", "error: link is a link to the folder api, not a file"}, {".git/config", `error: path ".git/config" is in .git, which no plan may change`},
	} {
		plan, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), root), scaffold.Options{})
		if err != nil {
			t.Fatal(err)
		}
		files, err := (&OperonPlugin{manifest: manifest{Reads: strings.Fields(test.reads)}}).read(plan)
		got := strings.Join(slices.Sorted(maps.Keys(files)), ", ")
		if err != nil {
			if got = "error: " + err.Error(); fault.HintOf(err) == "" {
				t.Errorf("%s: no hint", test.reads)
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.reads, got, test.want)
		}
	}
}

// TestReadLimit expects an error for more text than a plugin may get.
func TestReadLimit(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	text := bytes.Repeat([]byte("a"), scaffold.MaxText)
	for i := range maxTexts/scaffold.MaxText + 1 {
		if err := afero.WriteFile(fsys, fmt.Sprintf("%d.txt", i), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := scaffold.New(fsys, scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&OperonPlugin{manifest: manifest{Reads: []string{"*.txt"}}}).read(plan); errorText(err) != "the files have more than 64 MiB" {
		t.Error(err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
