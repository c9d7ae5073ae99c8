//go:build unix

package controlplane

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
)

// tag makes cmd inherit a locked file that holds its process ID. The file is locked as
// long as the program lives, so an orphan can be told from another process that reuses
// the ID. The caller starts cmd and then calls started with the process, or with nil.
func tag(cmd *exec.Cmd, path string) (started func(*os.Process), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	cmd.ExtraFiles = []*os.File{f}
	return func(p *os.Process) {
		if p != nil {
			_, _ = f.WriteString(strconv.Itoa(p.Pid))
		}
		_ = f.Close() // the program holds the lock now
	}, nil
}

// killOrphans kills the programs that a dead supervisor left running.
func killOrphans(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*"+pidSuffix))
	for _, path := range files {
		err = errors.Join(err, killOrphan(path))
	}
	return err
}

func killOrphan(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // NFS requires write access for a lock
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	program := strings.TrimSuffix(filepath.Base(path), pidSuffix)
	for deadline := time.Now().Add(orphanTimeout); ; time.Sleep(poll) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		content, err := input.ReadFile(path, input.Text)
		if err != nil {
			return err
		}
		// The lock is held, so the program lives and still owns the ID.
		if pid, err := strconv.Atoi(string(content)); err == nil && pid > 1 {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if time.Now().After(deadline) {
			return fault.Failed("kill it by hand", "%s (process %s) outlived its supervisor and does not exit", program, content)
		}
	}
}
