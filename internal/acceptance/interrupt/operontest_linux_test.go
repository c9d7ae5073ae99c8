package interrupt

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// hangingTest starts a server in its own process group, as envtest does, and waits. Test and
// server have the file ALIVE open.
const hangingTest = `package fleet

import (
	"os"
	"os/exec"
	"testing"
)

func TestHangs(t *testing.T) {
	alive, err := os.OpenFile(os.Getenv("ALIVE"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("setsid", "sleep", "600")
	cmd.Stdout = alive
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := alive.WriteString("started"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}
`

// TestInterruptTests interrupts `operon test` while a test runs. The test and its server end
// with operon.
func TestInterruptTests(t *testing.T) {
	t.Parallel()
	dir := operontest.InitProject(t)
	for _, path := range []string{"cmd", "test"} { // they would only take time to compile
		if err := os.RemoveAll(filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	treetest.MakeDir(t, filepath.Join(dir, "fleet"))
	treetest.WriteFile(t, filepath.Join(dir, "fleet", "fleet_test.go"), hangingTest)
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: fault.CodeInterrupted, syscall.SIGTERM: fault.CodeTerminated} {
		t.Run(sig.String(), func(t *testing.T) { interruptTest(t, dir, sig, code) })
	}
}

// interruptTest runs `operon test` until hangingTest waits, and sends a signal.
func interruptTest(t *testing.T, dir string, sig syscall.Signal, want int) {
	fifo := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("operon", "test")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ALIVE="+fifo)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Do not wait for the writer: it may never open the file.
	alive, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alive.Close() }()
	for start := time.Now(); readSome(t, alive) == ""; { // no writer yet
		if time.Sleep(10 * time.Millisecond); time.Since(start) > 2*time.Minute {
			t.Fatal("the test does not start")
		}
	}
	_ = cmd.Process.Signal(sig)
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("exit code %d, want %d\n%s", got, want, &out)
	}
	if !strings.Contains(out.String(), "error: interrupted") {
		t.Errorf("output: %s", &out)
	}
	if got := readSome(t, alive); got != "" {
		t.Errorf("the server is alive and writes %q", got)
	}
}

// readSome waits for the next text from a fifo. It is empty when all writers have closed
// the fifo.
func readSome(t *testing.T, fifo *os.File) string {
	t.Helper()
	if err := fifo.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	n, err := fifo.Read(buf)
	if os.IsTimeout(err) {
		t.Fatal("no output for two minutes")
	}
	return string(buf[:n])
}
