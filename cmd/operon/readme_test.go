package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadme runs the commands of README.md's console blocks, in order and in
// one shell session's folder, and compares what they print with what stands
// there. Durations may differ.
func TestReadme(t *testing.T) {
	const readme = "../../README.md"
	src, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBEBUILDER_ASSETS", strings.TrimSpace(operon(t, ".", "envtest", "path")))
	s := shell{t: t, dir: t.TempDir()}
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
	if *update && duration.ReplaceAllString(got, "") != duration.ReplaceAllString(string(src), "") {
		if err := os.WriteFile(readme, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := duration.ReplaceAllString(string(src), "0s")
	if diff := cmp.Diff(want, duration.ReplaceAllString(got, "0s")); diff != "" {
		t.Errorf("README.md is not true (-README +now):\n%s", diff)
	}
}

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n.*?^```\n")
	duration     = regexp.MustCompile(`\b\d+\.\d+s\b|\(cached\)`)
)

// shell runs commands as a person would type them one after the other.
type shell struct {
	t   *testing.T
	dir string
}

func (s *shell) run(line string) string {
	s.t.Helper()
	pwd := filepath.Join(s.t.TempDir(), "pwd")
	cmd := exec.Command("bash", "-c", "set -o pipefail\n"+line+"\nstatus=$?; pwd > "+pwd+"; exit $status")
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1767225600", "GOPROXY=off", "LC_ALL=C")
	// A screen shows both streams; which comes first is chance where there is a pipe.
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		s.t.Logf("%s: %v", strings.TrimSpace(line), err)
	}
	if dir, err := os.ReadFile(pwd); err == nil {
		s.dir = strings.TrimSpace(string(dir))
	}
	return out.String() + errs.String()
}
