package gen

import (
	"context"
	"path/filepath"
	"sync"
)

// Progress is told what a run of the generators is at: a phase such as
// "generating crd", and how much of it is done, of how much in total; 0 where
// that is not known. It is called often, and from several goroutines.
type Progress func(phase string, done, total int)

type progressKey struct{}

// WithProgress returns a context with which [Plan] tells p what it does.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// progress returns what to tell about a run, which may be a function that does
// nothing.
func progress(ctx context.Context) Progress {
	if p, ok := ctx.Value(progressKey{}).(Progress); ok {
		return p
	}
	return func(string, int, int) {}
}

// counted is read, which tells how many packages were read from so far.
func counted(say Progress, read func(string) ([]byte, error)) func(string) ([]byte, error) {
	var mu sync.Mutex
	folders := map[string]bool{}
	return func(name string) ([]byte, error) {
		mu.Lock()
		folders[filepath.Dir(name)] = true
		n := len(folders)
		mu.Unlock()
		say("reading packages", n, 0)
		return read(name)
	}
}
