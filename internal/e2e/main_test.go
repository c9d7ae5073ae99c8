// Package e2e proves operators that operon makes on a real control plane: the
// projects of testdata/scenarios and testdata/golden are scaffolded, built,
// installed as config/ says and run as their ServiceAccount.
//
// The tests share one control plane (see cluster) and run side by side, each in
// namespaces of its own. A developer of the tests saves the start with
//
//	E2E_KUBECONFIG=$(operon envtest start --detach --controllers) go test ./internal/e2e
//
// and the build of operon with E2E_OPERON=/path/of/operon.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	// The tests run operon as a program. This has the go command see that they
	// depend on it, and not repeat an old result.
	_ "github.com/operon-dev/operon/internal/cli"
)

// cluster is the control plane of the whole run. TestMain starts it with
// `operon envtest start --controllers`.
var cluster *controlPlane

// scratch is a folder that all tests share; it goes with the run.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" {
		os.Exit(m.Run())
	}
	moreParallel()
	os.Exit(suite(m))
}

// suite makes what all tests need, runs them and takes it away again.
func suite(m *testing.M) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer printTimes()
	defer spent("all", "")()
	var err error
	if scratch, err = os.MkdirTemp("", "operon-e2e-"); err != nil {
		return fail(err)
	}
	defer os.RemoveAll(scratch)
	if err := os.Setenv("OPERON_CACHE", filepath.Join(scratch, "cache")); err != nil {
		return fail(err)
	}
	if err := provideOperon(); err != nil {
		return fail(err)
	}
	end, err := provideCluster()
	if err != nil {
		return fail(err)
	}
	defer end()

	ran := make(chan int, 1)
	go func() { ran <- m.Run() }()
	select {
	case code := <-ran:
		return code
	case <-ctx.Done():
		return fail(fmt.Errorf("interrupted"))
	}
}

// moreParallel lets more tests run at once than there are cores, for they wait
// most of the time.
func moreParallel() {
	const enough = "8"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", enough)
	}
}

// provideOperon puts operon in front of PATH.
func provideOperon() error {
	defer spent("operon", "build")()
	binary := os.Getenv("E2E_OPERON")
	if binary == "" {
		binary = filepath.Join(scratch, "bin", "operon")
		if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/operon").CombinedOutput(); err != nil {
			return fmt.Errorf("build operon: %w\n%s", err, out)
		}
	}
	path := filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH")
	return os.Setenv("PATH", path)
}

// provideCluster connects to the control plane of E2E_KUBECONFIG or starts one.
func provideCluster() (end func(), err error) {
	defer spent("control plane", "start")()
	kubeconfig, end := os.Getenv("E2E_KUBECONFIG"), func() {}
	if kubeconfig == "" {
		if kubeconfig, end, err = launch("--controllers", "--name", fmt.Sprint("e2e-", os.Getpid())); err != nil {
			return nil, err
		}
	}
	if cluster, err = connect(kubeconfig); err != nil {
		end()
		return nil, err
	}
	return end, nil
}
