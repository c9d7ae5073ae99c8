// Command engine processes texts with the code of shell-operator; see package oracle. Its functions
// are:
//
//	config      validate configurations of hooks
//	patches     validate patch files
//	execute     execute patch files in a cluster that has all objects
//	metrics     parse metrics files
//	admission   parse responses to admission requests
//	conversion  parse responses to conversion requests
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"example.com/oracle"
	enginelog "github.com/deckhouse/deckhouse/pkg/log"
	metricsstorage "github.com/deckhouse/deckhouse/pkg/metrics-storage"
	"github.com/flant/shell-operator/pkg/hook"
	"github.com/flant/shell-operator/pkg/hook/config"
	objectpatch "github.com/flant/shell-operator/pkg/kube/object_patch"
	"github.com/flant/shell-operator/pkg/webhook/admission"
	"github.com/flant/shell-operator/pkg/webhook/conversion"
)

func main() {
	oracle.Main(map[string]oracle.Func{
		"config": validateConfig, "patches": validatePatches, "execute": newCluster().execute, "metrics": newRunner().metrics,
		"admission":  func(text string) (any, error) { return admission.ResponseFromBytes([]byte(text)) },
		"conversion": parseConversion,
	})
}

func validateConfig(text string) (any, error) {
	return nil, new(config.HookConfig).LoadAndValidate([]byte(text))
}

func validatePatches(text string) (any, error) {
	_, err := objectpatch.ParseOperations([]byte(text))
	return nil, err
}

// parseConversion returns the message and the number of objects. It does not return the objects,
// because they may be invalid JSON.
func parseConversion(text string) (any, error) {
	r, err := conversion.ResponseFromBytes([]byte(text))
	if err != nil {
		return nil, err
	}
	return []any{r.FailedMessage, len(r.ConvertedObjects)}, nil
}

// runner runs a hook that writes the content of the file given.
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

// metrics returns the metrics of a file. The error is an error of the engine when it parses or
// applies them.
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
