//go:build unix

package generate

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// mistake is a defect of a project or of the environment, in which commands cannot load the
// packages of the project.
type mistake struct {
	env   []string
	files map[string]string // replaces files; an empty content removes them
	gone  string            // a folder that is removed first
	// want is the first line of the errors of generate, and hint is its hint.
	want, hint string
	// others is part of the output of the other commands. If it is empty, they print the same
	// as generate.
	others string
	// works lists the commands that succeed, because they mend the defect or do not notice it.
	works []string
}

const createYacht = "create api --group ship --version v1 --kind Yacht"

// TestMistakes expects one line with the error and one with a hint from each command that cannot
// load the project, and that no command then writes anything.
func TestMistakes(t *testing.T) {
	t.Parallel()
	project := operontest.InitProject(t)
	operontest.Run(t, project, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate")
	tree := treetest.Read(t, project)
	vendored := "the folder vendor does not match go.mod"
	initAgain := strings.Join(operontest.InitArgs, " ")
	mends := []string{createYacht, "edit --multigroup", initAgain}
	for name, m := range map[string]mistake{
		"no HOME": {
			env:  []string{"HOME=", "GOPATH=", "GOMODCACHE=", "XDG_CACHE_HOME=", "OPERON_CACHE=off"},
			want: "the go command has no folder for modules, because HOME is not set", hint: "set HOME, or GOPATH and GOCACHE",
			works: []string{initAgain},
		},
		"GOFLAGS=-mod=vendor": {
			env:  []string{"GOFLAGS=-mod=vendor"},
			want: "GOFLAGS contains -mod=vendor, but there is no folder vendor", hint: "run go mod vendor, or remove the flag",
			works: []string{initAgain},
		},
		"stale vendor": {
			files: map[string]string{"vendor/modules.txt": "## other\n"},
			want:  vendored, hint: "run go mod vendor, or delete the folder",
			works: []string{initAgain},
		},
		"GO111MODULE=off": {
			env:  []string{"GO111MODULE=off"},
			want: "GO111MODULE=off disables Go modules", hint: "unset GO111MODULE; if go env -w set it, run go env -u GO111MODULE",
			works: []string{initAgain},
		},
		"no requirements": {
			files: map[string]string{"go.mod": "module example.org/fleet\n\ngo 1.26.0\n"},
			want:  "api/v1/frigate_types.go:20:2: no module that go.mod requires has the package of this import, nor those of N more imports",
			hint:  "go mod tidy", works: mends,
		},
		"no go.sum": {
			files: map[string]string{"go.sum": ""},
			want:  "go.sum: the file is missing, so no module can be verified", hint: "go mod tidy", works: mends,
		},
		"go.sum without entries": {
			files: map[string]string{"go.sum": "example.net/other v1.0.0/go.mod h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"},
			want:  "api/v1/frigate_types.go:20:2: go.sum has no entry for the module of this import, nor for those of N more imports",
			hint:  "go mod tidy", works: mends,
		},
		"missing replaced module": {
			files: map[string]string{"go.mod": tree["go.mod"] + "\nreplace sigs.k8s.io/controller-runtime => ../nowhere\n"},
			want:  "go.mod: it replaces sigs.k8s.io/controller-runtime@v0.25.2 with ../nowhere, which does not exist",
			hint:  "correct the replace directive in go.mod, or restore the folder", works: []string{initAgain},
		},
		"header that is not a comment": {
			files: map[string]string{"hack/boilerplate.go.txt": "Copyright\n"},
			want:  "hack/boilerplate.go.txt: line 1 is not part of a Go comment",
			hint:  "all Go files start with it: write one Go comment, or leave it empty", others: `"Copyright" is outside a comment`,
		},
		"nested module": {
			files: map[string]string{
				"api/go.mod":  "module example.org/fleet/api\n\ngo 1.26.0\n",
				"api/a1/a.go": "package a1\n\nimport _ \"k8s.io/api/core/v1\"\n",
			},
			want: "api/go.mod: it makes api another module, so the project lacks package example.org/fleet/api/v1",
			hint: "delete it, or require that module in go.mod", others: "api/go.mod: it makes api another module", works: []string{initAgain},
		},
		"file api": {
			gone: "api", files: map[string]string{"api": "text\n"},
			want: "api: it is a file, so it cannot contain api/v1", hint: "move that file away, or restore the folder from version control",
			others: "move",
		},
		"file internal": {
			gone: "internal", files: map[string]string{"internal": "text\n"},
			want: "internal: it is a file, so it cannot contain internal/controller", hint: "move that file away, or restore the folder from version control",
			others: "move",
		},
		"file .operon": {
			gone: ".operon", files: map[string]string{".operon": "text\n"},
			want: ".operon is a file, so it cannot contain .operon/journal", hint: "move that file away",
		},
		"file .operon/journal": {
			gone: ".operon/journal", files: map[string]string{".operon/journal": "text\n"},
			want: ".operon/journal must be a folder, not reached through a symbolic link", hint: "remove it, then repeat the command",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			treetest.Write(t, dir, tree)
			m.apply(t, dir)
			for _, command := range []string{"generate", createYacht, "edit --multigroup", initAgain} {
				if slices.Contains(m.works, command) {
					continue
				}
				before := treetest.Read(t, dir)
				got, code := m.run(t, dir, strings.Fields(command))
				if diff := cmp.Diff(before, treetest.Read(t, dir)); diff != "" {
					t.Errorf("%s wrote:\n%s", command, diff)
				}
				if code == 0 {
					t.Errorf("%s succeeds: %s", command, got)
				}
				want := "error: " + m.want + "\nhint:  " + m.hint + "\n"
				if m.others == "" || command == "generate" {
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s (-want +got):\n%s", command, diff)
					}
				} else if strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "\nhint:  ") || !strings.Contains(got, m.others) {
					t.Errorf("%s prints:\n%s", command, got)
				}
			}
		})
	}
}

func (m mistake) apply(t *testing.T, dir string) {
	t.Helper()
	if m.gone != "" {
		if err := os.RemoveAll(filepath.Join(dir, m.gone)); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range m.files {
		if content != "" {
			treetest.MakeDir(t, filepath.Dir(filepath.Join(dir, name)))
			treetest.WriteFile(t, filepath.Join(dir, name), content)
		} else if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs operon and returns what it prints to stderr, and its exit code.
func (m mistake) run(t *testing.T, dir string, args []string) (stderr string, code int) {
	t.Helper()
	var text strings.Builder
	code = operontest.Do(dir, operontest.Environ(m.env...), io.Discard, &text, args...)
	return moreImports.ReplaceAllString(text.String(), "of N more imports"), code
}

var moreImports = regexp.MustCompile(`of \d+ more imports`)
