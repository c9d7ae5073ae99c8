package engine

import (
	"context"
	"fmt"
	"strings"
)

// Decision is what the script enabled of a module came to.
type Decision struct {
	Result
	On     bool
	Reason string // why it is not
}

// Decide runs the script that decides whether a module is enabled, as addon-operator
// does. The error is a *FailedError when it takes the script for failed: then it
// decides about no module at all, and tries again.
func (r Runner) Decide(ctx context.Context, script string, values Given) (Decision, error) {
	result, err := r.start(ctx, script, values.inputs(), ofScript)
	d := Decision{Result: result}
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
