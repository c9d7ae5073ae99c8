// Command engine judges texts as shell-operator does, by its own code, as package
// judge says. The texts are:
//
//	config      hook configurations: what it has against each, or nothing
//	patches     patch files: what it has against each, or nothing
//	execute     patch files: what comes of their execution, where all objects are there
//	metrics     metrics files: what they come to, or what it has against each
//	admission   answers to admission requests, likewise
//	conversion  answers to conversion requests, likewise
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"example.com/judge"
	enginelog "github.com/deckhouse/deckhouse/pkg/log"
	metricsstorage "github.com/deckhouse/deckhouse/pkg/metrics-storage"
	"github.com/flant/shell-operator/pkg/hook"
	"github.com/flant/shell-operator/pkg/hook/config"
	objectpatch "github.com/flant/shell-operator/pkg/kube/object_patch"
	"github.com/flant/shell-operator/pkg/webhook/admission"
	"github.com/flant/shell-operator/pkg/webhook/conversion"
)

func main() {
	judge.Main(map[string]judge.Judge{
		"config": judgeConfig, "patches": judgePatches, "execute": newCluster().execute, "metrics": newRunner().metrics,
		"admission":  func(text string) (any, error) { return admission.ResponseFromBytes([]byte(text)) },
		"conversion": judgeConversion,
	})
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
