package store

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of the store. The time of last use of an entry is its modification time. It is
// coarse, so that it is rarely updated.
const (
	maxSize  = 512 << 20
	maxAge   = 30 * 24 * time.Hour
	useGrain = time.Hour      // the precision of the time of last use
	rest     = 24 * time.Hour // the time between two prunings
	maxPut   = time.Hour      // the age after which a temporary file is a leftover
)

const (
	tempPrefix = "put-"
	prunedFile = "pruned" // its modification time is the time of the last pruning
)

// markUsed updates the time of last use of an entry.
func markUsed(name string, now time.Time) {
	if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > useGrain {
		_ = os.Chtimes(name, now, now)
	}
}

// pruneNow prunes the store in dir, unless a process has done so recently. It first
// updates the time of the last pruning, so that only one of several processes prunes.
func pruneNow(dir string, now time.Time) {
	note := filepath.Join(dir, prunedFile)
	if info, err := os.Stat(note); err == nil && now.Sub(info.ModTime()).Abs() < rest {
		return
	}
	if Replace(note, nil) == nil {
		prune(dir, now, maxSize)
	}
}

// prune removes entries that were not used for a long time, and then the least recently
// used ones until at most size bytes are left. A process that is using an entry has
// opened its file, or handles the entry as missing.
func prune(dir string, now time.Time, size int64) {
	type entry struct {
		name string
		size int64
		used time.Time
	}
	var entries []entry
	var total int64
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		age := now.Sub(info.ModTime())
		switch {
		case name == filepath.Join(dir, prunedFile):
		case age > maxAge, age > maxPut && strings.HasPrefix(d.Name(), tempPrefix):
			_ = os.Remove(name)
		default:
			entries = append(entries, entry{name, info.Size(), info.ModTime()})
			total += info.Size()
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(a.used.Compare(b.used), strings.Compare(a.name, b.name))
	})
	for _, e := range entries {
		if total <= size {
			return
		}
		if os.Remove(e.name) == nil {
			total -= e.size
		}
	}
}
