package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"golang.org/x/sys/unix"
)

// inNamespace tells the child process that it may mount.
const inNamespace = "OPERON_TEST_IN_NAMESPACE"

// TestFullDisk runs every scenario on a real disk with less and less free space.
func TestFullDisk(t *testing.T) { onSmallDisks(t, scenario.onFullDisk) }

// TestReadOnlyDisk runs every scenario on a real read-only disk.
func TestReadOnlyDisk(t *testing.T) { onSmallDisks(t, scenario.onReadOnlyDisk) }

// onSmallDisks runs every scenario on its own small disk. Without the permissions to
// mount, the test runs itself again in a user namespace.
func onSmallDisks(t *testing.T, run func(s scenario, t *testing.T, disk string)) {
	t.Helper()
	if os.Getuid() != 0 && os.Getenv(inNamespace) == "" {
		cmd := exec.Command("unshare", "-rm", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), inNamespace+"=1")
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil && !bytes.Contains(out, []byte("--- SKIP")):
			return
		case bytes.Contains(out, []byte("--- FAIL")):
			t.Fatalf("in a namespace: %v\n%s", err, out)
		}
		t.Skipf("a small disk needs root, or unshare -rm, which fails here: %v\n%s", err, out)
	}
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			disk := t.TempDir()
			if err := unix.Mount("tmpfs", disk, "tmpfs", 0, smallDisk); err != nil {
				t.Skipf("cannot mount a small disk here: %v", err)
			}
			t.Cleanup(func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) })
			run(s, t, disk)
		})
	}
}

const smallDisk = "size=256k,nr_inodes=400"

func (s scenario) onReadOnlyDisk(t *testing.T, disk string) {
	tr := s.trial(t)
	tr.root = filepath.Join(disk, "project")
	restore(t, tr.root, tr.before)
	p, err := New(baseFs(tr.root), Options{})
	must(t, err)
	must(t, s.fill(p))
	must(t, unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, smallDisk))
	err = p.Apply(t.Context())
	if !errors.Is(err, unix.EROFS) || fault.HintOf(err) != untouched || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
	tr.untouched(t, "read-only")
}

func (s scenario) onFullDisk(t *testing.T, disk string) {
	tr := s.trial(t)
	tr.root = filepath.Join(disk, "project")
	failed := 0
	for room := 0; ; room++ {
		restore(t, tr.root, tr.before)
		fill(t, disk, room)
		p, err := New(baseFs(tr.root), Options{})
		if err == nil {
			err = s.fill(p)
		}
		must(t, err)
		err = p.Apply(t.Context())
		what := fmt.Sprintf("with room for %d pages", room)
		if err == nil {
			if !tr.done(t) {
				t.Fatalf("%s: no error, but not complete", what)
			}
			break
		}
		if !errors.Is(err, unix.ENOSPC) || strings.Contains(err.Error(), disk) {
			t.Fatalf("%s: %v", what, err)
		}
		failed++
		tr.untouched(t, what)
	}
	if failed == 0 {
		t.Error("the disk was never full")
	}
}

// fill leaves the given number of free pages on a disk.
func fill(t *testing.T, disk string, pages int) {
	t.Helper()
	filler := filepath.Join(disk, "filler")
	must(t, ignoreMissing(os.Remove(filler)))
	var st unix.Statfs_t
	must(t, unix.Statfs(disk, &st))
	if size := int64(st.Bfree) - int64(pages); size > 0 {
		must(t, os.WriteFile(filler, make([]byte, size*st.Bsize), 0o600))
	}
}

// TestUnwritable runs every scenario with one folder at a time that the user
// may not write.
func TestUnwritable(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			tr := s.trial(t)
			asNobody(t, tr.root)
			failed := 0
			for name, n := range tr.before {
				if !n.Mode.IsDir() || strings.HasPrefix(name, journalDir+"/") {
					continue
				}
				dir := filepath.Join(tr.root, name)
				must(t, os.Chmod(dir, 0o555))
				p, err := New(baseFs(tr.root), Options{})
				must(t, err)
				must(t, s.fill(p))
				err = p.Apply(t.Context())
				must(t, os.Chmod(dir, n.Mode))
				if err == nil {
					if !tr.done(t) {
						t.Fatalf("%s: no error, but not complete", name)
					}
					continue
				}
				if !errors.Is(err, unix.EACCES) || strings.Contains(err.Error(), tr.root) {
					t.Fatalf("%s: %v", name, err)
				}
				failed++
				tr.untouched(t, name)
			}
			if failed == 0 {
				t.Error("every folder is writable")
			}
		})
	}
}

// asNobody gives root to an unprivileged user and makes the thread of the test
// access files as that user. It does nothing if the test already runs
// unprivileged.
func asNobody(t *testing.T, root string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	must(t, filepath.WalkDir(filepath.Dir(root), func(name string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, nobody, nobody))
	}))
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Skipf("the test cannot drop its privileges: %v", err)
	}
	t.Cleanup(func() { _, _ = unix.SetfsuidRetUid(0) })
}
