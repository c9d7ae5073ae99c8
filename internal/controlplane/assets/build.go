package assets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

// Progress receives one line about what Build does, without a line break. It is
// called from one goroutine at a time.
type Progress func(line string)

// report passes a line to the function, unless it is nil.
func (p Progress) report(line string) {
	if p != nil {
		p(line)
	}
}

// lockPoll is the interval at which a waiting Build tries to take the lock.
const lockPoll = 200 * time.Millisecond

// buildPrefix starts the names of build folders.
const buildPrefix = "build-"

// Build returns the folder of a control plane, and builds the control plane if the
// store does not have it. version has the forms that Path accepts. Only the version
// that operon pins can be built; for another one the error has exit code 2. Build
// adds kube-controller-manager to a folder of the pinned version that lacks it. It
// does not change other folders.
//
// The user's go command compiles the programs from Go modules, and may download the
// modules. The programs appear in the store in one rename, after each of them has
// run and printed its version. Concurrent builds wait for each other. A build that
// is interrupted leaves the store usable: the next one removes its files, and reuses
// what is in go's build cache. When ctx ends, Build ends the go command and its
// children. The error then wraps the cause of ctx.
func (s *Store) Build(ctx context.Context, version string, progress Progress) (string, error) {
	want, err := parseVersion(version)
	if err != nil {
		return "", err
	}
	ready := func() (string, error, error) {
		dir, broken, err := s.find(want, programs)
		if dir == s.folder(pinned()) && complete(dir, withControllers) != nil {
			dir = ""
		}
		return dir, broken, err
	}
	if dir, _, err := ready(); err != nil || dir != "" {
		return dir, alreadyThere(err, dir, progress)
	}
	return s.buildUnless(ctx, ready, want, progress)
}

// Ensure returns the folder that Path returns, and builds missing programs as Build
// does. It requires kube-controller-manager only if controllers is set. If
// KUBEBUILDER_ASSETS is set, Ensure checks that folder and builds nothing.
func (s *Store) Ensure(ctx context.Context, version string, controllers bool, progress Progress) (string, error) {
	want, err := parseVersion(version)
	if err != nil {
		return "", err
	}
	names := programs
	if controllers {
		names = withControllers
	}
	if dir := environ.Get(s.env, Var); dir != "" {
		return checkVar(dir, names)
	}
	ready := func() (string, error, error) { return s.find(want, names) }
	if dir, _, err := ready(); err != nil || dir != "" {
		return dir, err
	}
	return s.buildUnless(ctx, ready, want, progress)
}

// buildUnless takes the lock and builds the pinned version, unless ready finds a
// folder that another process has built in the meantime.
func (s *Store) buildUnless(
	ctx context.Context, ready func() (dir string, broken, err error), want version, progress Progress,
) (string, error) {
	if !want.matches(pinned()) {
		_, broken, err := ready()
		if err != nil {
			return "", err
		}
		msg := fmt.Sprintf("Kubernetes %s cannot be built; only %s can", want, pins.Kubernetes)
		if broken != nil {
			msg += " (" + broken.Error() + ")"
		}
		return "", fault.Usage(fmt.Sprintf("try --k8s-version %s, or operon envtest path --download --k8s-version %s", pins.Kubernetes, want), "%s", msg)
	}
	unlock, err := s.lock(ctx, progress)
	if err != nil {
		return "", explainStore(err, s.root)
	}
	defer unlock()
	if dir, _, err := ready(); err != nil || dir != "" {
		return dir, alreadyThere(err, dir, progress)
	}
	dir, err := s.build(ctx, progress)
	return dir, explainStore(err, s.root)
}

func alreadyThere(err error, dir string, progress Progress) error {
	if err == nil {
		progress.report("already there: " + filepath.Base(dir))
	}
	return err
}

// private is the folder of the store that operon does not share with setup-envtest.
func (s *Store) private() string { return filepath.Join(s.root, ".operon") }

// lock makes concurrent builds wait for each other. The system releases the lock of
// a process that dies.
func (s *Store) lock(ctx context.Context, progress Progress) (unlock func(), err error) {
	for _, dir := range []string{s.private(), s.versions()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fault.In("envtest store", err)
		}
	}
	l := flock.New(filepath.Join(s.private(), "lock"))
	ok, err := l.TryLock()
	if err == nil && !ok {
		progress.report("waiting for another operon that is building in this folder")
		_, err = l.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fault.In("lock the envtest store", err)
	}
	return func() { _ = l.Unlock() }, nil
}

// build builds the programs. The caller holds the lock.
func (s *Store) build(ctx context.Context, progress Progress) (string, error) {
	s.removeLeftovers(progress)
	work, err := os.MkdirTemp(s.private(), buildPrefix)
	if err != nil {
		return "", fault.In("envtest store", err)
	}
	defer s.removeLeftovers(progress)

	bin := filepath.Join(work, "bin")
	final := s.folder(pinned())
	names, put := withControllers, publish
	if complete(final, programs) == nil {
		// Tests may be running the programs, so only the missing one is added.
		names, put = []string{ControllerManager}, add
	}
	if err := compile(ctx, s.env, work, bin, names, progress); err != nil {
		return "", err
	}
	if err := verify(ctx, s.env, work, bin, names); err != nil {
		return "", err
	}
	for _, name := range names {
		if err := syncFile(Program(bin, name)); err != nil {
			return "", fault.In("envtest store", err)
		}
	}
	if err := put(bin, final, filepath.Join(work, "replaced")); err != nil {
		return "", fault.In("envtest store", err)
	}
	return final, nil
}

// removeLeftovers removes the folders of this build and of all earlier ones. The
// caller holds the lock, so no other operon uses them. A compiler that outlived a
// killed operon may still use one; what cannot be removed is left for the next build.
func (s *Store) removeLeftovers(progress Progress) {
	entries, err := os.ReadDir(s.private())
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), buildPrefix) {
			err = errors.Join(err, removeAll(filepath.Join(s.private(), e.Name())))
		}
	}
	if err != nil {
		progress.report("left for the next build to remove: " + err.Error())
	}
}

// removeAll removes a folder, including the read-only folders that setup-envtest
// creates in it.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755) // failures are reported below
		}
		return err
	})
	return os.RemoveAll(dir)
}

// publish moves the folder bin to final. An incomplete folder may exist there. It is
// moved to replaced first, because a rename cannot replace a folder with content.
func publish(bin, final, replaced string) error {
	if info, err := os.Lstat(final); err == nil {
		if info.IsDir() {
			// setup-envtest leaves folders read-only, and such a folder cannot
			// move to another parent.
			if err := os.Chmod(final, 0o755); err != nil {
				return err
			}
		}
		if err := os.Rename(final, replaced); err != nil {
			return err
		}
	}
	return os.Rename(bin, final)
}

// add moves kube-controller-manager into a folder that has the other programs. If a
// broken one exists there, it is moved to replaced first, because Windows does not
// replace a running program.
func add(bin, final, replaced string) error {
	info, err := os.Stat(final)
	if err != nil {
		return err
	}
	// setup-envtest leaves folders read-only.
	if err := os.Chmod(final, 0o755); err != nil {
		return err
	}
	at := Program(final, ControllerManager)
	if err := os.Rename(at, replaced); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = os.Rename(Program(bin, ControllerManager), at)
	return errors.Join(err, os.Chmod(final, info.Mode().Perm()))
}

// syncFile flushes a file to the disk, so that the renamed folder does not have empty
// programs after a power failure.
func syncFile(path string) error {
	flag := os.O_RDONLY
	if runtime.GOOS == "windows" {
		flag = os.O_RDWR // FlushFileBuffers requires it
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// explainStore adds a hint to a file system error of the store. Other errors, such as
// the go command's, stay unchanged.
func explainStore(err error, root string) error {
	if err == nil || fault.HintOf(err) != "" {
		return err
	}
	hint := ""
	switch {
	case errors.Is(err, syscall.ENOSPC):
		hint = "free space on the disk that holds " + root
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		hint = "make " + root + " a folder that you can write to, or point " + Var + " at a folder with the programs"
	default:
		return err
	}
	return &fault.Error{Code: fault.Code(err), Err: err, Hint: hint}
}
