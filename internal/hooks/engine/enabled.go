package engine

import (
	"context"
	"fmt"
	"strings"
)

// EnabledResult is the result of a module's enabled script.
type EnabledResult struct {
	Result
	Enabled bool
	Reason  string // the reason why the module is disabled
}

// RunEnabled runs the enabled script of a module as addon-operator does. The error is a
// *FailedError if addon-operator considers the script failed. addon-operator then retries the
// script, and enables or disables no module.
func (r Runner) RunEnabled(ctx context.Context, script string, values ValuesFiles) (EnabledResult, error) {
	result, err := r.start(ctx, script, values.inputs(), scriptFiles)
	enabled := EnabledResult{Result: result}
	if err != nil {
		return enabled, err
	}
	if result.ExitCode != 0 {
		return enabled, &FailedError{fmt.Sprintf("exit code %d", result.ExitCode), outputTail(result)}
	}
	switch text := strings.TrimSpace(string(result.EnabledResult)); text {
	case "true":
		enabled.Enabled = true
	case "false":
		enabled.Reason = strings.TrimSpace(string(result.EnabledReason))
	default:
		return enabled, failed("$MODULE_ENABLED_RESULT must contain true or false, but contains %q", text)
	}
	return enabled, nil
}
