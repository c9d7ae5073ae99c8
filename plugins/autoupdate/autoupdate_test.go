package autoupdate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"go.yaml.in/yaml/v3"
)

const workflow = ".github/workflows/auto_update.yml"

func planned(t *testing.T, e plugin.Event, files map[string]string) *scaffold.Plan {
	t.Helper()
	disk := afero.NewMemMapFs()
	for name, content := range files {
		if err := afero.WriteFile(disk, name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := scaffold.New(disk, scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOtherWorkflow keeps the workflow that kubebuilder wrote.
func TestOtherWorkflow(t *testing.T) {
	t.Parallel()
	e := plugin.Event{Type: plugin.Edit, Before: &project.Config{}, Project: &project.Config{Plugins: map[string]any{Key: map[string]any{}}}}
	p := planned(t, e, map[string]string{workflow: "name: Auto Update\n"})
	if got, err := p.Read(workflow); err != nil || string(got) != "name: Auto Update\n" {
		t.Errorf("%v\n%s", err, got)
	}
}

// script returns the commands of the last step of the workflow.
func script(t *testing.T) string {
	t.Helper()
	c := &project.Config{Repo: "example.org/fleet", Plugins: map[string]any{Key: map[string]any{}}}
	e := plugin.Event{Type: plugin.Init, Project: c}
	text, err := planned(t, e, nil).Read(workflow)
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	steps := w.Jobs["update"].Steps
	return steps[len(steps)-1].Run
}

// TestWorkflow runs the commands of the workflow in a repository, with programs that stand in for operon
// and for the command line of GitHub.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		operon   string // commands
		known    string // the number of an open issue or pull request
		fails    bool
		want     []string // calls of gh
		pushed   bool
		reported string // a line of the report
	}{
		"up to date":    {operon: "echo nothing to do"},
		"changed":       {operon: "echo update Makefile; echo new >>Makefile", want: []string{"pr list", "pr create"}, pushed: true, reported: "update Makefile"},
		"changed again": {operon: "echo new >>Makefile", known: "7", want: []string{"pr list", "pr edit 7"}, pushed: true},
		"conflict":      {operon: "echo conflict Makefile; exit 3", want: []string{"issue list", "issue create"}, reported: "conflict Makefile"},
		"old conflict":  {operon: "exit 3", known: "5", want: []string{"issue list", "issue edit 5"}},
		"failed":        {operon: "exit 1", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			programs, repo, remote := filepath.Join(dir, "bin"), filepath.Join(dir, "repo"), filepath.Join(dir, "remote")
			write := func(name, content string) {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			write(filepath.Join(programs, "operon"), "#!/bin/sh\ncase $1 in init) "+tt.operon+" ;; version) echo operon v1 ;; esac\n")
			write(filepath.Join(programs, "gh"), `#!/bin/sh
echo "$1 $2 $3" >>"$CALLS"
case "$2" in list) echo "$KNOWN" ;; esac
while [ $# -gt 1 ]; do case $1 in --body-file) cp "$2" "$CALLS.report" ;; esac; shift; done
`)
			write(filepath.Join(repo, "Makefile"), "all:\n")
			run := func(args ...string) (string, error) {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir = repo
				cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"), "RUNNER_TEMP="+dir, "HOME="+dir,
					"BRANCH=operon/update-scaffold", "CALLS="+filepath.Join(dir, "calls"), "KNOWN="+tt.known, "GIT_CONFIG_NOSYSTEM=1")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			for _, command := range []string{"git init -q --bare " + remote, "git init -q", "git remote add origin " + remote, "git add -A", "git -c user.name=a -c user.email=a@b commit -qm start"} {
				if out, err := run(strings.Fields(command)...); err != nil {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
			}
			out, err := run("bash", "-eo", "pipefail", "-c", script(t))
			if (err != nil) != tt.fails {
				t.Fatalf("%v\n%s", err, out)
			}
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			got := strings.Split(strings.TrimSpace(string(calls)), "\n")
			if len(tt.want) == 0 && len(calls) > 0 || len(tt.want) > 0 && len(got) != len(tt.want) {
				t.Fatalf("calls %q, want %q\n%s", got, tt.want, out)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("call %q, want %q", got[i], want)
				}
			}
			if report, _ := os.ReadFile(filepath.Join(dir, "calls.report")); !strings.Contains(string(report), tt.reported) {
				t.Errorf("the report lacks %q:\n%s", tt.reported, report)
			}
			_, err = run("git", "--git-dir", remote, "rev-parse", "--verify", "-q", "operon/update-scaffold")
			if pushed := err == nil; pushed != tt.pushed {
				t.Errorf("pushed: %v, want %v\n%s", pushed, tt.pushed, out)
			}
		})
	}
}
