package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/output"
)

// Executor runs hooks and applies their object patches.
type Executor struct {
	Runner  Runner
	Applier kubeapi.Applier
	Values  Values // nil for hooks of shell-operator
}

// Values provides the values of addon-operator to hooks and applies values patches.
type Values interface {
	// Files returns the values, and the values of the ConfigMap, as JSON.
	Files() (values, config []byte, err error)
	// Read parses the values patches of a hook. apply applies them. After an error of either
	// function, the engine considers the hook failed.
	Read(values, config []byte) (apply func() error, err error)
}

// Execution is the result of executing a task.
type Execution struct {
	Result
	// The contents of the files that the hook wrote, up to the first invalid file.
	Operations []output.Operation
	Metrics    []output.Metric
	Admission  *output.Admission  // nil if there is no response
	Conversion *output.Conversion // nil if there is no response
	Warnings   []finding.Finding  // about these files; File is the variable with the path, such as $METRICS_PATH
}

// FailedError is the reason why the engine considers a hook failed.
type FailedError struct {
	Reason string
	Output string // for a non-zero exit code, the last lines of the output, joined to one line
}

func (e *FailedError) Error() string {
	if e.Output == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Output
}

// Execute runs the hook of a task. Pass the error to State.Finish. It is a *FailedError for a
// non-zero exit code or an invalid file, the error of Applier.Apply for a failed operation, or
// the reason why the hook could not run.
//
// The engine ignores the files of a hook with a non-zero exit code, so ignoreHookError has no
// effect. It patches values after objects.
func (e Executor) Execute(ctx context.Context, t Task) (Execution, error) {
	var files *ValuesFiles
	if e.Values != nil {
		values, config, err := e.Values.Files()
		if err != nil {
			return Execution{}, err
		}
		files = &ValuesFiles{values, config}
	}
	result, err := e.Runner.Run(ctx, t, files)
	done := Execution{Result: result}
	if err != nil {
		return done, err
	}
	if result.ExitCode != 0 {
		return done, &FailedError{fmt.Sprintf("exit code %d", result.ExitCode), outputTail(result)}
	}
	apply := func() error { return nil }
	if e.Values != nil {
		if apply, err = e.Values.Read(result.ValuesPatch, result.ConfigPatch); err != nil {
			return done, failed("%v", err)
		}
	}
	if err := done.parse(t.Hook.Name); err != nil {
		return done, err
	}
	if err := e.Applier.Apply(ctx, done.Operations); err != nil {
		return done, err
	}
	if err := apply(); err != nil {
		return done, failed("%v", err)
	}
	return done, nil
}

// parse parses the files of a hook, except the values patches, in the order of the engine.
func (e *Execution) parse(hook string) error {
	var findings []finding.Finding
	e.Metrics, findings = output.ParseMetrics(e.Result.Metrics, hook)
	if err := e.report("$METRICS_PATH", findings); err != nil {
		return err
	}
	if len(e.Result.Admission) > 0 {
		e.Admission, findings = output.ParseAdmission(e.Result.Admission)
		if err := e.report("$ADMISSION_RESPONSE_PATH", findings); err != nil {
			return err
		}
	}
	if len(e.Result.Conversion) > 0 {
		e.Conversion, findings = output.ParseConversion(e.Result.Conversion)
		if err := e.report("$CONVERSION_RESPONSE_PATH", findings); err != nil {
			return err
		}
	}
	e.Operations, findings = output.ParsePatches(e.Patches)
	return e.report("$KUBERNETES_PATCH_PATH", findings)
}

// report returns the first finding about a file that is an error, and adds the other findings to
// the warnings.
func (e *Execution) report(file string, findings []finding.Finding) error {
	first := finding.FirstError(findings)
	for i, f := range findings {
		if i != first {
			f.File = file
			e.Warnings = append(e.Warnings, f)
		}
	}
	if first < 0 {
		return nil
	}
	if line := findings[first].Line; line > 0 {
		file = fmt.Sprintf("%s:%d", file, line)
	}
	return failed("%s: %s", file, findings[first].Message)
}

func failed(format string, args ...any) error {
	return &FailedError{Reason: fmt.Sprintf(format, args...)}
}

// outputTail returns the last lines of stderr, or of stdout if stderr is empty, joined to one line.
func outputTail(r Result) string {
	text := r.Stderr
	if len(text) == 0 {
		text = r.Stdout
	}
	const maxBytes = 4 << 10
	var lines []string
	for line := range strings.Lines(hooks.WithoutTracebacks(string(text[max(0, len(text)-maxBytes):]))) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-5):], " | ")
}
