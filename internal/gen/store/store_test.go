package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

var content = []byte("the content of an entry")

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "cache")
	s := Open(dir)
	if _, ok := s.Get("types", KeyOf("a")); ok {
		t.Error("an empty store has an entry")
	}
	for _, c := range [][]byte{content, {}, bytes.Repeat([]byte{0xff}, 1<<16)} {
		s.Put("types", KeyOf("a"), c)
		if got, ok := Open(dir).Get("types", KeyOf("a")); !ok || !bytes.Equal(got, c) {
			t.Errorf("got %q %v", got, ok)
		}
	}
	if _, ok := s.Get("schemas", KeyOf("a")); ok {
		t.Error("kinds are mixed")
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]os.FileMode{dir: 0o700, s.file("types", KeyOf("a")): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, want)
		}
	}
}

func TestNilStoresNothing(t *testing.T) {
	t.Parallel()
	s := Open("")
	s.Put("types", KeyOf("a"), content)
	if _, ok := s.Get("types", KeyOf("a")); ok {
		t.Error("a nil store has an entry")
	}
}

func TestKeyOf(t *testing.T) {
	t.Parallel()
	seen := map[Key][]string{}
	for _, parts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {"b", "a"}} {
		k := KeyOf(parts...)
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %q have the same key", parts, other)
		}
		seen[k] = parts
	}
}

// TestDamage flips every bit of an entry, and truncates it at every length. A damaged
// entry is removed and can be stored again.
func TestDamage(t *testing.T) {
	t.Parallel()
	s, k := Open(t.TempDir()), KeyOf("a")
	s.Put("types", k, content)
	name := s.file("types", k)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{append(bytes.Clone(whole), 0)}
	for i := range whole {
		damaged = append(damaged, whole[:i])
		for bit := range 8 {
			flipped := bytes.Clone(whole)
			flipped[i] ^= 1 << bit
			damaged = append(damaged, flipped)
		}
	}
	for _, d := range damaged {
		if err := os.WriteFile(name, d, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Get("types", k); ok {
			t.Fatalf("accepted %q, which differs from %q: %q", d, whole, got)
		}
		if _, err := os.Stat(name); err == nil {
			t.Fatal("a damaged entry was not removed")
		}
	}
	s.Put("types", k, content)
	if got, ok := s.Get("types", k); !ok || !bytes.Equal(got, content) {
		t.Errorf("got %q %v", got, ok)
	}
}

// TestForeign replaces the file of one entry with the file of another.
func TestForeign(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	s.Put("types", KeyOf("a"), content)
	s.Put("types", KeyOf("b"), content)
	s.Put("schemas", KeyOf("a"), content)
	entry, err := os.ReadFile(s.file("types", KeyOf("a")))
	if err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []string{s.file("types", KeyOf("b")), s.file("schemas", KeyOf("a"))} {
		if err := os.WriteFile(foreign, entry, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := s.Get("types", KeyOf("b")); ok {
		t.Error("accepted the entry of another key")
	}
	if _, ok := s.Get("schemas", KeyOf("a")); ok {
		t.Error("accepted the entry of another kind")
	}
	if _, ok := s.Get("types", KeyOf("a")); !ok {
		t.Error("the entry itself is missing")
	}
}

// TestUnwritable uses folders that cannot be created or written to.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	below := Open(filepath.Join(file, "cache"))
	below.Put("types", KeyOf("a"), content)
	if _, ok := below.Get("types", KeyOf("a")); ok {
		t.Error("there is an entry below a file")
	}

	dir := t.TempDir()
	s := Open(dir)
	s.Put("types", KeyOf("a"), content)
	if err := os.Chmod(filepath.Join(dir, "types"), 0o500); err != nil {
		t.Fatal(err)
	}
	s.Put("types", KeyOf("b"), content)
	if err := os.Chmod(filepath.Join(dir, "types"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Get("types", KeyOf("a")); !ok || !bytes.Equal(got, content) {
		t.Errorf("got %q %v", got, ok)
	}
}

// TestTogether writes and reads the same keys with many stores. A reader finds nothing, or
// the complete entry of one writer.
func TestTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	for writer := range 8 {
		group.Go(func() {
			s := Open(dir)
			for i := range 50 {
				k := KeyOf(fmt.Sprint(i % 5))
				s.Put("types", k, bytes.Repeat([]byte{byte(writer)}, 10_000))
				got, ok := s.Get("types", k)
				if ok && (len(got) != 10_000 || len(bytes.Trim(got, string(got[:1]))) > 0) {
					t.Error("an entry mixes two writers")
				}
			}
		})
	}
	group.Wait()
	names, err := filepath.Glob(filepath.Join(dir, "types", "*"))
	if err != nil || len(names) != 5 {
		t.Errorf("left %q, %v", names, err)
	}
}

func FuzzDecode(f *testing.F) {
	k := KeyOf("a")
	whole := encode("types", k, content)
	f.Add(whole)
	f.Add(whole[:header])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, entry []byte) {
		got, ok := decode("types", k, entry)
		if ok && !bytes.Equal(encode("types", k, got), entry) {
			t.Errorf("accepted %q", entry)
		}
	})
}

// TestFolderIsReplaced expects a folder in place of an entry to last until the next Put.
func TestFolderIsReplaced(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	name := s.file("types", KeyOf("a"))
	if err := os.MkdirAll(filepath.Join(name, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get("types", KeyOf("a")); ok {
		t.Error("a folder is an entry")
	}
	s.Put("types", KeyOf("a"), content)
	if got, ok := s.Get("types", KeyOf("a")); s.Err() != nil || !ok || !bytes.Equal(got, content) {
		t.Errorf("got %q, %v, %v", got, ok, s.Err())
	}
	if left, err := filepath.Glob(filepath.Join(s.dir, "types", tempPrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
}
