// Package shelloperator builds and runs shell-operator, the engine of hooks, on this machine.
package shelloperator

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gobuild"
	"github.com/operon-dev/operon/internal/pins"
)

var (
	//go:embed module/go.mod.txt
	goMod []byte
	//go:embed module/go.sum.txt
	goSum []byte
)

// name is the name of the program.
const name = "shell-operator"

// instead is what users can do without a build, as the end of a hint.
const instead = "name a program with --engine"

// lockPoll is the interval at which a waiting Build tries to take the lock.
const lockPoll = 200 * time.Millisecond

// Find returns the path of shell-operator: the one in PATH, or the one that Build has built for this
// user. Without either, the error has a hint with the commands.
func Find(env []string) (string, error) {
	if path, err := environ.LookPath(env, name); err == nil {
		return path, nil
	}
	path, err := builtPath(env)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", fault.Failed("operon hooks run --build builds it from Go modules (minutes, once), or "+instead, "shell-operator %s is not built", pins.ShellOperator)
	}
	return path, nil
}

// Build returns the path of the version of shell-operator that operon pins. Unless an earlier call has
// done so, it builds the program with the user's go command, which may download modules. When ctx ends,
// the error wraps its cause. Nothing is left of a build that fails.
func Build(ctx context.Context, env []string, progress func(line string)) (string, error) {
	path, err := builtPath(env)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fault.In("build shell-operator", err)
	}
	// The system releases the lock of a process that dies; its files are left for the next one.
	lock, work := flock.New(filepath.Join(filepath.Dir(path), "lock")), filepath.Join(filepath.Dir(path), "build")
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return "", fault.In("build shell-operator", cmp.Or(context.Cause(ctx), err))
	}
	defer func() { _ = lock.Unlock() }()
	if _, err := os.Stat(path); err == nil {
		return path, nil // another operon has built it
	}
	if err := os.RemoveAll(work); err != nil {
		return "", fault.In("build shell-operator", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	progress(fmt.Sprintf("building shell-operator %s from Go modules (the first build takes minutes)", pins.ShellOperator))
	b := gobuild.Build{
		Env: env, Work: work, Bin: filepath.Join(work, "bin"), Mod: goMod, Sum: goSum,
		Programs: []gobuild.Program{{Name: name, Package: "github.com/flant/shell-operator/cmd/shell-operator"}},
		LDFlags:  "-s -w -X github.com/flant/shell-operator/pkg/app.Version=" + pins.ShellOperator,
		Title:    "shell-operator", Instead: instead, Progress: progress,
	}
	if err := b.Run(ctx); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(b.Bin, gobuild.Executable(name)), path); err != nil {
		return "", fault.In("build shell-operator", err)
	}
	return path, nil
}

// builtPath returns where Build puts the program.
func builtPath(env []string) (string, error) {
	data, err := environ.DataFolder(runtime.GOOS, env)
	if err != nil {
		return "", fault.Failed("correct that, or "+instead, "there is no folder for shell-operator: %v", err)
	}
	return filepath.Join(data, "operon", "programs", name+"-"+pins.ShellOperator, gobuild.Executable(name)), nil
}
