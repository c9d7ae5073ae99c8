//go:build unix

package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// sh returns a command that runs a script, and the output of the script and its
// children.
func sh(ctx context.Context, t *testing.T, script string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Stdout = w
	return cmd, bufio.NewScanner(r)
}

// TestStart starts a child from a thread that ends before the child.
func TestStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd, out := sh(ctx, t, "trap 'echo asked; exit 3' INT; echo ready; while :; do sleep 0.05; done")
	cmd.WaitDelay = time.Minute
	var wait func() error
	var starting sync.WaitGroup
	starting.Go(func() {
		runtime.LockOSThread() // so that the thread ends with this goroutine
		var err error
		if wait, err = Start(cmd); err != nil {
			t.Error(err)
		}
	})
	starting.Wait()
	if !out.Scan() || out.Text() != "ready" {
		t.Fatalf("the child printed %q", out.Text())
	}
	cancel()
	if !out.Scan() || out.Text() != "asked" {
		t.Errorf("the child printed %q", out.Text())
	}
	var exit *exec.ExitError
	if err := wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("wait: %v", err)
	}
}

// TestKill kills a child that ignores signals and has a child itself.
func TestKill(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cmd, out := sh(ctx, t, "trap '' INT; sleep 1000 & echo ready; while :; do sleep 0.05; done")
	cmd.WaitDelay = time.Millisecond
	wait, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if !out.Scan() {
		t.Fatal("the child printed nothing")
	}
	cancel()
	if err := wait(); err == nil {
		t.Error("a killed child succeeded")
	}
	if err := cmd.Stdout.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	if out.Scan() || out.Err() != nil { // its child would keep the pipe open
		t.Errorf("the group printed %q, %v", out.Text(), out.Err())
	}
}

// TestBackground kills what a child that ends left in the background.
func TestBackground(t *testing.T) {
	t.Parallel()
	cmd, out := sh(t.Context(), t, "sleep 1000 & echo ready")
	if err := Run(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Stdout.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	if !out.Scan() || out.Scan() || out.Err() != nil { // the background process would keep the pipe open
		t.Errorf("the group printed %q, %v", out.Text(), out.Err())
	}
}

func TestMissingProgram(t *testing.T) {
	t.Parallel()
	if _, err := Start(exec.CommandContext(t.Context(), "/none")); err == nil || !strings.Contains(err.Error(), "/none") {
		t.Errorf("got %v", err)
	}
}
