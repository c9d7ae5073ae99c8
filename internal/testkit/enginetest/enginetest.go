// Package enginetest compares our verdicts on texts, such as configurations of hooks, with
// recorded verdicts of shell-operator and addon-operator. An oracle is a program in a module
// of its own that runs an engine's code; its main.go lists the kinds of texts.
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

// verdict is what an engine does with a text.
type verdict struct {
	Rejection string          `json:"Refused"` // the reason, or ""
	Result    json.RawMessage // the parsed text, for some kinds
}

// builds are functions that build an oracle, by the folder of its module.
var builds sync.Map

// build builds the oracle in dir and returns its path.
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

// runOracle builds the oracle in dir, which takes minutes the first time, and returns its
// verdicts.
func runOracle(t *testing.T, dir, kind string, texts []string) []verdict {
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
	var verdicts []verdict
	if err := json.Unmarshal(content, &verdicts); err != nil || len(verdicts) != len(texts) {
		t.Fatalf("%d verdicts on %d texts: %v", len(verdicts), len(texts), err)
	}
	return verdicts
}
