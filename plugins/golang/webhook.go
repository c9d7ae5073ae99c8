package golang

import (
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// createWebhook plans the webhooks that e asks for.
func createWebhook(e plugin.Event, p *scaffold.Plan) error {
	if e.Resource.Webhooks.Conversion {
		return planConversion(e, p)
	}
	return nil
}
