//go:build testall

package script

import (
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestServerScripts runs the scripts that need an API server or compile a project.
func TestServerScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, repository.Path("testdata", "script", "testall"), func(env *testscript.Env) error {
		env.Setenv("ASSETS", operontest.Assets())
		return scriptEnv(env)
	})
}
