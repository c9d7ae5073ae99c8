//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPeer shows what README's table says of kubebuilder, on the binary that
// testdata/peers pins. A wrapper around the go command records its arguments
// and leaves out what needs the network.
func TestPeer(t *testing.T) {
	kubebuilder := filepath.Join(peers(t), "kubebuilder")
	stub := t.TempDir()
	calls := filepath.Join(stub, "calls")
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho \"$@\" >> " + calls + "\ncase \"$1 $2\" in 'mod tidy'|get*) exit 0;; esac\nexec " + goCommand + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(stub, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", stub+string(filepath.ListSeparator)+os.Getenv("PATH"))
	run := func(dir string, args ...string) (string, error) {
		cmd := exec.Command(kubebuilder, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(dir string, args ...string) {
		t.Helper()
		if out, err := run(dir, args...); err != nil {
			t.Fatalf("kubebuilder %v: %v\n%s", args, err, out)
		}
	}
	create := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--resource", "--controller", "--make=false"}

	dir := t.TempDir()
	must(dir, "init", "--domain", "example.org", "--repo", "example.org/fleet", "--skip-go-version-check", "--fetch-deps=false")
	if log := readFile(t, calls); !strings.Contains(log, "mod tidy") {
		t.Errorf("init without fetching called go with:\n%s\nwant mod tidy among it", log)
	}
	must(dir, create...)
	if out, err := run(dir, create...); err == nil || !strings.Contains(out, "exists") {
		t.Errorf("a repeated create api: %v\n%s", err, out)
	}
	if out, err := run(dir, append(create, "--dry-run")...); err == nil || !strings.Contains(out, "unknown flag: --dry-run") {
		t.Errorf("create api --dry-run: %v\n%s", err, out)
	}
	sample := readYAML(t, filepath.Join(dir, "config/samples/ship_v1_frigate.yaml"))
	if spec, ok := lookup(sample, "spec"); !ok || spec != "<nil>" {
		t.Errorf("the sample's spec is %s, want null", spec)
	}

	main := filepath.Join(dir, "cmd/main.go")
	var kept []string
	for line := range strings.Lines(readFile(t, main)) {
		if !strings.Contains(line, "+kubebuilder:scaffold") {
			kept = append(kept, line)
		}
	}
	if err := os.WriteFile(main, []byte(strings.Join(kept, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	must(dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Sloop", "--resource", "--controller", "--make=false")
	if strings.Contains(readFile(t, main), "SloopReconciler") {
		t.Error("the controller was wired without a marker")
	}

	failed := t.TempDir()
	if _, err := run(failed, "init", "--domain", "example.org", "--repo", "example.org/fleet", "--license", "mit", "--skip-go-version-check"); err == nil {
		t.Error("an unknown licence was accepted")
	}
	if tree := readTree(t, failed); len(tree) == 0 {
		t.Error("a failed init left nothing behind")
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
