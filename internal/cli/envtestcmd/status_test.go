package envtestcmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
)

// TestPrintPlanes looks at what a person is told to do about each control plane.
func TestPrintPlanes(t *testing.T) {
	t.Parallel()
	for phase, remove := range map[controlplane.Phase]bool{
		controlplane.Starting: false, controlplane.Running: false, controlplane.Failed: true, controlplane.Dead: true,
	} {
		var out bytes.Buffer
		state := controlplane.State{Options: controlplane.Options{Name: "other"}, Phase: phase}
		if err := printPlanes((&command.App{Out: &out}), []controlplane.State{state}, "text"); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(out.String(), "to remove   operon envtest stop --name other\n"); told != remove {
			t.Errorf("%s: want the command that removes it: %t\n%s", phase, remove, out.String())
		}
	}
}
