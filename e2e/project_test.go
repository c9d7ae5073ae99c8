package e2e

import "testing"

// project is a scaffolded operator with its manager built.
type project struct {
	dir     string // the project's folder
	manager string // the built binary
}

// scenario makes the project of testdata/scenarios/<name>: its commands, its
// edits, `operon generate`, and the manager. Several tests share one.
func scenario(t *testing.T, name string) *project {
	t.Helper()
	panic("D")
}

// golden is a copy of testdata/golden/<name> with the manager built.
func golden(t *testing.T, name string) *project {
	t.Helper()
	panic("D")
}
