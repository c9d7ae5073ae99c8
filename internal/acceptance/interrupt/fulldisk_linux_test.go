package interrupt

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFullDisk runs init and another command on file systems of growing size, until both
// fit.
func TestFullDisk(t *testing.T) {
	t.Run("kind", func(t *testing.T) {
		testFullDisk(t, "--repo example.org/fleet", "api --group ship --version v1 --kind Frigate --make=false")
	})
	t.Run("hook", func(t *testing.T) { testFullDisk(t, "--plugins shell", "hook guard --validate Pod --make=false") })
	t.Run("module", func(t *testing.T) { testFullDisk(t, "--plugins addon", "module registry") })
}

func testFullDisk(t *testing.T, init, create string) {
	t.Helper()
	script := `set -eu
mount -t tmpfs -o size=%[1]dk tmpfs "$1"
mkdir "$1/fleet"
cd "$1/fleet"
if operon init --domain example.org %[2]s >/dev/null 2>"$3"; then
	cp -a . "$2"
	if operon create %[3]s >/dev/null 2>"$3"; then
		echo fits
		exit 0
	fi
	rm -rf .operon/journal "$2/.operon/journal"
	diff -r . "$2"
else
	[ -z "$(ls -A)" ]
fi
grep -q 'no space left' "$3"
echo full
`
	full, fits := 0, 0
	for size := 8; fits == 0; size += 40 {
		if size > 8192 {
			t.Fatal("init does not fit into 8 MiB")
		}
		mnt, saved := t.TempDir(), filepath.Join(t.TempDir(), "saved")
		args := []string{"-m", "sh", "-c", fmt.Sprintf(script, size, init, create), "sh", mnt, saved, filepath.Join(t.TempDir(), "err")}
		if os.Geteuid() != 0 {
			args = append([]string{"-r"}, args...)
		}
		out, err := exec.Command("unshare", args...).CombinedOutput()
		if strings.Contains(string(out), "unshare failed") {
			t.Skip("mounting a small tmpfs needs root or user namespaces")
		}
		if err != nil {
			t.Fatalf("tmpfs of %d KiB: %v\n%s", size, err, out)
		}
		switch strings.TrimSpace(string(out)) {
		case "full":
			full++
		case "fits":
			fits++
		default:
			t.Fatalf("tmpfs of %d KiB: %s", size, out)
		}
	}
	if full == 0 {
		t.Error("no disk was full")
	}
}
