// Package store keeps what is expensive to compute in files below one folder,
// for the next run and for other processes. It is a cache: nothing in it is
// trusted, nothing in it is missed, and what goes wrong with it is nobody's
// error.
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
)

// Store is a folder of entries that processes share without a lock: an entry
// takes its name when it is whole. A nil Store keeps nothing.
type Store struct {
	dir   string
	prune sync.Once

	mu  sync.Mutex
	err error // of the first Put that failed
}

// Open returns the store in dir, an absolute path, or nil when dir is empty. The
// folder is created by the first Put, for this user alone.
func Open(dir string) *Store {
	if dir == "" {
		return nil
	}
	return &Store{dir: dir}
}

// Key names the input that an entry was computed from.
type Key [sha256.Size]byte

// KeyOf is the key of a list of strings; no other list has the same.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	for _, part := range parts {
		writeLength(h.Write, len(part))
		_, _ = h.Write([]byte(part))
	}
	return Key(h.Sum(nil))
}

// magic starts every entry, and changes with its format. After it comes the sum
// of everything else that makes the entry, and then the content.
const magic = "operon\x001"

const header = len(magic) + sha256.Size

// sum covers what an entry is about as well as what it says: a file that is
// renamed, or moved to another kind, is as damaged as one with a flipped bit.
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

// Get returns the content that was put under the key, if it is there and whole.
// kind is the name of a folder.
func (s *Store) Get(kind string, k Key) ([]byte, bool) {
	if s == nil {
		return nil, false
	}
	name := s.file(kind, k)
	entry, err := os.ReadFile(name)
	if err != nil {
		return nil, false
	}
	content, ok := decode(kind, k, entry)
	if !ok {
		_ = os.Remove(name) // or the next Get reads it again
		return nil, false
	}
	markUsed(name, time.Now())
	return content, true
}

// Put keeps content under the key, in place of what is there. The content stays
// the caller's.
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

// Err returns why something could not be kept, or nil. It changes no result, but
// somebody may want to know why the next run takes as long as this one.
func (s *Store) Err() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Replace gives a file its content as a whole, in a folder that is made when it
// is missing, for this user alone. It is not flushed to the disk: what a power
// failure leaves does not have the right sum.
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
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
