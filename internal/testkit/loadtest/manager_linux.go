package loadtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/process"
)

// Manager is a manager process with metrics.
type Manager struct {
	Name    string
	cmd     *exec.Cmd
	log     *os.File
	metrics string
	started time.Time
	synced  chan time.Time
	ended   chan error
}

// Pass describes the time from the start of a manager until it has nothing left to do.
type Pass struct {
	Sync       time.Duration // from the start until the caches are filled
	Work       time.Duration // from then until the last Reconcile
	Reconciles int
	CPU        time.Duration
	Peak       float64 // peak memory in MiB
}

// StartManager starts a manager. Its name marks the fields that it writes. The log goes to a
// file in dir.
func StartManager(binary, kubeconfig, dir, name string, env []string, flags ...string) (*Manager, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	m := &Manager{Name: name, log: log, metrics: "http://" + address + "/metrics", synced: make(chan time.Time, 1), ended: make(chan error, 1)}
	m.cmd = exec.CommandContext(context.Background(), binary)
	m.cmd.Args = append([]string{
		name, "--metrics-bind-address=" + address, "--metrics-secure=false", "--health-probe-bind-address=0",
	}, flags...)
	m.cmd.Env = append(append(os.Environ(), "KUBECONFIG="+kubeconfig), env...)
	output, input := io.Pipe()
	m.cmd.Stdout, m.cmd.Stderr = log, input
	m.started = time.Now()
	wait, err := process.Start(m.cmd)
	if err != nil {
		return nil, err
	}
	go m.read(output)
	go func() {
		err := wait()
		_ = input.Close()
		m.ended <- err
	}()
	return m, nil
}

// read writes the output to the log, and records when the controller starts its workers. It does so
// when its caches are filled.
func (m *Manager) read(output io.Reader) {
	defer m.log.Close()
	reader := bufio.NewReader(output)
	for {
		line, err := reader.ReadString('\n')
		_, _ = m.log.WriteString(line)
		if strings.Contains(line, "Starting workers") {
			select {
			case m.synced <- time.Now():
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// Settle waits until the manager has reconciled at least n objects and has nothing left to do.
func (m *Manager) Settle(ctx context.Context, n int) (p Pass, err error) {
	var synced time.Time
	select {
	case synced = <-m.synced:
	case err := <-m.ended:
		m.ended <- err
		return p, fmt.Errorf("the manager ended: %w; its log is %s", err, m.log.Name())
	case <-ctx.Done():
		return p, ctx.Err()
	}
	const quiet = 2 * time.Second
	last, changed := -1, time.Now()
	for last < n || time.Since(changed) < quiet {
		select {
		case <-ctx.Done():
			return p, fmt.Errorf("%d of %d objects are reconciled: %w", last, n, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
		total, pending, err := m.progress()
		if err != nil {
			return p, err
		}
		if total != last || pending > 0 {
			last, changed = total, time.Now()
		}
	}
	p = Pass{Sync: synced.Sub(m.started), Work: changed.Sub(synced), Reconciles: last}
	p.CPU, p.Peak, err = usage(m.cmd.Process.Pid)
	return p, err
}

// progress returns how often the manager has called Reconcile, and how many objects wait or are
// in work.
func (m *Manager) progress() (total, pending int, err error) {
	response, err := http.Get(m.metrics)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line := lines.Text()
		value, _ := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64)
		switch name, _, _ := strings.Cut(line, "{"); name {
		case "controller_runtime_reconcile_total":
			total += int(value)
		case "workqueue_depth", "controller_runtime_active_workers":
			pending += int(value)
		}
	}
	return total, pending, nil
}

// Stop ends the manager as a kubelet does. Kill ends it without a chance to release its lease.
func (m *Manager) Stop() error {
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	return <-m.ended
}

// Kill ends the manager with SIGKILL.
func (m *Manager) Kill() {
	_ = m.cmd.Process.Kill()
	<-m.ended
}

// usage returns the CPU time and the peak memory in MiB of a process.
func usage(pid int) (cpu time.Duration, peak float64, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	// The name of the program, in parentheses, can contain spaces. Times are in 1/100 s.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	for _, f := range fields[11:13] {
		ticks, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, 0, err
		}
		cpu += time.Duration(ticks) * 10 * time.Millisecond
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kib float64
	_, err = fmt.Sscan(string(rest), &kib)
	return cpu, kib / 1024, err
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
