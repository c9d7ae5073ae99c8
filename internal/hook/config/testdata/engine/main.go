// Command engine judges hook configurations as shell-operator does: a JSON list
// of texts on stdin, and on stdout a list of what it has against each, or "".
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/flant/shell-operator/pkg/hook/config"
)

func main() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		log.Fatal(err)
	}
	verdicts := make([]string, len(texts))
	for i, text := range texts {
		if err := new(config.HookConfig).LoadAndValidate([]byte(text)); err != nil {
			verdicts[i] = err.Error()
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		log.Fatal(err)
	}
}
