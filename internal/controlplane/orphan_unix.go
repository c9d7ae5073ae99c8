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
)

// tag gives cmd, which is yet to be started, a file to hold: the file is locked
// for as long as the program lives, and holds its process id. So a program that
// outlived its keeper can be told from a stranger that got its id. known is to be
// called with the process when it was started, or with nil.
func tag(cmd *exec.Cmd, path string) (known func(*os.Process), err error) {
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
		_ = f.Close() // the program has the lock now
	}, nil
}

// endOrphans kills the programs that live on in the folder of a dead keeper.
func endOrphans(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*"+pidSuffix))
	for _, path := range files {
		err = errors.Join(err, endOrphan(path))
	}
	return err
}

func endOrphan(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // NFS locks no file that is only read
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
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// A program that holds the lock lives, so the id is still its own.
		if pid, err := strconv.Atoi(string(content)); err == nil && pid > 1 {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if time.Now().After(deadline) {
			return fault.Failed("end it by hand", "%s (process %s) outlived its keeper and does not end", program, content)
		}
	}
}
