// Package consent remembers which programs and folders of templates the user lets operon use. What
// a repository names is not trusted: a person agrees once for each path and checksum. The answers
// lie in the user's configuration folder, never in a project.
package consent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/fault"
)

// Store is the folder with the answers: one file for each path and checksum.
type Store struct{ dir string }

// Open returns the store of the user with this configuration folder.
func Open(configDir string) Store { return Store{filepath.Join(configDir, "operon", "consent")} }

// Given reports whether the user agreed to this path with this checksum.
func (s Store) Given(path, checksum string) (bool, error) {
	_, err := os.Stat(s.file(path, checksum))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Give records that the user agreed.
func (s Store) Give(path, checksum string) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fault.Failed("make the folder writable, or set XDG_CONFIG_HOME", "cannot record that %s may be used: %v", path, err)
	}
	return atomicfile.WriteBytes(s.file(path, checksum), []byte(path+"\n"+checksum+"\n"))
}

func (s Store) file(path, checksum string) string {
	sum := sha256.Sum256([]byte(path + "\x00" + checksum))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16]))
}
