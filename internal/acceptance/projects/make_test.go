//go:build unix

package projects

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestMakeTest runs `make test` in a new project, with and without operon. Both ways run the
// suite on an API server and write a coverage profile.
func TestMakeTest(t *testing.T) {
	t.Parallel()
	dir := operontest.InitProject(t)
	operontest.Run(t, dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate")
	goFlags := strings.TrimSpace(operontest.GoEnv("GOFLAGS") + " -v") // with -v, go test prints what ran
	runs := newSuiteRuns(t)
	for name, tc := range map[string]struct {
		goFlags string
		args    []string
	}{
		"operon": {goFlags, []string{"test"}},
		// The generated files exist, so controller-gen need not be downloaded.
		"without": {goFlags + runs.flag(), []string{"test", "OPERON=", "CONTROLLER_GEN=true"}},
	} {
		out := operontest.ExecEnv(t, projecttest.ControlPlaneEnv("GOFLAGS="+tc.goFlags), dir, "make", tc.args...)
		if !strings.Contains(out, "Ran 2 of 2 Specs") || !strings.Contains(out, "ok  \texample.org/fleet/internal/controller\t") {
			t.Errorf("%s: make test prints\n%s", name, out)
		}
		profile := filepath.Join(dir, "cover.out")
		if src, err := os.ReadFile(profile); err != nil || !strings.Contains(string(src), "frigate_controller.go") {
			t.Errorf("%s: the coverage profile: %v\n%s", name, err, src)
		}
		if err := os.Remove(profile); err != nil {
			t.Error(err)
		}
	}
	runs.check(t)

	// Without an API server, make runs the tests, too, and reports what they skip.
	stub := t.TempDir()
	writeScript(t, filepath.Join(stub, "go"), `case $1 in list) ;; *) echo "go $1, assets ${KUBEBUILDER_ASSETS-unset}" ;; esac`)
	env := []string{"PATH=" + stub + string(filepath.ListSeparator) + os.Getenv("PATH"), "KUBEBUILDER_ASSETS="}
	out := operontest.ExecEnv(t, env, dir, "sh", "-c", "make test OPERON= CONTROLLER_GEN=true ENVTEST=false 2>&1")
	if !strings.Contains(out, "no API server is installed") || !strings.Contains(out, "go test, assets unset\n") {
		t.Errorf("without an API server make test prints\n%s", out)
	}
}

// suiteRuns runs the suite of a project in different environments. go test starts program in place of the suite,
// because each run of go test links the suite again.
type suiteRuns struct {
	program string
	outputs string // a folder with the output of the suite, and without the programs of a control plane
}

func newSuiteRuns(t *testing.T) suiteRuns {
	t.Helper()
	r := suiteRuns{filepath.Join(t.TempDir(), "suite"), t.TempDir()}
	writeScript(t, r.program, `case $1 in */controller.test) ;; *) exec "$@" ;; esac
outputs=`+r.outputs+`
echo "assets $KUBEBUILDER_ASSETS" >$outputs/make
KUBEBUILDER_ASSETS=$outputs "$@" >$outputs/wrong 2>&1
echo "exit code $?" >>$outputs/wrong
export KUBEBUILDER_ASSETS= # an IDE can set it without a value
XDG_DATA_HOME=$outputs "$@" >$outputs/missing 2>&1
echo "exit code $?" >>$outputs/missing
XDG_DATA_HOME=`+filepath.Join(operontest.HomeWithAssets(t), ".local", "share")+` exec "$@"`)
	return r
}

// flag returns the flag with which go test runs the program, where it finds the store of HomeWithAssets.
func (r suiteRuns) flag() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	return " -exec=" + r.program
}

// check checks that make names the programs of the control plane, and that the suite skips its specs when it finds
// none, but fails when KUBEBUILDER_ASSETS names a folder without them.
func (r suiteRuns) check(t *testing.T) {
	t.Helper()
	if r.flag() == "" {
		return
	}
	for name, want := range map[string][]string{
		"make":    {"assets " + operontest.Assets() + "\n"},
		"wrong":   {r.outputs + "/etcd: no such file", "\nexit code 1\n"},
		"missing": {"run `make setup-envtest`", "\nexit code 0\n"},
	} {
		out := treetest.ReadFile(t, filepath.Join(r.outputs, name))
		for _, part := range want {
			if !strings.Contains(out, part) {
				t.Errorf("%s: the suite does not print %q:\n%s", name, part, out)
			}
		}
	}
}

// writeScript writes a program for sh.
func writeScript(t *testing.T, name, commands string) {
	t.Helper()
	if err := process.WriteProgram(name, []byte("#!/bin/sh\n"+commands+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
