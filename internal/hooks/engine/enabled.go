package engine

import (
	"context"
	"fmt"
	"strings"
)

// EnabledResult is the result of a module's enabled script.
type EnabledResult struct {
	Result
	On     bool
	Reason string // why the module is disabled
}

// RunEnabled runs the enabled script of a module as addon-operator does. The error is a
// *FailedError if addon-operator considers the script failed; it then retries and enables
// or disables no module.
func (r Runner) RunEnabled(ctx context.Context, script string, values Given) (EnabledResult, error) {
	result, err := r.start(ctx, script, values.inputs(), scriptFiles)
	d := EnabledResult{Result: result}
	if err != nil {
		return d, err
	}
	if result.ExitCode != 0 {
		return d, &FailedError{fmt.Sprintf("exit code %d", result.ExitCode), outputTail(result)}
	}
	switch text := strings.TrimSpace(string(result.Enabled)); text {
	case "true":
		d.On = true
	case "false":
		d.Reason = strings.TrimSpace(string(result.Reason))
	default:
		return d, failed("$MODULE_ENABLED_RESULT: true or false is expected, and it has %q", text)
	}
	return d, nil
}
