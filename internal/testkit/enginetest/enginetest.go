// Package enginetest compares our verdicts on texts with those of shell-operator and
// addon-operator, which it records.
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

// judged is the verdict of an engine on a text.
type judged struct {
	Refused string          // the reason, or ""
	Result  json.RawMessage // the parsed text, when the kind asks for it
}

// builds are functions that build a judge, by the folder of its module.
var builds sync.Map

// build builds the judge in dir and returns its program.
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

// ask builds the judge in dir, which takes minutes the first time, and returns its
// verdicts. A judge is a program in a module of its own that runs an engine's code; its
// main.go lists the kinds of texts.
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
		t.Fatalf("%d verdicts on %d texts: %v", len(verdicts), len(texts), err)
	}
	return verdicts
}
