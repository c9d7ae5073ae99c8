package peertest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Run answers a question without the cache.
func (p Peer) Run(t testing.TB, q Question) Answer {
	t.Helper()
	a, err := p.run(q)
	if err != nil {
		t.Fatalf("%s %s: %v", filepath.Base(p.Path), strings.Join(q.Args, " "), err)
	}
	return a
}

// old is the time of the files before a run.
var old = time.Unix(1, 0)

func (p Peer) run(q Question) (Answer, error) {
	folder, err := os.MkdirTemp("", "peer-")
	if err != nil {
		return Answer{}, err
	}
	defer os.RemoveAll(folder)
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return Answer{}, err
	}
	for name, content := range q.Files {
		name = filepath.Join(folder, filepath.FromSlash(name))
		if err := put(name, content); err != nil {
			return Answer{}, err
		}
	}
	var stdout, stderr strings.Builder
	cmd := exec.Command(p.Path, q.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(folder, q.Dir), &stdout, &stderr
	// Garbage collection does not pay in so short a run.
	cmd.Env = append(append(os.Environ(), "GOGC=off", "GOMEMLIMIT=1GiB"), q.Env...)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return Answer{}, err
	}
	written, err := writtenBelow(folder)
	return Answer{
		Code:   cmd.ProcessState.ExitCode(),
		Stdout: strings.ReplaceAll(stdout.String(), folder, Folder), Stderr: strings.ReplaceAll(stderr.String(), folder, Folder),
		Written: written,
	}, err
}

func put(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Chtimes(name, old, old)
}

// writtenBelow returns the files whose time has changed.
func writtenBelow(folder string) (map[string]string, error) {
	written := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.ModTime().Equal(old) {
			return err
		}
		content, err := os.ReadFile(name)
		rel, _ := filepath.Rel(folder, name)
		written[filepath.ToSlash(rel)] = string(content)
		return err
	})
	return written, err
}
