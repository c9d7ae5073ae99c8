//go:build testall

package e2e

import (
	"testing"
	"time"
)

const (
	timeout     = 5 * time.Minute        // for events that must happen; the machine may compile meanwhile
	quietPeriod = 2 * time.Second        // for events that must not happen
	interval    = 100 * time.Millisecond // between two checks
)

// eventually calls f until it returns nil. When that takes too long, it fails the test with
// the last error.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	deadline := time.Now().Add(timeout)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s: %v", what, timeout, err)
		}
		time.Sleep(interval)
	}
}

// consistently fails the test when f returns an error within the time quietPeriod.
func consistently(t *testing.T, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(quietPeriod); time.Now().Before(deadline); time.Sleep(interval) {
		if err := f(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}
