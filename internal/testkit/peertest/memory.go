// Package peertest asks, in tests, the programs that operon is compared with, and
// remembers what they answered: an answer follows from the program, the go command, the
// environment, the arguments and the files, and all of these are its key.
//
// The memory stands in the user's cache folder, below operon-dev/answers. Without it
// everything is asked anew, and the same comes of it. A test that fails forgets the
// answers that it was given.
package peertest

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/gen/incremental/store"
)

// memory is nil where the user has no cache folder.
var memory = sync.OnceValue(func() *store.Store {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return store.Open(filepath.Join(dir, "operon-dev", "answers"))
})

// Sources are the names and the contents of the files of the package's own tests, for
// what an answer follows from that is asked by them.
func Sources(t testing.TB) (sources []string) {
	t.Helper()
	names, err := filepath.Glob("*_test.go")
	if err == nil && len(names) == 0 {
		err = errors.New("no *_test.go")
	}
	for _, name := range names {
		content, failed := os.ReadFile(name)
		err = errors.Join(err, failed)
		sources = append(sources, name, string(content))
	}
	if err != nil {
		t.Fatal(fmt.Errorf("the sources of the tests: %w", err))
	}
	return sources
}

// kind changes with the form of what is remembered.
const kind = "1"

// Remember returns what ask answered when it was asked from the same strings: they are
// all that the answer follows from. ask says too whether the answer is a lasting one; of
// those alone there is a memory.
func Remember[A any](t testing.TB, from []string, ask func() (answer A, lasting bool)) A {
	t.Helper()
	key := store.KeyOf(from...)
	t.Cleanup(func() {
		if t.Failed() {
			memory().Put(kind, key, nil)
		}
	})
	if content, ok := memory().Get(kind, key); ok {
		var a A
		if gob.NewDecoder(bytes.NewReader(content)).Decode(&a) == nil {
			return a
		}
	}
	a, lasting := ask()
	var content bytes.Buffer
	if lasting && gob.NewEncoder(&content).Encode(a) == nil {
		memory().Put(kind, key, content.Bytes())
	}
	return a
}
