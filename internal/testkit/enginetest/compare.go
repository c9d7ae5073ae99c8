package enginetest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/answers"
	"golang.org/x/mod/modfile"
)

// Verdict returns what is recorded about a text: "rejected", "accepted", or a checksum of
// the parsed text.
func Verdict(rejected bool, result any) string {
	if rejected {
		return "rejected"
	}
	if raw, isRaw := result.(json.RawMessage); isRaw && len(raw) == 0 || result == nil {
		return "accepted"
	}
	content, err := json.Marshal(result)
	if err != nil {
		return err.Error()
	}
	var plain any
	if err := json.Unmarshal(content, &plain); err != nil {
		return err.Error()
	}
	if plain == nil {
		return "accepted"
	}
	content, _ = json.Marshal(plain) // with sorted keys
	return fmt.Sprintf("%x", sha256.Sum256(content))[:12]
}

// Compare compares our verdicts on texts with the recorded ones of an engine, which the oracle in dir runs. Its go.mod pins
// the module of the engine.
func Compare(t *testing.T, dir, kind string, texts []string, ours func(text string) string) {
	t.Helper()
	peer, err := engine(dir)
	if err != nil {
		t.Fatal(err)
	}
	// The oracle in the folder beside the others is the part that they share.
	sources, err := sources(dir, filepath.Join(dir, "..", "oracle"))
	if err != nil {
		t.Fatal(err)
	}
	question := answers.Question{Peer: peer, Parts: append([]string{kind}, texts...), Files: sources}
	recorded := answers.Ask(t, kind, question, func() (verdicts []string) {
		for _, v := range runOracle(t, dir, kind, texts) {
			verdicts = append(verdicts, Verdict(v.Rejection != "", v.Result))
		}
		return verdicts
	})
	differ, counts := 0, map[string]int{}
	for i, text := range texts {
		want, got := recorded[i], ours(text)
		counts[want]++
		if got != want {
			if differ++; differ <= 10 {
				t.Errorf("the engine's verdict is %s, ours is %s:\n%s", want, got, text)
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d differ", differ, len(texts))
	}
	for verdict, n := range counts {
		if n*10 > len(texts)*9 {
			t.Errorf("%d of %d texts are %s: the texts do not test much else", n, len(texts), verdict)
		}
	}
}

// sources returns the contents of the Go files and the go.mod files in folders. go.sum follows from them.
func sources(dirs ...string) (map[string]string, error) {
	files := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() != "go.mod" && filepath.Ext(name) != ".go" {
				return err
			}
			content, err := os.ReadFile(name)
			files[filepath.ToSlash(name)] = string(content)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// engine returns the name and the version of the engine whose code the oracle in dir runs.
func engine(dir string) (string, error) {
	file := filepath.Join(dir, "go.mod")
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	mod, err := modfile.Parse(file, content, nil)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"addon-operator", "shell-operator"} { // the first one requires the second one
		for _, r := range mod.Require {
			if path.Base(r.Mod.Path) == name {
				return name + " " + r.Mod.Version, nil
			}
		}
	}
	return "", fmt.Errorf("%s requires no engine", file)
}
