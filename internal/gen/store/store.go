// Package store caches results that are expensive to compute, in files below one folder,
// for later runs and other processes. It verifies each entry that it reads. An entry that
// is missing or damaged, or that cannot be written, is not an error.
package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/input"
)

// Store is a folder of entries that processes share without a lock: an entry gets its
// name when it is complete. A nil Store stores nothing.
type Store struct {
	dir   string
	prune sync.Once

	mu  sync.Mutex
	err error // of the first Put that failed
}

// Open returns the store in dir, an absolute path, or nil if dir is empty. The first Put
// creates the folder, with permissions for this user only.
func Open(dir string) *Store {
	if dir == "" {
		return nil
	}
	return &Store{dir: dir}
}

// Key identifies the input from which an entry was computed.
type Key [sha256.Size]byte

// KeyOf returns the key of a list of strings. Different lists have different keys.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	for _, part := range parts {
		writeLength(h.Write, len(part))
		_, _ = h.Write([]byte(part))
	}
	return Key(h.Sum(nil))
}

// Program identifies the file of this program: entries with it in the key do not count for another
// version. ok is false if the file cannot be identified. It is the file of the code that runs, whoever calls it.
func Program() (id string, ok bool) {
	self, err := os.Executable()
	if err != nil {
		return "", false
	}
	is, err := filestat.Of(self)
	return self + "\x00" + string(is.Append(nil)), err == nil
}

// magic is the start of each entry, and changes with the format. The checksum and the
// content follow.
const magic = "operon\x001"

const header = len(magic) + sha256.Size

// sum returns the checksum of an entry. It covers the kind and the key, so an entry that
// was renamed or moved to another kind is invalid.
func sum(kind string, k Key, content []byte) []byte {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(magic), []byte(kind), k[:], content} {
		writeLength(h.Write, len(part))
		_, _ = h.Write(part)
	}
	return h.Sum(nil)
}

func writeLength(write func([]byte) (int, error), n int) {
	_, _ = write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func encode(kind string, k Key, content []byte) []byte {
	entry := make([]byte, 0, header+len(content))
	entry = append(entry, magic...)
	entry = append(entry, sum(kind, k, content)...)
	return append(entry, content...)
}

func decode(kind string, k Key, entry []byte) ([]byte, bool) {
	if len(entry) < header || string(entry[:len(magic)]) != magic {
		return nil, false
	}
	content := entry[header:len(entry):len(entry)]
	return content, bytes.Equal(entry[len(magic):header], sum(kind, k, content))
}

func (s *Store) file(kind string, k Key) string {
	return filepath.Join(s.dir, kind, hex.EncodeToString(k[:]))
}

// Get returns the content that was put under the key. ok is false if the entry is
// missing or damaged. kind is the name of a folder.
func (s *Store) Get(kind string, k Key) (content []byte, ok bool) {
	if s == nil {
		return nil, false
	}
	name := s.file(kind, k)
	entry, err := input.ReadFile(name, input.Data)
	if err != nil {
		return nil, false
	}
	content, ok = decode(kind, k, entry)
	if !ok {
		_ = os.Remove(name) // after an error, the next Get finds the damaged entry again
		return nil, false
	}
	markUsed(name, time.Now())
	return content, true
}

// Put stores content under the key, and replaces an earlier entry. It does not retain
// content.
func (s *Store) Put(kind string, k Key, content []byte) {
	if s == nil {
		return
	}
	if err := Replace(s.file(kind, k), encode(kind, k, content)); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = cmp.Or(s.err, err)
		return
	}
	s.prune.Do(func() { pruneNow(s.dir, time.Now()) })
}

// Err returns the first error of Put, or nil. The error does not affect results, but it
// explains why the next run is slow.
func (s *Store) Err() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Replace writes a file atomically, and creates its folder with permissions for this user
// only. It does not flush the file to the disk: the checksum detects files that a power
// failure damaged.
func Replace(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), tempPrefix+"*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = moveTo(name, f.Name())
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// moveTo renames a file to name. It also replaces a folder, unlike os.Rename.
func moveTo(name, from string) error {
	err := os.Rename(from, name)
	if info, statErr := os.Lstat(name); err == nil || statErr != nil || !info.IsDir() {
		return err
	}
	if err := os.RemoveAll(name); err != nil {
		return err
	}
	return os.Rename(from, name)
}
