package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
)

// scaffolded returns a new project with the given plugins in a folder.
func scaffolded(t *testing.T, dir, plugins string) string {
	t.Helper()
	project := filepath.Join(dir, strings.NewReplacer("/", "", ",", "").Replace(plugins))
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"init", "--domain", "example.org", "--plugins", plugins}
	if strings.HasPrefix(plugins, "go/") {
		args = append(args, "--repo", "example.org/fleet")
	}
	if code, out := runIn(t, project, args...); code != 0 {
		t.Fatal(out)
	}
	return project
}

// runIn runs operon in a folder without network and returns its exit code and its output. Whatever starts something is interrupted.
func runIn(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	code, stdout, stderr := streamsIn(t, dir, args...)
	return code, stdout + stderr
}

// streamsIn is runIn with stdout and stderr apart.
func streamsIn(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	home := t.TempDir()
	telemetry := filepath.Join(home, "go", "telemetry") // otherwise the go command leaves a process that writes there
	if err := os.MkdirAll(telemetry, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &command.App{In: strings.NewReader(""), Out: &out, Err: &err, Dir: dir, Program: os.Args[0], Now: time.Now,
		Environ: append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "OPERON_CACHE=off",
			"GOPROXY=off", "KUBECONFIG="+filepath.Join(home, "none"))}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	code = Run(ctx, a, args)
	return code, out.String(), err.String()
}
