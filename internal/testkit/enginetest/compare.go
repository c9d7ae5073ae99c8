package enginetest

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var record = flag.Bool("record", false, "record the verdicts of the engines; building them takes minutes the first time")

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

// Compare compares our verdicts on texts with those of an engine, which the oracle in dir
// runs. The file testdata/<kind>.verdicts records the engine's verdicts: first a checksum of
// all inputs, then a line for each text.
func Compare(t *testing.T, dir, kind string, texts []string, ours func(text string) string) {
	t.Helper()
	file := "testdata/" + kind + ".verdicts"
	sum, err := sumOf(dir, texts)
	if err != nil {
		t.Fatal(err)
	}
	engine := make([]verdict, len(texts))
	if *record {
		engine = runOracle(t, dir, kind, texts)
		lines := []string{sum}
		for _, v := range engine {
			lines = append(lines, Verdict(v.Rejection != "", v.Result))
		}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	recorded := strings.Split(strings.TrimSpace(string(content)), "\n")
	if recorded[0] != sum || len(recorded) != len(texts)+1 {
		t.Fatalf("%s belongs to other texts or another engine: run go test -run %s -record", file, t.Name())
	}
	differ, counts := 0, map[string]int{}
	for i, text := range texts {
		want, got := recorded[i+1], ours(text)
		counts[want]++
		if got != want {
			if differ++; differ <= 10 {
				t.Errorf("the engine's verdict is %s, ours is %s:\n%s\n%s%s", want, got, text, engine[i].Rejection, engine[i].Result)
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
