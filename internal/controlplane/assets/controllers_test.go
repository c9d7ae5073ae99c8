package assets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

// A folder of setup-envtest or of an earlier operon gets only the missing program. The
// other programs may be running, so they must not change.
func TestBuildAddsControllerManager(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		mode   os.FileMode
		broken bool // half a kube-controller-manager is there
	}{
		{"missing", 0o755, false},
		{"read-only folder", 0o555, false},
		{"truncated program", 0o555, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "ok")
			dir := w.put(pins.Kubernetes+"-"+platform(), programs...)
			if tt.broken {
				truncatedSelf(t, Program(dir, ControllerManager))
			}
			etcd, err := os.Stat(Program(dir, "etcd"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, tt.mode); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })

			progress := newJournal()
			if got, err := w.store().Build(t.Context(), "", progress.add); err != nil || got != dir {
				t.Fatalf("got %q, %v", got, err)
			}
			if err := complete(dir, withControllers); err != nil {
				t.Error(err)
			}
			if again, err := os.Stat(Program(dir, "etcd")); err != nil || !os.SameFile(etcd, again) {
				t.Errorf("etcd was replaced: %v", err)
			}
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o222 != tt.mode&0o222 {
				t.Errorf("the folder's mode is %v, was %v", info.Mode(), tt.mode)
			}
			if calls := w.calls(); strings.Contains(calls, "kubectl") || !strings.Contains(calls, ControllerManager) {
				t.Errorf("go was called with %s", calls)
			}
			if !strings.Contains(progress.String(), "building kube-controller-manager for") {
				t.Errorf("progress: %s", progress)
			}
			if l := w.leftovers(); l != nil {
				t.Errorf("left behind: %v", l)
			}
		})
	}
}

// A program with another version does not reach the store.
func TestBuildAddsNothingWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "wrong-added")
	dir := w.put(pins.Kubernetes+"-"+platform(), programs...)
	_, err := w.store().Build(t.Context(), "", nil)
	checkFault(t, err, fault.CodeFailed, `kube-controller-manager --version: printed "Kubernetes v1.2.3"`, "")
	if got := names(t, dir); strings.Contains(got, ControllerManager) {
		t.Errorf("the folder has %s", got)
	}
}

func TestEnsure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ok")
	tests := w.put(pins.Kubernetes+"-"+platform(), programs...)
	old := w.put("1.36.3-"+platform(), programs...)
	ensure := func(version string, controllers bool, env ...string) (string, error) {
		return w.store(env...).Ensure(t.Context(), version, controllers, func(line string) {
			if strings.HasPrefix(line, "already there") {
				t.Errorf("progress without work: %s", line)
			}
		})
	}

	// A complete folder is used unchanged.
	for version, want := range map[string]string{"": tests, "1.36": old} {
		if got, err := ensure(version, false); err != nil || got != want {
			t.Errorf("%q: %q, %v", version, got, err)
		}
	}
	if calls := w.calls(); calls != "" {
		t.Fatalf("go was called: %s", calls)
	}

	// Nothing is built in a folder that the user sets.
	_, err := ensure("", true, Var+"="+tests)
	checkFault(t, err, fault.CodeFailed, Var+"="+tests+": "+executable(ControllerManager)+" is missing", "unset it")
	_, err = ensure("1.36", true)
	checkFault(t, err, fault.CodeUsage, "Kubernetes 1.36 cannot be built; only "+pins.Kubernetes+" can"+
		" (1.36.3-"+platform()+" is incomplete: "+executable(ControllerManager)+" is missing)", "--k8s-version "+pins.Kubernetes)
	_, err = ensure("newest", false)
	checkFault(t, err, fault.CodeUsage, "not of the form", "")
	if calls := w.calls(); calls != "" {
		t.Fatalf("go was called: %s", calls)
	}

	if got, err := ensure("1.37", true); err != nil || got != tests {
		t.Errorf("with controllers: %q, %v", got, err)
	}
	if err := complete(tests, withControllers); err != nil {
		t.Error(err)
	}
	if got, err := ensure("", true, Var+"="+tests); err != nil || got != tests {
		t.Errorf("with controllers, in the user's folder: %q, %v", got, err)
	}
	empty := newWorld(t, "ok")
	if got, err := empty.store().Ensure(t.Context(), "", false, nil); err != nil || got != filepath.Join(empty.root, "k8s", pins.Kubernetes+"-"+platform()) {
		t.Errorf("an empty store: %q, %v", got, err)
	}
}
