package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// aged stores an entry and sets the time of its last use.
func aged(t *testing.T, s *Store, name string, used time.Time) string {
	t.Helper()
	s.Put("types", KeyOf(name), content)
	file := s.file("types", KeyOf(name))
	if err := os.Chtimes(file, used, used); err != nil {
		t.Fatal(err)
	}
	return file
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func TestPrune(t *testing.T) {
	t.Parallel()
	s, now := Open(t.TempDir()), time.Now()
	unused := aged(t, s, "unused", now.Add(-maxAge-time.Hour))
	oldest := aged(t, s, "oldest", now.Add(-72*time.Hour))
	older := aged(t, s, "older", now.Add(-48*time.Hour))
	recent := aged(t, s, "recent", now.Add(-time.Minute))
	types := filepath.Dir(recent)
	left, underway := filepath.Join(types, tempPrefix+"1"), filepath.Join(types, tempPrefix+"2")
	for name, when := range map[string]time.Time{left: now.Add(-2 * maxPut), underway: now} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}

	prune(s.dir, now, int64(2*(header+len(content))))
	var stay []string
	for _, name := range []string{unused, oldest, older, recent, left, underway} {
		if exists(name) {
			stay = append(stay, name)
		}
	}
	if want := []string{older, recent, underway}; !slices.Equal(stay, want) {
		t.Errorf("left %q, want %q", stay, want)
	}
}

// TestPruneRests expects pruning at the first Put, and then not for a day.
func TestPruneRests(t *testing.T) {
	t.Parallel()
	now := time.Now()
	dir := t.TempDir()
	unused := aged(t, Open(dir), "unused", now.Add(-2*maxAge))
	Open(dir).Put("types", KeyOf("other"), content)
	if !exists(unused) {
		t.Error("pruned twice in a day")
	}
	yesterday := now.Add(-rest - time.Minute)
	if err := os.Chtimes(filepath.Join(dir, prunedFile), yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	Open(dir).Put("types", KeyOf("other"), content)
	if exists(unused) {
		t.Error("not pruned after a day")
	}
}

func TestUseIsRecorded(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	file := aged(t, s, "a", time.Now().Add(-48*time.Hour))
	if _, ok := s.Get("types", KeyOf("a")); !ok {
		t.Fatal("the entry is missing")
	}
	if info, err := os.Stat(file); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("used at %v, %v", info.ModTime(), err)
	}
}
