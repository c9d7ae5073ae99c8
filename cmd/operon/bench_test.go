package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The benchmarks time whole processes, operon and its peer in turn, and report
// the medians and their ratio. They judge nothing: machines differ.

// BenchmarkInit starts a project. operon works with an empty module cache and
// without network; kubebuilder gets a warm cache and the network, for its init
// runs `go mod tidy`.
func BenchmarkInit(b *testing.B) {
	versus(b, nil,
		[]string{"init", "--domain", "example.org", "--repo", "example.org/fleet"},
		[]string{"init", "--domain", "example.org", "--repo", "example.org/fleet", "--fetch-deps=false"})
}

// BenchmarkCreateAPI adds a kind without generating.
func BenchmarkCreateAPI(b *testing.B) {
	create := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--resource", "--controller", "--make=false"}
	versus(b, []string{"init", "--domain", "example.org", "--repo", "example.org/fleet"}, create, create)
}

// BenchmarkCreateAPIAndGenerate adds a kind and generates everything.
func BenchmarkCreateAPIAndGenerate(b *testing.B) {
	create := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--resource", "--controller"}
	versus(b, []string{"init", "--domain", "example.org", "--repo", "example.org/fleet"}, create, create)
}

// BenchmarkGenerate generates a golden project in one process each.
func BenchmarkGenerate(b *testing.B) {
	fleet, err := filepath.Abs(filepath.Join(goldenDir, "fleet"))
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fleet)); err != nil {
		b.Fatal(err)
	}
	operon, peer := built(b), peerProgram(b, "controller-gen")
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, timed(b, dir, operon, "generate"))
		theirs = append(theirs, timed(b, dir, peer,
			"rbac:roleName=manager-role", "crd", "webhook", "object:headerFile=hack/boilerplate.go.txt",
			"paths=./...", "output:crd:artifacts:config=config/crd/bases"))
	}
	compare(b, ours, theirs)
}

// versus times operon and kubebuilder on the same step, each in a fresh folder
// in which prepare ran first.
func versus(b *testing.B, prepare, ours, theirs []string) {
	operon, peer := built(b), peerProgram(b, "kubebuilder")
	run := func(tool string, step []string) time.Duration {
		dir := filepath.Join(b.TempDir(), "fleet")
		if err := os.Mkdir(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if prepare != nil {
			timed(b, dir, tool, prepare...)
		}
		return timed(b, dir, tool, step...)
	}
	run(operon, ours)
	run(peer, theirs)
	var a, k []time.Duration
	for b.Loop() {
		a = append(a, run(operon, ours))
		k = append(k, run(peer, theirs))
	}
	compare(b, a, k)
}

// timed runs a command and returns its wall time.
func timed(b *testing.B, dir, name string, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if filepath.Base(name) == "operon" {
		cmd.Env = append(os.Environ(), "GOPROXY=off")
		if args[0] == "init" || slices.Contains(args, "--make=false") {
			cmd.Env = append(cmd.Env, "GOMODCACHE="+filepath.Join(b.TempDir(), "empty"))
		}
	}
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return time.Since(start)
}

func compare(b *testing.B, ours, theirs []time.Duration) {
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Microseconds()) / 1000
	}
	a, k := median(ours), median(theirs)
	b.ReportMetric(0, "ns/op") // the whole loop's time says nothing
	b.ReportMetric(a, "operon-ms")
	b.ReportMetric(k, "peer-ms")
	b.ReportMetric(k/a, "times-faster")
}

// built returns the binary as users get it: the one that other tests run is a
// copy of the test binary, and slower to start.
func built(b testing.TB) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "operon")
	if out, err := exec.Command("go", "build", "-o", name, ".").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return name
}

// peerProgram returns the path of kubebuilder or controller-gen, of the version
// that testdata/peers pins. The go command builds it and keeps it in its cache.
func peerProgram(t testing.TB, name string) string {
	t.Helper()
	cmd := exec.Command("go", "tool", "-n", name)
	cmd.Dir = filepath.Join("..", "..", "testdata", "peers")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}
