package shelloperator

import (
	"testing"

	"github.com/operon-dev/operon/internal/pins"
	"golang.org/x/mod/modfile"
)

// TestModule checks that the module has the version of shell-operator that scaffolded images have.
func TestModule(t *testing.T) {
	t.Parallel()
	file, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Require {
		if r.Mod.Path == "github.com/flant/shell-operator" && r.Mod.Version == pins.ShellOperator {
			return
		}
	}
	t.Errorf("the module does not require shell-operator %s", pins.ShellOperator)
}
