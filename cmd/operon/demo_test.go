//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestDemo runs what `make demo` runs, to its last line: the times of its steps.
func TestDemo(t *testing.T) {
	out := command(t, ".", "bash", "../../testdata/demo.sh", t.TempDir())
	if !strings.Contains(out, "# what it took") || !strings.Contains(out, "ms  go build ./...") {
		t.Errorf("the demo ends with:\n%s", out[max(0, len(out)-2000):])
	}
}
