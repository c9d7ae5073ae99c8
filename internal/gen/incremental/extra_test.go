//go:build testextra

package incremental_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestRandomArgumentSets is TestArgumentSets in another order in each run, with three times as many sets.
func TestRandomArgumentSets(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
		t.Parallel()
		useArgumentSets(t, seed, 6)
	})
}
