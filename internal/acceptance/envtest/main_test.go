//go:build testall

package envtest

import (
	"os"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

func TestMain(m *testing.M) {
	operontest.ActAsOperon()
	if runStub != nil && os.Getenv(stubVariable) != "" {
		runStub()
	}
	os.Exit(operontest.Main(m))
}

// stubVariable makes this test binary a manager with webhooks, which runStub is.
const stubVariable = "OPERON_TEST_STUB_MANAGER"

var runStub func()
