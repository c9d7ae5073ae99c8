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

// Executor runs hooks and does what they wrote, as far as that is done to objects.
type Executor struct {
	Runner  Runner
	Applier patch.Applier
	Values  Values // for hooks of addon-operator; nil for those of shell-operator
}

// Values are what addon-operator gives hooks beside, and has them patch.
type Values interface {
	// Files are the values, and those of the ConfigMap, in JSON.
	Files() (values, config []byte, err error)
	// Read reads the patches of both that a hook wrote. take applies them. Errors say
	// why the engine takes the hook for failed.
	Read(values, config []byte) (take func() error, err error)
}

// Execution is what became of a run.
type Execution struct {
	Result
	// What the hook wrote, as far as the engine came to read it.
	Operations []output.Operation
	Metrics    []output.Metric
	Admission  *output.Admission  // nil: no answer
	Conversion *output.Conversion // nil: no answer
	Warnings   []finding.Finding  // about these files; File is the variable with the path, such as $METRICS_PATH
}

// FailedError is a hook that the engine takes for failed.
type FailedError struct {
	Reason string
	Output string // the end of what it said, on one line, when it ended with an error
}

func (e *FailedError) Error() string {
	if e.Output == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Output
}

// Execute runs the hook of a task. An error is for State.Finish: a *FailedError when
// the hook ended with another exit code than 0, or wrote what the engine refuses, the
// errors of Applier.Apply when an operation failed, or why it could not be run.
//
// Of a hook that ends with an error the engine reads no file. So nothing comes of
// ignoreHookError. Values are patched after objects.
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
		return done, &FailedError{fmt.Sprintf("exit code %d", result.ExitCode), said(result)}
	}
	take := func() error { return nil }
	if e.Values != nil {
		if take, err = e.Values.Read(result.ValuesPatch, result.ConfigPatch); err != nil {
			return done, failed("%v", err)
		}
	}
	if err := e.read(&done, t); err != nil {
		return done, err
	}
	if err := e.Applier.Apply(ctx, done.Operations); err != nil {
		return done, err
	}
	if err := take(); err != nil {
		return done, failed("%v", err)
	}
	return done, nil
}

// given are the values for a hook, or nil.
func (e Executor) given() (*Given, error) {
	if e.Values == nil {
		return nil, nil
	}
	values, config, err := e.Values.Files()
	return &Given{values, config}, err
}

// read reads what a hook wrote, but for patches of values.
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

// said is the end of what a hook wrote to stderr, or else to stdout.
func said(r Result) string {
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
