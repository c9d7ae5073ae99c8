//go:build testextra

package sequences

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
)

// TestRandomSequences is TestSequence with other commands in each run. The names of the subtests have the seeds: an even one
// starts without a folder for each group.
func TestRandomSequences(t *testing.T) {
	t.Parallel()
	for n := range uint64(2) {
		seed := 2*(rand.Uint64()/4) + n
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newSequence(t, seed)
			for range 2 {
				s.run(t, 10)
				projecttest.GoCommand(t, s.dir, "vet", "./...")
			}
		})
	}
}

// TestRandomHookSequences is TestHookSequence with other commands in each run.
func TestRandomHookSequences(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	for _, plugin := range []string{"shell", "addon"} {
		t.Run(fmt.Sprint(plugin, " seed ", seed), func(t *testing.T) {
			t.Parallel()
			dir := runHookSequence(t, plugin, seed, 12)
			if plugin == "shell" {
				operontest.ControlPlane(t)
				operontest.Run(t, dir, "hooks", "test")
			}
		})
	}
}
