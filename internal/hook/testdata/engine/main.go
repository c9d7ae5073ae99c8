// Command engine judges texts as shell-operator does, by its own code: a JSON list
// of texts on stdin, and a list of what it makes of each, in JSON, in the file
// named last. What the texts are is named first:
//
//	config      hook configurations: what it has against each, or ""
//	config-global, config-module  those of addon-operator's hooks, likewise
//	patches     patch files: what it has against each, or ""
//	execute     patch files: what comes of their execution, where all objects are there
//	metrics     metrics files: what they come to, or what it has against each
//	admission   answers to admission requests, likewise
//	conversion  answers to conversion requests, likewise
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	enginelog "github.com/deckhouse/deckhouse/pkg/log"
	metricsstorage "github.com/deckhouse/deckhouse/pkg/metrics-storage"
	"github.com/flant/shell-operator/pkg/hook"
	"github.com/flant/shell-operator/pkg/hook/config"
	objectpatch "github.com/flant/shell-operator/pkg/kube/object_patch"
	"github.com/flant/shell-operator/pkg/webhook/admission"
	"github.com/flant/shell-operator/pkg/webhook/conversion"
)

// verdict is what the engine makes of a text, in a form that compares.
type verdict struct {
	Refused string `json:"refused,omitempty"`
	Result  any    `json:"result,omitempty"`
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: engine config|config-global|config-module|patches|execute|metrics|admission|conversion FILE < texts")
	}
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		log.Fatal(err)
	}
	judge, known := map[string]func(string) (any, error){
		"config": judgeConfig, "config-global": globalSteps.judgeConfig, "config-module": moduleSteps.judgeConfig,
		"patches": judgePatches, "execute": newCluster().execute, "metrics": newRunner().metrics,
		"admission":  func(text string) (any, error) { return admission.ResponseFromBytes([]byte(text)) },
		"conversion": judgeConversion,
	}[os.Args[1]]
	if !known {
		log.Fatalf("nothing is called %s", os.Args[1])
	}
	verdicts := make([]verdict, len(texts))
	for i, text := range texts {
		verdicts[i] = ask(judge, text)
	}
	out, err := json.Marshal(verdicts)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], out, 0o644); err != nil {
		log.Fatal(err)
	}
}

// ask takes a panic for a refusal, as the engine's queues do.
func ask(judge func(string) (any, error), text string) (v verdict) {
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

func judgeConfig(text string) (any, error) {
	return nil, new(config.HookConfig).LoadAndValidate([]byte(text))
}

func judgePatches(text string) (any, error) {
	_, err := objectpatch.ParseOperations([]byte(text))
	return nil, err
}

// judgeConversion returns the message and the number of objects, which need not be
// JSON.
func judgeConversion(text string) (any, error) {
	r, err := conversion.ResponseFromBytes([]byte(text))
	if err != nil {
		return nil, err
	}
	return []any{r.FailedMessage, len(r.ConvertedObjects)}, nil
}

// runner runs a hook that writes what it is given.
type runner struct {
	dir  string
	hook *hook.Hook
}

func newRunner() *runner {
	dir, err := os.MkdirTemp("", "engine-")
	if err != nil {
		log.Fatal(err)
	}
	script := "#!/bin/sh\ncat ../given >\"$METRICS_PATH\"\n"
	path := filepath.Join(dir, "hooks", "hook.sh")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		log.Fatal(err)
	}
	h := hook.NewHook("hook.sh", path, false, false, "", enginelog.NewNop())
	h.WithTmpDir(dir)
	if _, err := h.LoadConfig([]byte("configVersion: v1\nonStartup: 1\n")); err != nil {
		log.Fatal(err)
	}
	return &runner{dir, h}
}

// metrics is what a file comes to, once the operations are applied.
func (r *runner) metrics(text string) (any, error) {
	if err := os.WriteFile(filepath.Join(r.dir, "given"), []byte(text), 0o644); err != nil {
		return nil, err
	}
	result, err := r.hook.Run(context.Background(), "", nil, nil)
	if err != nil {
		return nil, err
	}
	storage := metricsstorage.NewMetricStorage(metricsstorage.WithNewRegistry(), metricsstorage.WithLogger(enginelog.NewNop()))
	return result.Metrics, storage.ApplyBatchOperations(result.Metrics, map[string]string{"hook": "hook.sh"})
}
