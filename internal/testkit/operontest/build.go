package operontest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/gofrs/flock"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// build updates bin/operon and copies it to a file. Concurrent test binaries wait for each
// other: the first one builds, and the others find nothing to do. Each has its own copy,
// because a later build changes at least the modification time of the file, on which
// operon's result cache relies.
func build(to string) error {
	binary := repository.Path("bin", "operon"+exeSuffix())
	lock := flock.New(repository.Path("bin", "operon.lock"))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer func() { _ = lock.Close() }()
	// The flags are those of `make build`, so that all of them share one binary. GOFLAGS
	// may have others for the tests.
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=", "-o", binary, "./cmd/operon")
	cmd.Dir = repository.Path()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build operon: %w\n%s", err, out)
	}
	return copyFile(to, binary)
}

func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := target.ReadFrom(source); err != nil {
		return err
	}
	return target.Close()
}
