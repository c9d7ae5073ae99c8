//go:build testall

// Package e2e runs the operators that operon scaffolds, on a real control plane. It
// scaffolds and builds the projects of testdata/scenarios and testdata/golden, installs
// the objects of their config/, and runs them as their ServiceAccount.
//
// The tests share one control plane (see cluster) and run in parallel, each in namespaces
// of its own. To save its start while you work on a test, keep one running:
//
//	E2E_KUBECONFIG=$(operon envtest start --detach --controllers) go test ./internal/e2e -run NAME
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/testlog"
)

// cluster is the control plane that the tests share. TestMain starts it with
// `operon envtest start --controllers`.
var cluster *controlPlane

// scratch is a temporary folder that the tests share.
var scratch string

func TestMain(m *testing.M) {
	operontest.ActAsOperon()
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" {
		os.Exit(m.Run())
	}
	operontest.Parallel(8) // they wait most of the time
	os.Exit(suite(m))
}

// suite prepares what all tests need, runs them and cleans up.
func suite(m *testing.M) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	var err error
	if scratch, err = os.MkdirTemp("", "operon-e2e-"); err != nil {
		return fail(err)
	}
	defer os.RemoveAll(scratch)
	cleanup, err := operontest.Setup()
	if err != nil {
		return fail(err)
	}
	defer cleanup()
	end, err := provideCluster()
	if err != nil {
		return fail(err)
	}
	defer end()

	ran := make(chan int, 1)
	go func() { ran <- m.Run() }()
	select {
	case code := <-ran:
		testlog.PrintCPU()
		if err := testlog.Finish(); err != nil {
			return fail(err)
		}
		return code
	case <-ctx.Done():
		return fail(fmt.Errorf("interrupted"))
	}
}

// provideCluster connects to the control plane of E2E_KUBECONFIG or starts one.
func provideCluster() (end func(), err error) {
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
