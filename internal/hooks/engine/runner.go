package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/process"
)

// Runner runs hooks, each as a process of its own, with the files that the engine
// gives it and no input.
type Runner struct {
	Env  []string // as in os.Environ; what the engine adds to it comes on top
	Temp string   // folder for the files of a run, which are removed after it
	Dir  string   // where hooks start; "": each in its own folder
}

// Result is what a hook left behind.
type Result struct {
	ExitCode       int // -1 when a signal ended it
	Stdout, Stderr []byte
	// The files, as the hook wrote them.
	Patches, Metrics, Admission, Conversion []byte
	ValuesPatch, ConfigPatch                []byte
	Enabled, Reason                         []byte
}

// Given are values, in JSON, that a hook of addon-operator is given.
type Given struct{ Values, Config []byte }

// file is what a hook may write, by the variables that name it.
type file struct {
	name      string
	variables []string
	content   func(*Result) *[]byte
}

var (
	both = []file{
		{"metrics.json", []string{"METRICS_PATH"}, func(r *Result) *[]byte { return &r.Metrics }},
		{"object-patch", []string{"KUBERNETES_PATCH_PATH"}, func(r *Result) *[]byte { return &r.Patches }},
	}
	ofShell = append(slices.Clip(both),
		file{"conversion-response.json", []string{"CONVERSION_RESPONSE_PATH"}, func(r *Result) *[]byte { return &r.Conversion }},
		file{"admission-response.json", []string{"VALIDATING_RESPONSE_PATH", "ADMISSION_RESPONSE_PATH"}, func(r *Result) *[]byte { return &r.Admission }},
	)
	ofAddon = append(slices.Clip(both),
		file{"values.json-patch", []string{"VALUES_JSON_PATCH_PATH"}, func(r *Result) *[]byte { return &r.ValuesPatch }},
		file{"config-values.json-patch", []string{"CONFIG_VALUES_JSON_PATCH_PATH"}, func(r *Result) *[]byte { return &r.ConfigPatch }},
	)
	ofScript = []file{
		{"module-enabled-result", []string{"MODULE_ENABLED_RESULT"}, func(r *Result) *[]byte { return &r.Enabled }},
		{"module-enabled-reason", []string{"MODULE_ENABLED_REASON"}, func(r *Result) *[]byte { return &r.Reason }},
	}
)

// Run runs the hook of a task and waits for it. Nothing that it started is left when
// it fails or the context ends. An error says that it could not be run to its end;
// a hook that fails is none. One of addon-operator is given values.
func (r Runner) Run(ctx context.Context, t Task, values *Given) (Result, error) {
	contexts, err := json.Marshal(t.Contexts)
	if err != nil {
		return Result{}, err
	}
	given := []input{{"binding-context.json", "BINDING_CONTEXT_PATH", append(contexts, '\n')}}
	if values == nil {
		return r.start(ctx, t.Hook.Path, given, ofShell)
	}
	return r.start(ctx, t.Hook.Path, append(given, values.inputs()...), ofAddon)
}

// input is a file that a program is given.
type input struct {
	name, variable string
	content        []byte
}

func (g Given) inputs() []input {
	return []input{{"values.json", "VALUES_PATH", g.Values}, {"config-values.json", "CONFIG_VALUES_PATH", g.Config}}
}

// start runs a program with the files that it is given and those that it may write.
func (r Runner) start(ctx context.Context, program string, given []input, files []file) (Result, error) {
	dir, err := os.MkdirTemp(r.Temp, "operon-hook-")
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	folder := cmp.Or(r.Dir, filepath.Dir(program))
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir, cmd.WaitDelay = folder, time.Second
	cmd.Env = append(append([]string{}, r.Env...), "PWD="+folder)
	write := func(name string, content []byte, variables ...string) {
		path := filepath.Join(dir, name)
		for _, v := range variables {
			cmd.Env = append(cmd.Env, v+"="+path)
		}
		err = errors.Join(err, os.WriteFile(path, content, 0o600))
	}
	for _, in := range given {
		write(in.name, in.content, in.variable)
	}
	for _, f := range files {
		write(f.name, nil, f.variables...)
	}
	if err != nil {
		return Result{}, err
	}
	var stdout, stderr process.Output
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = process.Run(cmd)
	result := Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return result, context.Cause(ctx)
	case stdout.Err() != nil || stderr.Err() != nil:
		return result, fmt.Errorf("the hook %w", process.ErrTooMuch)
	case errors.As(err, &exit):
		result.ExitCode = exit.ExitCode()
		return result, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return result, errors.New("the hook exited, but a background process holds its output open, and the engine waits for that: redirect what that program prints, or wait for it")
	case err != nil:
		return result, err
	}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(dir, f.name))
		if err != nil {
			return result, err
		}
		*f.content(&result) = content
	}
	return result, nil
}
