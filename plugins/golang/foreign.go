package golang

import (
	"context"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// controlForeign plans controllers for a kind whose types are not the project's.
func controlForeign(e plugin.Event, p *scaffold.Plan) error { return nil }

// requireModule completes go.mod and go.sum for the module of external types,
// without network. It must come after all of the command's Go files.
func requireModule(ctx context.Context, e plugin.Event, p *scaffold.Plan) error { return nil }
