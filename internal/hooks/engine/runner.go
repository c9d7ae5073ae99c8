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

// Runner runs each hook as a process with the files of the engine and an empty stdin.
type Runner struct {
	Env  []string // as in os.Environ, without the variables that the engine adds
	Temp string   // folder for temporary files of a run
	Dir  string   // working folder of hooks; "" means the folder of each hook
}

// Result is the output of a hook process.
type Result struct {
	ExitCode       int // -1 if a signal terminated it
	Stdout, Stderr []byte
	// The contents of the files that the hook wrote.
	Patches, Metrics, Admission, Conversion []byte
	ValuesPatch, ConfigPatch                []byte
	Enabled, Reason                         []byte
}

// Given are the values, as JSON, for a hook of addon-operator.
type Given struct{ Values, Config []byte }

// file is a file that a hook may write, with the variables that contain its path.
type file struct {
	name      string
	variables []string
	content   func(*Result) *[]byte
}

var (
	commonFiles = []file{
		{"metrics.json", []string{"METRICS_PATH"}, func(r *Result) *[]byte { return &r.Metrics }},
		{"object-patch", []string{"KUBERNETES_PATCH_PATH"}, func(r *Result) *[]byte { return &r.Patches }},
	}
	shellFiles = append(slices.Clip(commonFiles),
		file{"conversion-response.json", []string{"CONVERSION_RESPONSE_PATH"}, func(r *Result) *[]byte { return &r.Conversion }},
		file{"admission-response.json", []string{"VALIDATING_RESPONSE_PATH", "ADMISSION_RESPONSE_PATH"}, func(r *Result) *[]byte { return &r.Admission }},
	)
	addonFiles = append(slices.Clip(commonFiles),
		file{"values.json-patch", []string{"VALUES_JSON_PATCH_PATH"}, func(r *Result) *[]byte { return &r.ValuesPatch }},
		file{"config-values.json-patch", []string{"CONFIG_VALUES_JSON_PATCH_PATH"}, func(r *Result) *[]byte { return &r.ConfigPatch }},
	)
	scriptFiles = []file{
		{"module-enabled-result", []string{"MODULE_ENABLED_RESULT"}, func(r *Result) *[]byte { return &r.Enabled }},
		{"module-enabled-reason", []string{"MODULE_ENABLED_REASON"}, func(r *Result) *[]byte { return &r.Reason }},
	}
)

// Run runs the hook of a task. It kills all child processes of the hook if the hook fails
// or ctx ends. An error means that the hook could not run to its end; a failing hook is
// not an error. values is nil for shell-operator.
func (r Runner) Run(ctx context.Context, t Task, values *Given) (Result, error) {
	contexts, err := json.Marshal(t.Contexts)
	if err != nil {
		return Result{}, err
	}
	given := []input{{"binding-context.json", "BINDING_CONTEXT_PATH", append(contexts, '\n')}}
	if values == nil {
		return r.start(ctx, t.Hook.Path, given, shellFiles)
	}
	return r.start(ctx, t.Hook.Path, append(given, values.inputs()...), addonFiles)
}

// input is a file that a program reads.
type input struct {
	name, variable string
	content        []byte
}

func (g Given) inputs() []input {
	return []input{{"values.json", "VALUES_PATH", g.Values}, {"config-values.json", "CONFIG_VALUES_PATH", g.Config}}
}

// start runs a program with input files and with files that it may write.
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
		return result, fmt.Errorf("the hook %w", process.ErrTooMuchOutput)
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
