package e2e

import "testing"

// eventually calls f until it returns nil, and fails the test with its last
// error when that takes too long.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	panic("D")
}

// consistently fails the test when f returns an error within a while.
func consistently(t *testing.T, what string, f func() error) {
	t.Helper()
	panic("D")
}
