package e2e

import (
	"testing"
	"time"
)

const (
	patience = 60 * time.Second       // a busy machine is slow, not broken
	calm     = 2 * time.Second        // what has not happened by then is not going to
	interval = 100 * time.Millisecond // between two looks
)

// eventually calls f until it returns nil, and fails the test with its last
// error when that takes too long.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s: %v", what, patience, err)
		}
		time.Sleep(interval)
	}
}

// consistently fails the test when f returns an error within a while.
func consistently(t *testing.T, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(calm); time.Now().Before(deadline); time.Sleep(interval) {
		if err := f(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}
