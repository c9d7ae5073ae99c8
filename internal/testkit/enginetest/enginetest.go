// Package enginetest asks the engines themselves, in tests that record what they say.
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

// judged is what the engine makes of a text.
type judged struct {
	Refused string          // what it has against it, or ""
	Result  json.RawMessage // what it comes to, where that is asked for
}

// builds are the engines' judges, by the folders of their modules.
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

// ask builds an engine's judge, a module of its own in dir, which takes minutes
// the first time, and has it judge texts of a kind that its main.go names.
func ask(t *testing.T, dir, kind string, texts []string) []judged {
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
	cmd := exec.Command(bin, kind, out)
	cmd.Stdin = bytes.NewReader(in)
	if message, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, message)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []judged
	if err := json.Unmarshal(content, &verdicts); err != nil || len(verdicts) != len(texts) {
		t.Fatalf("%d verdicts about %d texts: %v", len(verdicts), len(texts), err)
	}
	return verdicts
}
