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

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

// Progress receives one line about what Build does, without a line end. It is
// called from one goroutine at a time.
type Progress func(line string)

// say calls the function with a line, if it is not nil.
func (p Progress) say(line string) {
	if p != nil {
		p(line)
	}
}

// lockPoll is the interval at which a waiting Build tries to take the lock.
const lockPoll = 200 * time.Millisecond

// stagePrefix is the prefix of the names of build folders.
const stagePrefix = "build-"

// Build makes sure that the store holds a control plane of the version (the
// forms of Path) and returns its folder. What is there already is used as it is,
// at once; only to the version that operon pins kube-controller-manager is added
// when it lacks. Otherwise the programs are compiled from Go modules with the
// user's go command, which may fetch modules; only the pinned version can be
// built (exit code 2 for others).
//
// The programs appear in the store in one rename, after each was run and told
// its version. Builds in several processes wait for each other. Whatever ends a
// build early, the store stays usable: the next Build removes the leftovers,
// and go's build cache lets it go on where it was. When ctx ends, so do go and
// its children, and the error wraps the context's cause.
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

// Ensure returns a folder with a control plane as Path does, and with
// kube-controller-manager when controllers is set; it builds, as Build does, what
// is missing and no more. The folder that KUBEBUILDER_ASSETS names is only checked.
func (s *Store) Ensure(ctx context.Context, version string, controllers bool, progress Progress) (string, error) {
	want, err := parseVersion(version)
	if err != nil {
		return "", err
	}
	names := programs
	if controllers {
		names = withControllers
	}
	if dir := s.env.get(Var); dir != "" {
		return checkVar(dir, names)
	}
	ready := func() (string, error, error) { return s.find(want, names) }
	if dir, _, err := ready(); err != nil || dir != "" {
		return dir, err
	}
	return s.buildUnless(ctx, ready, want, progress)
}

// buildUnless builds the pinned version with the lock held, unless another
// process made ready find a folder while this one waited for the lock.
func (s *Store) buildUnless(ctx context.Context, ready func() (dir string, broken, err error), want version, progress Progress) (string, error) {
	if !want.matches(pinned()) {
		_, broken, err := ready()
		if err != nil {
			return "", err
		}
		msg := fmt.Sprintf("kubernetes %s cannot be built, only %s", want, pins.Kubernetes)
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
		progress.say("already there: " + filepath.Base(dir))
	}
	return err
}

// private is the folder of the store that operon does not share with setup-envtest.
func (s *Store) private() string { return filepath.Join(s.root, ".operon") }

// lock makes builds wait for each other. The system releases the lock of a
// process that dies.
func (s *Store) lock(ctx context.Context, progress Progress) (unlock func(), err error) {
	for _, dir := range []string{s.private(), s.versions()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fault.In("envtest store", err)
		}
	}
	l := flock.New(filepath.Join(s.private(), "lock"))
	ok, err := l.TryLock()
	if err == nil && !ok {
		progress.say("another operon is building here: waiting for it")
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
	stage, err := os.MkdirTemp(s.private(), stagePrefix)
	if err != nil {
		return "", fault.In("envtest store", err)
	}
	defer s.removeLeftovers(progress)

	bin := filepath.Join(stage, "bin")
	final := s.folder(pinned())
	names, put := withControllers, publish
	if complete(final, programs) == nil {
		// A download, or the work of an earlier operon: tests may be running
		// what is there, so only the other program is added.
		names, put = []string{ControllerManager}, add
	}
	if err := compile(ctx, s.env, stage, bin, names, progress); err != nil {
		return "", err
	}
	if err := verify(ctx, s.env, stage, bin, names); err != nil {
		return "", err
	}
	for _, name := range names {
		if err := syncFile(Program(bin, name)); err != nil {
			return "", fault.In("envtest store", err)
		}
	}
	if err := put(bin, final, filepath.Join(stage, "replaced")); err != nil {
		return "", fault.In("envtest store", err)
	}
	return final, nil
}

// removeLeftovers removes what this and every earlier build left behind. It is
// called with the lock held, so no living operon uses any of it; a compiler that
// outlived a killed one may, and what it holds on to is left for the next time.
func (s *Store) removeLeftovers(progress Progress) {
	entries, err := os.ReadDir(s.private())
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagePrefix) {
			err = errors.Join(err, removeAll(filepath.Join(s.private(), e.Name())))
		}
	}
	if err != nil {
		progress.say("left for the next build to remove: " + err.Error())
	}
}

// removeAll removes a folder, and the read-only ones in it that setup-envtest makes.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755) // failures are reported below
		}
		return err
	})
	return os.RemoveAll(dir)
}

// publish moves the finished folder into place. What stands there is not
// complete, or there would have been nothing to build; it is moved out of the
// way first, since a folder cannot be renamed over one that is not empty.
func publish(bin, final, replaced string) error {
	if info, err := os.Lstat(final); err == nil {
		if info.IsDir() {
			// setup-envtest leaves folders read-only, which would keep them
			// from moving to another parent.
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

// add moves kube-controller-manager into a folder that has the others. What may
// stand there under its name is broken, and is moved out of the way too: Windows
// does not rename over a program that runs.
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

// syncFile writes a file's content through to the disk, so that after a power
// cut the renamed folder does not hold empty programs.
func syncFile(path string) error {
	flag := os.O_RDONLY
	if runtime.GOOS == "windows" {
		flag = os.O_RDWR // FlushFileBuffers asks for it
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// explainStore adds a hint to an error of the store. Errors of go have their own hints.
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
