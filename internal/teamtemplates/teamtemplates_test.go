package teamtemplates

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/spf13/afero"
)

var own = fstest.MapFS{
	"golang/init/Makefile.tmpl": {Data: []byte("all: {{ .Name }}\n")},
	"golang/init/go.mod.tmpl":   {Data: []byte("module x\n")},
	"golang/init/notes.txt":     {Data: []byte("notes\n")},
	"shell/init/Dockerfile":     {Data: []byte("FROM scratch\n")},
}

func plan(t *testing.T, files map[string]string) *scaffold.Plan {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, content := range files {
		if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := scaffold.New(fsys, scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLayer(t *testing.T) {
	t.Parallel()
	team, unknown, err := readTemplates(plan(t, map[string]string{
		".operon/templates/golang/init/Makefile.tmpl":  "team: {{ .Name }}\n",
		".operon/templates/golang/init/notes.txt":      "",
		".operon/templates.txt":                        "not below the folder",
		".operon/templates/.DS_Store":                  "\x00",
		".operon/templates/golang/init/.notes.txt.swp": "",
		".operon/templates/golang/init/notes.txt~":     "",
	}), "../team", own)
	if err != nil || len(unknown) > 0 {
		t.Fatal(err, unknown)
	}
	got := map[string]string{}
	err = render.Tree(Layer(own, team), "golang/init", nil, map[string]string{"Name": "fleet"}, func(name string, _ fs.FileMode, content []byte) error {
		got[name] = string(content)
		return nil
	})
	if diff := cmp.Diff(map[string]string{"Makefile": "team: fleet\n", "go.mod": "module x\n"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if team[0].File != "../team/.operon/templates/golang/init/Makefile.tmpl" {
		t.Error(team[0].File)
	}
}

func TestOutdated(t *testing.T) {
	t.Parallel()
	for copied, want := range map[string]bool{"notes\n": false, "older notes\n": true, "": false} {
		item := Template{Name: "golang/init/notes.txt", Content: []byte("ours\n")}
		if copied != "" {
			item.Copied = []byte(copied)
		}
		if item.Outdated(own) != want {
			t.Errorf("copied %q: outdated is %v", copied, !want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, content, want, hint string }{
		"typo":      {"golang/init/Makefle.tmpl", "", ".operon/templates/golang/init/Makefle.tmpl: operon has no template golang/init/Makefle.tmpl", "did you mean golang/init/Makefile.tmpl?"},
		"elsewhere": {"golang/Dockerfile", "", ".operon/templates/golang/Dockerfile: operon has no template golang/Dockerfile", "did you mean shell/init/Dockerfile?"},
		"go.mod":    {"golang/init/go.mod.tmpl", "", ".operon/templates/golang/init/go.mod.tmpl: operon completes golang/init/go.mod.tmpl itself, so no template replaces it", "add requirements to go.mod of the project"},
		"binary":    {"golang/init/notes.txt", "a\x00b", ".operon/templates/golang/init/notes.txt is not a text template", "templates are texts of at most 1 MiB"},
		"syntax":    {"golang/init/Makefile.tmpl", "\n{{ end }}", ".operon/templates/golang/init/Makefile.tmpl:2: unexpected {{end}}", "operon templates show --built-in golang/init/Makefile.tmpl prints operon's template, with the values that it has"},
		"neither":   {"readme", "", ".operon/templates/readme: operon has no template readme", "operon templates list lists all"},
	} {
		_, unknown, err := readTemplates(plan(t, map[string]string{File(tc.file): tc.content}), "", own)
		if len(unknown) > 0 { // a warning
			err = unknown[0]
		}
		if err == nil || err.Error() != tc.want || fault.HintOf(err) != tc.hint || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s: %v; hint %s; code %d", name, err, fault.HintOf(err), fault.Code(err))
		}
	}
}
