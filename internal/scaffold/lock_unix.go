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
// A file system that locks only files opened for writing (NFS) can not do
// that; there a file in the temporary folder stands for the root, which keeps
// out the commands of this machine.
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
