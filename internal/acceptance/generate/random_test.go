//go:build unix && testextra

package generate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/peertest"
)

// TestRandomEdits makes other edits in each run, and compares files and errors with controller-gen's.
//
// OPERON_STEPS is the number of edits, and OPERON_SEED selects them.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	seeds := []uint64{rand.Uint64(), rand.Uint64()}
	if seed := number(t, "OPERON_SEED", 0); seed > 0 {
		seeds = []uint64{seed}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			e := newEditedProject(t, seed)
			e.peer = peertest.Find(t, "controller-gen")
			e.makeEdits(int(number(t, "OPERON_STEPS", 20)))
			t.Logf("%d of %d runs had no errors", e.passed, e.step)
		})
	}
}

func number(t *testing.T, variable string, preset uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return preset
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestManyKinds is TestIdentity for 600 kinds.
func TestManyKinds(t *testing.T) {
	t.Parallel()
	e := editedProjectOf(t, 1, corpusFiles(t, 600), defaultArguments)
	e.peer = peertest.Find(t, "controller-gen")
	e.identity()
}
