// Package peertest runs the programs that operon is compared with in tests, and caches
// their answers. The key of an answer has all its inputs: the program, the go command, the
// environment, the arguments and the files.
//
// The cache is the folder operon-dev/answers in the user's cache folder. Without it, tests
// take longer and have the same results. A test that fails removes the answers that it used
// from the cache.
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

	"github.com/operon-dev/operon/internal/gen/store"
)

// kept is the cache. It is nil when the user has no cache folder.
var kept = sync.OnceValue(func() *store.Store {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return store.Open(filepath.Join(dir, "operon-dev", "answers"))
})

// Sources returns the names and contents of the test files of the package under test, as
// parts of the key of an answer that depends on their code.
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

// kind changes with the format of the entries.
const kind = "1"

// Cached returns the cached answer for a key, or else calls ask. The key has all inputs of
// the answer. cacheable reports whether the answer may be cached.
func Cached[A any](t testing.TB, parts []string, ask func() (answer A, cacheable bool)) A {
	t.Helper()
	key := store.KeyOf(parts...)
	t.Cleanup(func() {
		if t.Failed() {
			kept().Put(kind, key, nil)
		}
	})
	if content, ok := kept().Get(kind, key); ok {
		var a A
		if gob.NewDecoder(bytes.NewReader(content)).Decode(&a) == nil {
			return a
		}
	}
	a, cacheable := ask()
	var content bytes.Buffer
	if cacheable && gob.NewEncoder(&content).Encode(a) == nil {
		kept().Put(kind, key, content.Bytes())
	}
	return a
}
