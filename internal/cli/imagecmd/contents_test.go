package imagecmd

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDockerBase reads the base of the last stage, and no lines that only look like its instruction.
func TestDockerBase(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"FROM a:v1\n": "a:v1",
		"FROM golang AS build\nRUN x\nFROM --platform=linux/amd64 b:v2\nCOPY --from=build x y\n": "b:v2",
		"FROM b:v2 AS engine\nfrom Engine\n":                                                     "b:v2",
		"FROM \\\n  a:v1\nRUN echo \\\n  from os import path\n":                                  "a:v1",
		"FROM a:v1\nRUN python3 - <<'EOF'\nfrom yaml import load\nEOF\nUSER 1001\n":              "a:v1",
	} {
		name := filepath.Join(t.TempDir(), "Dockerfile")
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := dockerBase(name); err != nil || got != want {
			t.Errorf("%q: got %s, %v, want %s", content, got, err, want)
		}
	}
}
