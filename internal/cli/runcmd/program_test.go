package runcmd

import (
	"slices"
	"testing"

	"github.com/operon-dev/operon/internal/project"
)

// TestGoProgram expects the flags with which operon image compiles, unless the project's own image has cgo.
func TestGoProgram(t *testing.T) {
	t.Parallel()
	for dockerfile, want := range map[string][]string{
		"FROM scratch\nRUN CGO_ENABLED=0 go build -o manager ./cmd\n": {"CGO_ENABLED=0"},
		"FROM scratch\nRUN go build -o manager ./cmd\n":               nil,
		"": nil,
	} {
		root := t.TempDir()
		write(t, root, "cmd/main.go", "package main\n")
		if dockerfile != "" {
			write(t, root, "Dockerfile", dockerfile)
		}
		p, err := goProgram(root, &project.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.env, want) || !slices.Contains(p.build, "-trimpath") {
			t.Errorf("%q: %q with %q", dockerfile, p.build, p.env)
		}
	}
}
