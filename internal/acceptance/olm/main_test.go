//go:build testall

// Package olm runs operon against the real Operator Lifecycle Manager on a control plane without
// nodes. The tests play the kubelet.
//
// The first run builds the programs of OLM, which takes 14 minutes of CPU time.
package olm

import (
	"os"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

func TestMain(m *testing.M) { os.Exit(operontest.Main(m)) }
