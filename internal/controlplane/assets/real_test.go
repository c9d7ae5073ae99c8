//go:build testextra

package assets

import (
	"os"
	"testing"

	"github.com/operon-dev/operon/internal/environ"
)

// TestBuildRealAssets builds the real control plane in the user's store, so that the test
// suites of generated projects find it and a repetition takes no time.
func TestBuildRealAssets(t *testing.T) {
	t.Parallel()
	env := environ.With(os.Environ(), Var+"=")
	o := Options{Env: env}
	dir, err := buildIn(t.Context(), o, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(t.Context(), env, t.TempDir(), dir, withControllers); err != nil {
		t.Error(err)
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Path(""); err != nil || again != dir {
		t.Errorf("path is %q, %v; built was %q", again, err, dir)
	}
}
