package gen_test

import (
	"testing"

	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/testkit/gentest"
)

func TestMain(m *testing.M) { gentest.Main(m) }

// TestPeerVersion checks that the tests compare with the version that operon is built
// with.
func TestPeerVersion(t *testing.T) {
	t.Parallel()
	_, stdout := gentest.ControllerGen(t, t.TempDir(), "--version")
	if want := "Version: " + pins.ControllerTools + "\n"; stdout != want {
		t.Errorf("controller-gen prints %q, want %q", stdout, want)
	}
}
