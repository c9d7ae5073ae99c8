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

	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/process"
)

// Runner runs hooks as processes, with the files of the engine and an empty stdin.
type Runner struct {
	Env  []string // the environment, without the variables of the engine
	Temp string   // the folder for temporary files
	Dir  string   // the working folder of hooks; "" means the folder of each hook
}

// Result is the output of a hook process.
type Result struct {
	ExitCode       int // -1 if a signal terminated the process
	Stdout, Stderr []byte
	// The contents of the files that the hook wrote.
	Patches, Metrics, Admission, Conversion []byte
	ValuesPatch, ConfigPatch                []byte
	EnabledResult, EnabledReason            []byte
}

// ValuesFiles has the contents of the values files for addon-operator's hooks, as JSON.
type ValuesFiles struct{ Values, Config []byte }

// outputFile is a file that a hook may write, with the variables that contain its path.
type outputFile struct {
	name      string
	variables []string
	content   func(*Result) *[]byte
}

var (
	commonFiles = []outputFile{
		{"metrics.json", []string{"METRICS_PATH"}, func(r *Result) *[]byte { return &r.Metrics }},
		{"object-patch", []string{"KUBERNETES_PATCH_PATH"}, func(r *Result) *[]byte { return &r.Patches }},
	}
	shellFiles = append(slices.Clip(commonFiles),
		outputFile{"conversion-response.json", []string{"CONVERSION_RESPONSE_PATH"}, func(r *Result) *[]byte { return &r.Conversion }},
		outputFile{"admission-response.json", []string{"VALIDATING_RESPONSE_PATH", "ADMISSION_RESPONSE_PATH"},
			func(r *Result) *[]byte { return &r.Admission }},
	)
	addonFiles = append(slices.Clip(commonFiles),
		outputFile{"values.json-patch", []string{"VALUES_JSON_PATCH_PATH"}, func(r *Result) *[]byte { return &r.ValuesPatch }},
		outputFile{"config-values.json-patch", []string{"CONFIG_VALUES_JSON_PATCH_PATH"}, func(r *Result) *[]byte { return &r.ConfigPatch }},
	)
	scriptFiles = []outputFile{
		{"module-enabled-result", []string{"MODULE_ENABLED_RESULT"}, func(r *Result) *[]byte { return &r.EnabledResult }},
		{"module-enabled-reason", []string{"MODULE_ENABLED_REASON"}, func(r *Result) *[]byte { return &r.EnabledReason }},
	}
)

// Run runs the hook of a task. If the hook fails or ctx ends, it kills all child processes of the
// hook. An error means that the hook did not run to its end; a non-zero exit code is not an
// error. values is nil for shell-operator.
func (r Runner) Run(ctx context.Context, t Task, values *ValuesFiles) (Result, error) {
	contexts, err := json.Marshal(t.Contexts)
	if err != nil {
		return Result{}, err
	}
	inputs := []inputFile{{"binding-context.json", "BINDING_CONTEXT_PATH", append(contexts, '\n')}}
	if values == nil {
		return r.start(ctx, t.Hook.Path, inputs, shellFiles)
	}
	return r.start(ctx, t.Hook.Path, append(inputs, values.inputs()...), addonFiles)
}

// inputFile is a file that a hook reads.
type inputFile struct {
	name, variable string
	content        []byte
}

func (v ValuesFiles) inputs() []inputFile {
	return []inputFile{{"values.json", "VALUES_PATH", v.Values}, {"config-values.json", "CONFIG_VALUES_PATH", v.Config}}
}

// start runs a program with input files, and with output files that it may write.
func (r Runner) start(ctx context.Context, program string, inputs []inputFile, outputs []outputFile) (Result, error) {
	dir, err := os.MkdirTemp(r.Temp, "operon-hook-")
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	folder := cmp.Or(r.Dir, filepath.Dir(program))
	command := hooks.Command(program)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.WaitDelay = folder, time.Second
	cmd.Env = append(append([]string{}, r.Env...), "PWD="+folder)
	write := func(name string, content []byte, variables ...string) {
		path := filepath.Join(dir, name)
		for _, v := range variables {
			cmd.Env = append(cmd.Env, v+"="+path)
		}
		err = errors.Join(err, os.WriteFile(path, content, 0o600))
	}
	for _, in := range inputs {
		write(in.name, in.content, in.variable)
	}
	for _, f := range outputs {
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
		return result, errors.New("the hook exited, but a background process keeps its output open, and the engine waits for that process: redirect its output, or wait for it in the hook")
	case err != nil:
		return result, err
	}
	for _, f := range outputs {
		content, err := input.ReadFile(filepath.Join(dir, f.name), input.Text)
		if err != nil {
			return result, err
		}
		*f.content(&result) = content
	}
	return result, nil
}
