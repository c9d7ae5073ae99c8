//go:build testall

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

// TestTours runs the commands in the console blocks of each page, in one shell session, and
// compares their output with the text of the blocks. Durations, ports and the like may
// differ. With -update it rewrites the blocks.
func TestTours(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the pages show the paths of Linux")
	}
	for _, name := range []string{"README.md", "docs/helm.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkTour(t, repository.Path(filepath.FromSlash(name)))
		})
	}
}

func checkTour(t *testing.T, page string) {
	t.Helper()
	src, err := os.ReadFile(page)
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
	if *operontest.Update && stable(got) != stable(string(src)) {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(stable(string(src)), stable(got)); diff != "" {
		t.Errorf("%s shows other output (-page +now):\n%s", filepath.Base(page), diff)
	}
}

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n.*?^```\n")

	// volatile matches what differs from run to run: durations, ages, ports, dates and
	// process ids.
	volatile = regexp.MustCompile(`\b\d+(\.\d+)? ?s\b|\(cached\)|127\.0\.0\.1:\d+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|process +\d+`)
)

// slow matches what a command prints only if it takes long.
var slow = regexp.MustCompile(`(?m)^compiling the project and its dependencies; .*\n`)

// stable returns a text without the parts that differ from run to run.
func stable(text string) string {
	return volatile.ReplaceAllString(slow.ReplaceAllString(text, ""), "*")
}

// shell runs commands one after the other, as in one shell session.
type shell struct {
	t    *testing.T
	dir  string
	env  string // a file with the exported variables
	home string // replaced by /home/you in the output
}

func (s *shell) run(line string) string {
	s.t.Helper()
	pwd := filepath.Join(s.t.TempDir(), "pwd")
	cmd := exec.Command("bash", "-c", "set -o pipefail\n[ ! -f "+s.env+" ] || . "+s.env+"\n"+line+
		"\nstatus=$?; pwd > "+pwd+"; export -p > "+s.env+"; exit $status")
	cmd.Dir = s.dir
	cmd.Env = operontest.Environ("LC_ALL=C", "KUBEBUILDER_ASSETS=", "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=2m",
		"XDG_DATA_HOME="+filepath.Join(s.home, ".local", "share"), "XDG_STATE_HOME="+filepath.Join(s.home, ".local", "state"))
	// A terminal shows both streams. With pipes, their order would be random.
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
