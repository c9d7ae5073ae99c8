//go:build unix && testall

package projects

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
)

// TestMakeTest runs `make test` in a new project, with and without operon. Both ways run the
// suite on an API server and write a coverage profile.
func TestMakeTest(t *testing.T) {
	t.Parallel()
	env := projecttest.ControlPlaneEnv("GOFLAGS=" + strings.TrimSpace(operontest.GoEnv("GOFLAGS")+" -v")) // with -v, go test prints what ran
	dir := operontest.InitProject(t)
	operontest.Run(t, dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate")
	for name, args := range map[string][]string{
		"operon": {"test"},
		// The generated files exist, so controller-gen need not be downloaded.
		"without": {"test", "OPERON=", "CONTROLLER_GEN=true"},
	} {
		out := operontest.ExecEnv(t, env, dir, "make", args...)
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

	// With Go alone, it passes and reports what it skips.
	empty := "KUBEBUILDER_ASSETS= XDG_DATA_HOME=" + t.TempDir() + " HOME=" + t.TempDir()
	out := operontest.ExecEnv(t, []string{"GOCACHE=" + operontest.GoEnv("GOCACHE"), "GOMODCACHE=" + operontest.GoEnv("GOMODCACHE")}, dir,
		"sh", "-c", empty+" make test OPERON= CONTROLLER_GEN=true ENVTEST=false 2>&1")
	if !strings.Contains(out, "no API server is installed") || !strings.Contains(out, "ok  \texample.org/fleet/internal/controller\t") {
		t.Errorf("without an API server make test prints\n%s", out)
	}
}

// TestSuiteAssets runs the suite of a project as an IDE does. It finds the installed programs
// of a control plane, or reports why it skips the specs. It fails when KUBEBUILDER_ASSETS
// names a folder without them.
func TestSuiteAssets(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the store that the test expects")
	}
	dir := operontest.InitProject(t)
	operontest.Run(t, dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate")
	suite := filepath.Join(t.TempDir(), "suite")
	operontest.Exec(t, dir, "go", "test", "-c", "-o", suite, "./internal/controller")
	wrong := t.TempDir()
	for name, tc := range map[string]struct {
		env  []string
		code int
		want string
	}{
		"installed":     {[]string{"KUBEBUILDER_ASSETS=", "XDG_DATA_HOME=" + filepath.Join(operontest.HomeWithAssets(t), ".local", "share")}, 0, "Ran 2 of 2 Specs"},
		"not installed": {[]string{"KUBEBUILDER_ASSETS=", "XDG_DATA_HOME=" + wrong}, 0, "run `make setup-envtest`"},
		"wrong":         {[]string{"KUBEBUILDER_ASSETS=" + wrong}, 1, wrong + "/etcd: no such file"},
	} {
		cmd := exec.Command(suite, "-test.v", "-test.run", "^TestControllers$")
		cmd.Dir = filepath.Join(dir, "internal", "controller")
		cmd.Env = operontest.Environ(append(tc.env, "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=2m")...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != tc.code || !strings.Contains(string(out), tc.want) {
			t.Errorf("%s: %v\n%s", name, cmd.ProcessState, out)
		}
	}
}
