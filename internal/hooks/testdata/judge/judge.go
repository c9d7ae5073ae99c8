// Package judge is what programs have in common that judge texts as an engine does:
// a JSON list of texts on stdin, and a list of what the engine makes of each, in
// JSON, in the file named last. What the texts are is named first.
package judge

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
)

// Judge returns what a text comes to, in a form that compares, or nil; or what the
// engine has against it.
type Judge func(text string) (any, error)

type verdict struct {
	Refused string `json:"refused,omitempty"`
	Result  any    `json:"result,omitempty"`
}

// Main judges texts by the judge that the command line names.
func Main(judges map[string]Judge) {
	if len(os.Args) != 3 || judges[os.Args[1]] == nil {
		log.Fatalf("usage: %s FILE < texts", strings.Join(slices.Sorted(maps.Keys(judges)), "|"))
	}
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		log.Fatal(err)
	}
	verdicts := make([]verdict, len(texts))
	for i, text := range texts {
		verdicts[i] = ask(judges[os.Args[1]], text)
	}
	out, err := json.Marshal(verdicts)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], out, 0o644); err != nil {
		log.Fatal(err)
	}
}

// ask takes a panic for a refusal, as the engines' queues do.
func ask(judge Judge, text string) (v verdict) {
	defer func() {
		if r := recover(); r != nil {
			v = verdict{Refused: fmt.Sprintf("panic: %v", r)}
		}
	}()
	result, err := judge(text)
	if err != nil {
		return verdict{Refused: err.Error()}
	}
	return verdict{Result: result}
}
