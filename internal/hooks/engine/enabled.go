package engine

import (
	"context"
	"fmt"
	"strings"
)

// EnabledResult is what the script enabled of a module came to.
type EnabledResult struct {
	Result
	On     bool
	Reason string // why it is not
}

// RunEnabled runs the script that decides whether a module is enabled, as addon-operator
// does. The error is a *FailedError when it takes the script for failed: then it
// decides about no module at all, and tries again.
func (r Runner) RunEnabled(ctx context.Context, script string, values Given) (EnabledResult, error) {
	result, err := r.start(ctx, script, values.inputs(), ofScript)
	d := EnabledResult{Result: result}
	if err != nil {
		return d, err
	}
	if result.ExitCode != 0 {
		return d, &FailedError{fmt.Sprintf("exit code %d", result.ExitCode), said(result)}
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
