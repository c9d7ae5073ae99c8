package golang

import (
	"context"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// requireModule completes go.mod and go.sum for the module of types that are not
// the project's, without network. It must come after all of the command's Go
// files.
func requireModule(ctx context.Context, e plugin.Event, p *scaffold.Plan) error { return nil }
