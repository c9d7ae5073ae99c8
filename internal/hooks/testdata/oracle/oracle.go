// Package oracle is the common part of programs that process texts with the code of a real
// engine. Tests compare operon's results with theirs.
//
// The first argument of such a program is the name of a function. The program reads a JSON list
// of texts from stdin, and writes a JSON list of the function's results to the file in the second
// argument.
package oracle

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
)

// Func returns the engine's result for a text. The result may be nil; tests compare it as JSON. The
// error means that the engine rejects the text.
type Func func(text string) (any, error)

type verdict struct {
	Refused string `json:"refused,omitempty"`
	Result  any    `json:"result,omitempty"`
}

// Main processes texts with the function that the command line names.
func Main(functions map[string]Func) {
	if len(os.Args) != 3 || functions[os.Args[1]] == nil {
		log.Fatalf("usage: %s FILE < texts", strings.Join(slices.Sorted(maps.Keys(functions)), "|"))
	}
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		log.Fatal(err)
	}
	verdicts := make([]verdict, len(texts))
	for i, text := range texts {
		verdicts[i] = call(functions[os.Args[1]], text)
	}
	out, err := json.Marshal(verdicts)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], out, 0o644); err != nil {
		log.Fatal(err)
	}
}

// call treats a panic as an error, as the queues of the engines do.
func call(f Func, text string) (v verdict) {
	defer func() {
		if r := recover(); r != nil {
			v = verdict{Refused: fmt.Sprintf("panic: %v", r)}
		}
	}()
	result, err := f(text)
	if err != nil {
		return verdict{Refused: err.Error()}
	}
	return verdict{Result: result}
}
