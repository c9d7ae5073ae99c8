package envtestcmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
)

// TestPrintStates: the status of a control plane that has ended names the command that
// removes it.
func TestPrintStates(t *testing.T) {
	t.Parallel()
	for phase, remove := range map[controlplane.Phase]bool{
		controlplane.Starting: false, controlplane.Running: false, controlplane.Failed: true, controlplane.Dead: true,
	} {
		var out bytes.Buffer
		state := controlplane.State{Options: controlplane.Options{Name: "other"}, Phase: phase}
		if err := printStates(&command.App{Out: &out}, []controlplane.State{state}); err != nil {
			t.Fatal(err)
		}
		if printed := strings.Contains(out.String(), "to remove   operon envtest stop --name other\n"); printed != remove {
			t.Errorf("%s: want the command that removes it: %t\n%s", phase, remove, out.String())
		}
	}
}
