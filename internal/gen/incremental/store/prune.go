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

// How much is kept, and how long. Times of use are times of modification, and
// they are as coarse as that is cheap.
const (
	maxSize  = 512 << 20
	maxAge   = 30 * 24 * time.Hour
	useGrain = time.Hour      // entries used within it count as used alike
	rest     = 24 * time.Hour // between two prunings
	maxPut   = time.Hour      // what is half-written for longer was left behind
)

const (
	tempPrefix = "put-"
	prunedFile = "pruned" // its time of modification is that of the last pruning
)

// markUsed notes that an entry is of use.
func markUsed(name string, now time.Time) {
	if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > useGrain {
		_ = os.Chtimes(name, now, now)
	}
}

// pruneNow prunes the store in dir, unless somebody did so lately. The note is
// made before the work, so that of many processes one does it.
func pruneNow(dir string, now time.Time) {
	note := filepath.Join(dir, prunedFile)
	if info, err := os.Stat(note); err == nil && now.Sub(info.ModTime()).Abs() < rest {
		return
	}
	if Replace(note, nil) == nil {
		prune(dir, now, maxSize)
	}
}

// prune removes what was not used for long, and then the least recently used
// until no more than size bytes are left. Who uses an entry at this moment has
// it open, or misses it.
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
		switch age := now.Sub(info.ModTime()); {
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
