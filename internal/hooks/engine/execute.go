package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/hooks/patch"
)

// Executor runs hooks and applies their object patches.
type Executor struct {
	Runner  Runner
	Applier patch.Applier
	Values  Values // nil for hooks of shell-operator
}

// Values provides the values of addon-operator to hooks and applies values patches.
type Values interface {
	// Files returns the values and the values of the ConfigMap as JSON.
	Files() (values, config []byte, err error)
	// Read parses both values patches of a hook. apply applies them. With either error,
	// the engine considers the hook failed.
	Read(values, config []byte) (apply func() error, err error)
}

// Execution is the result of executing a task.
type Execution struct {
	Result
	// The files that the hook wrote, up to the first one that the engine rejects.
	Operations []output.Operation
	Metrics    []output.Metric
	Admission  *output.Admission  // nil: no answer
	Conversion *output.Conversion // nil: no answer
	Warnings   []finding.Finding  // about these files; File is the variable of the path, such as $METRICS_PATH
}

// FailedError means that the engine considers the hook failed.
type FailedError struct {
	Reason string
	Output string // the last lines of output, on one line, for a non-zero exit code
}

func (e *FailedError) Error() string {
	if e.Output == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Output
}

// Execute runs the hook of a task. The error is meant for State.Finish. It is a
// *FailedError for a non-zero exit code or for a file that the engine rejects, the error
// of Applier.Apply if an operation failed, or the reason why the hook could not run.
//
// The engine reads no files of a hook with a non-zero exit code, so ignoreHookError has
// no effect. Values are patched after objects.
func (e Executor) Execute(ctx context.Context, t Task) (Execution, error) {
	given, err := e.given()
	if err != nil {
		return Execution{}, err
	}
	result, err := e.Runner.Run(ctx, t, given)
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
	if err := e.read(&done, t); err != nil {
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

// given returns the values for a hook, or nil for shell-operator.
func (e Executor) given() (*Given, error) {
	if e.Values == nil {
		return nil, nil
	}
	values, config, err := e.Values.Files()
	return &Given{values, config}, err
}

// read parses the files of a hook except the values patches.
func (Executor) read(done *Execution, t Task) error {
	result := done.Result
	var findings []finding.Finding
	refused := func(file string) error {
		i := slices.IndexFunc(findings, finding.Finding.IsError)
		for n, f := range findings {
			if n != i {
				f.File = file
				done.Warnings = append(done.Warnings, f)
			}
		}
		if i < 0 {
			return nil
		}
		if line := findings[i].Line; line > 0 {
			file = fmt.Sprintf("%s:%d", file, line)
		}
		return failed("%s: %s", file, findings[i].Message)
	}
	done.Metrics, findings = output.ParseMetrics(result.Metrics, t.Hook.Name)
	if err := refused("$METRICS_PATH"); err != nil {
		return err
	}
	if len(result.Admission) > 0 {
		done.Admission, findings = output.ParseAdmission(result.Admission)
		if err := refused("$ADMISSION_RESPONSE_PATH"); err != nil {
			return err
		}
	}
	if len(result.Conversion) > 0 {
		done.Conversion, findings = output.ParseConversion(result.Conversion)
		if err := refused("$CONVERSION_RESPONSE_PATH"); err != nil {
			return err
		}
	}
	done.Operations, findings = output.ParsePatches(result.Patches)
	return refused("$KUBERNETES_PATCH_PATH")
}

func failed(format string, args ...any) error {
	return &FailedError{Reason: fmt.Sprintf(format, args...)}
}

// outputTail returns the last lines of stderr, or of stdout if stderr is empty, on one
// line.
func outputTail(r Result) string {
	text := r.Stderr
	if len(text) == 0 {
		text = r.Stdout
	}
	const enough = 4 << 10
	var lines []string
	for line := range strings.Lines(string(text[max(0, len(text)-enough):])) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-5):], " | ")
}
