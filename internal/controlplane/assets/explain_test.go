package assets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

func TestStoreNotWritable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ok")
	if err := os.WriteFile(w.root, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const hint = "a folder that you can write to"
	_, err := w.store().Build(t.Context(), "", nil)
	checkFault(t, err, fault.CodeFailed, "envtest store", "make "+w.root+" "+hint)
	_, err = w.store().Ensure(t.Context(), "", false, nil)
	checkFault(t, err, fault.CodeFailed, "envtest store", hint)
	m := newMirror(t)
	_, err = w.store().Download(t.Context(), "1.36", m.URL, nil)
	checkFault(t, err, fault.CodeFailed, "envtest store", hint)

	if os.Geteuid() == 0 {
		return // may write everywhere
	}
	closed := newWorld(t, "ok")
	if err := os.Mkdir(closed.root, 0o555); err != nil {
		t.Fatal(err)
	}
	_, err = closed.store().Build(t.Context(), "", nil)
	checkFault(t, err, fault.CodeFailed, "permission denied", hint)
}

// An error of the store gets one hint. An error of go has its own.
func TestExplainStore(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("envtest store: %w", &os.PathError{Op: "write", Path: "/store/x", Err: syscall.ENOSPC})
	checkFault(t, explainStore(full, "/store"), fault.CodeFailed, "write /store/x: no space left on device", "free space on the disk that holds /store")
	ro := &os.PathError{Op: "mkdir", Path: "/store", Err: syscall.EROFS}
	checkFault(t, explainStore(ro, "/store"), fault.CodeFailed, "read-only", "make /store a folder")
	advised := fault.Failed("ask somebody", "no")
	if got := explainStore(advised, "/store"); !errors.Is(got, advised) || fault.HintOf(got) != "ask somebody" {
		t.Errorf("got %v", got)
	}
	if got := explainStore(nil, "/store"); got != nil {
		t.Errorf("got %v", got)
	}
}

// setup-envtest creates read-only folders, and leaves some behind if it is killed.
func TestRemoveReadOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "stage")
	inner := filepath.Join(dir, "k8s", "1.36.3")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner, "etcd"), nil, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(inner, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := removeAll(dir); err != nil {
		t.Error(err)
	}
}
