//go:build testall

package hooks

import (
	"os"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

func TestMain(m *testing.M) { os.Exit(operontest.Main(m)) }
