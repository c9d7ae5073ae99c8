package golang

import (
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// planConversion plans the conversion between the hub, which is the event's
// resource, and its spokes.
func planConversion(e plugin.Event, p *scaffold.Plan) error { return nil }
