package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

// deployed builds config/default of a project with webhooks, with all parts enabled.
func deployed(t *testing.T) map[string]map[string]any {
	t.Helper()
	c := fleet()
	fsys := started(t, c)
	if err := create(t, fsys, c, "guard", "validate=Secret"); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("#- ../prometheus", "- ../prometheus", "#- ../network-policy", "- ../network-policy").Replace(read(t, fsys, defaultEntries))
	if err := afero.WriteFile(fsys, defaultEntries, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return built(t, fsys, "config/default")
}

// TestRestart checks the restart after a new certificate: the startup probe records the
// certificate that the engine has read, and the liveness probe fails when another one is
// mounted.
func TestRestart(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the engine runs on Linux")
	}
	container := at(deployed(t)["Deployment/fleet-system/fleet-controller-manager"], "spec", "template", "spec", "containers", 0)
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A replacement for the engine that answers the probes.
	write("bin/curl", "#!/bin/sh\nfor url; do :; done\n[ \"$url\" = http://127.0.0.1:9115/ ] && [ -e "+dir+"/up ]\n")
	write("validating-certs/tls.crt", "first")
	write("tmp/other", "")
	probe := func(name string) error {
		words := at(container, name, "exec", "command").([]any)
		if len(words) != 3 || words[0] != "sh" || words[1] != "-c" {
			t.Fatalf("the %s is %v", name, words)
		}
		script := strings.NewReplacer("/validating-certs/", dir+"/validating-certs/", "/tmp/", dir+"/tmp/").Replace(words[2].(string))
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		return cmd.Run()
	}
	want := func(when, name string, well bool) {
		t.Helper()
		if err := probe(name); (err == nil) != well {
			t.Errorf("%s, %s: %v", name, when, err)
		}
	}
	want("before it answers", "startupProbe", false)
	write("up", "")
	want("before the start is noted", "livenessProbe", true) // the first try of the start noted it
	want("when it answers", "startupProbe", true)
	want("with the certificate it has read", "livenessProbe", true)
	write("validating-certs/tls.crt", "second")
	want("with another certificate", "livenessProbe", false)
	want("once it began anew", "startupProbe", true)
	want("with that certificate", "livenessProbe", true)
	if err := os.Remove(filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	want("when it does not answer", "livenessProbe", false)
	if at(container, "startupProbe", "periodSeconds").(int)*at(container, "startupProbe", "failureThreshold").(int) < 60 {
		t.Error("the startup probe is too short for an engine with many hooks")
	}
}
