//go:build testall

package sequences

import (
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

// TestHookSequenceOnServer runs the tests of the hooks that TestHookSequence creates.
func TestHookSequenceOnServer(t *testing.T) {
	t.Parallel()
	operontest.ControlPlane(t)
	operontest.Run(t, runHookSequence(t, "shell", 2, 6), "hooks", "test")
}
