//go:build testall

package adopt

import (
	"os"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

func TestMain(m *testing.M) { os.Exit(operontest.Main(m)) }
