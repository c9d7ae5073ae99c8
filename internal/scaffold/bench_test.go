package scaffold

import (
	"bytes"
	"fmt"
	"testing"
)

// project60 plans what init writes: 60 files of 2.5 KB in 20 folders.
func project60(b *testing.B, p *Plan, version int) {
	content := bytes.Repeat([]byte("a line of fifty bytes, as in most source files..\n"), 50)
	for i := range 60 {
		c := fmt.Appendf(nil, "version %d\n%s", version, content)
		must(b, p.Seed(fmt.Sprintf("dir%d/sub%d/file%d.yaml", i%5, i%4, i), 0o644, c))
	}
}

func run60(b *testing.B, root string, version int) {
	p := newPlan(b, baseFs(root), Options{Command: "bench"})
	project60(b, p, version)
	must(b, p.Apply(b.Context()))
}

// BenchmarkInit writes 60 new files, with their bases.
func BenchmarkInit(b *testing.B) {
	for b.Loop() {
		run60(b, b.TempDir(), 1)
	}
}

// BenchmarkRepeat repeats a plan that changes nothing.
func BenchmarkRepeat(b *testing.B) {
	root := b.TempDir()
	run60(b, root, 1)
	for b.Loop() {
		run60(b, root, 1)
	}
}

// BenchmarkUpdate replaces 60 files and their bases, and flushes all of them.
func BenchmarkUpdate(b *testing.B) {
	root, i := b.TempDir(), 1
	for b.Loop() {
		i++
		run60(b, root, i)
	}
}
