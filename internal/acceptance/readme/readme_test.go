package readme

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// TestReadme runs the commands of README.md's console blocks, in order and as in
// one shell session, and compares what they print with what stands there. What
// belongs to a machine or a moment may differ.
func TestReadme(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("README.md shows the paths of Linux")
	}
	readme := repository.Path("README.md")
	src, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	s := shell{t: t, dir: t.TempDir(), env: filepath.Join(t.TempDir(), "env"), home: operontest.HomeWithAssets(t)}
	defer s.run("operon envtest stop --all")
	got := consoleBlock.ReplaceAllStringFunc(string(src), func(block string) string {
		var out strings.Builder
		for line := range strings.Lines(block) {
			switch {
			case strings.HasPrefix(line, "```"):
				out.WriteString(line)
			case strings.HasPrefix(line, "$ "):
				out.WriteString(line)
				out.WriteString(s.run(strings.TrimPrefix(line, "$ ")))
			}
		}
		return out.String()
	})
	if *operontest.Update && lasting(got) != lasting(string(src)) {
		if err := os.WriteFile(readme, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(lasting(string(src)), lasting(got)); diff != "" {
		t.Errorf("README.md is not true (-README +now):\n%s", diff)
	}
}

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n.*?^```\n")

	// What differs from run to run: durations and ages, the port, and when and as
	// which process a control plane was started.
	passing = regexp.MustCompile(`\b\d+(\.\d+)? ?s\b|\(cached\)|127\.0\.0\.1:\d+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|process +\d+`)
)

// lasting is a text without what differs from run to run.
func lasting(text string) string { return passing.ReplaceAllString(text, "*") }

// shell runs commands as a person would type them one after the other.
type shell struct {
	t    *testing.T
	dir  string
	env  string // a file with what the commands exported
	home string // stands as /home/you in what they print
}

func (s *shell) run(line string) string {
	s.t.Helper()
	pwd := filepath.Join(s.t.TempDir(), "pwd")
	cmd := exec.Command("bash", "-c", "set -o pipefail\n[ ! -f "+s.env+" ] || . "+s.env+"\n"+line+
		"\nstatus=$?; pwd > "+pwd+"; export -p > "+s.env+"; exit $status")
	cmd.Dir = s.dir
	cmd.Env = operontest.Environ("LC_ALL=C", "KUBEBUILDER_ASSETS=", "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=2m",
		"XDG_DATA_HOME="+filepath.Join(s.home, ".local", "share"), "XDG_STATE_HOME="+filepath.Join(s.home, ".local", "state"))
	// A screen shows both streams; which comes first is chance where there is a pipe.
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		s.t.Logf("%s: %v", strings.TrimSpace(line), err)
	}
	if dir, err := os.ReadFile(pwd); err == nil {
		s.dir = strings.TrimSpace(string(dir))
	}
	text := strings.ReplaceAll(out.String()+errs.String(), s.home, "/home/you")
	return strings.ReplaceAll(text, runtime.GOOS+"-"+runtime.GOARCH, "linux-amd64")
}
