//go:build !windows

package scaffold

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lock takes an advisory lock on the root folder itself.
//
// Some file systems (NFS) lock only files that are opened for writing. There a
// file in the temporary folder represents the root, which excludes only the
// commands on this machine.
func lock(root string) (unlock func(), busy bool, err error) {
	f := flock.New(root, flock.SetFlag(os.O_RDONLY))
	ok, err := f.TryLock()
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
		abs, absErr := filepath.Abs(root)
		if absErr != nil {
			return nil, false, absErr
		}
		f = flock.New(filepath.Join(os.TempDir(), "operon-"+hash([]byte(abs))[:16]+".lock"))
		ok, err = f.TryLock()
	}
	if err != nil || !ok {
		return nil, err == nil, err
	}
	return func() { _ = f.Close() }, false, nil
}
