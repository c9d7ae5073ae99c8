// Package enginetest asks shell-operator itself, in tests that record what it says.
package enginetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Verdict is what the engine makes of a text.
type Verdict struct {
	Refused string          // what it has against it, or ""
	Result  json.RawMessage // what it comes to, where that is asked for
}

// builds are the engine's judges, by the folders of their modules.
var builds sync.Map

// build returns the program of the module in dir.
func build(dir string) (string, error) {
	once, _ := builds.LoadOrStore(dir, sync.OnceValues(func() (string, error) {
		tmp, err := os.MkdirTemp("", "engine-")
		if err != nil {
			return "", err
		}
		bin := filepath.Join(tmp, "engine")
		cmd := exec.Command("go", "build", "-o", bin, ".")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
		return bin, nil
	}))
	return once.(func() (string, error))()
}

// Ask builds the engine's judge, a module of its own in dir, which takes minutes
// the first time, and has it judge texts of a kind that its main.go names.
func Ask(t *testing.T, dir, kind string, texts []string) []Verdict {
	t.Helper()
	bin, err := build(dir)
	if err != nil {
		t.Fatalf("build the engine: %v", err)
	}
	out := filepath.Join(t.TempDir(), "verdicts.json")
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	ask := exec.Command(bin, kind, out)
	ask.Stdin = bytes.NewReader(in)
	if message, err := ask.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, message)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []Verdict
	if err := json.Unmarshal(content, &verdicts); err != nil || len(verdicts) != len(texts) {
		t.Fatalf("%d verdicts about %d texts: %v", len(verdicts), len(texts), err)
	}
	return verdicts
}
