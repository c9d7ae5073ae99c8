package olmcmd

import (
	"testing"

	"github.com/operon-dev/operon/internal/olm/cluster"
)

// TestLocal expects that the catalog listens on one address, unless the user names another machine's.
func TestLocal(t *testing.T) {
	t.Parallel()
	if got, want := local("", "192.0.2.7", ""), (cluster.Local{Address: "192.0.2.7", Listen: "192.0.2.7"}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := local("gateway.example.org", "gateway.example.org", ""), (cluster.Local{Address: "gateway.example.org"}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
