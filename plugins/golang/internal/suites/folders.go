package suites

import (
	"cmp"

	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// CRDFolder returns the folder with the CRDs that suites install.
func CRDFolder(c *project.Config, p *scaffold.Plan) string {
	return outputFolder(c, p, "crd", "config/crd/bases")
}

// WebhookFolder returns the folder with the manifests of webhooks that suites install.
func WebhookFolder(c *project.Config, p *scaffold.Plan) string {
	return outputFolder(c, p, "webhook", "config/webhook")
}

// outputFolder returns the folder to which the project's generators write, or else the usual one. If
// the arguments of the generators are wrong, generating reports that.
func outputFolder(c *project.Config, p *scaffold.Plan, generator, usual string) string {
	jobs, err := request.Resolve(request.Request{Project: c}, p)
	if err != nil {
		return usual
	}
	return cmp.Or(jobs.Folder(generator), usual)
}

// webhookObstacle says why the API server of a suite would not call new webhooks, or returns "".
func webhookObstacle(c *project.Config, p *scaffold.Plan) string {
	jobs, err := request.Resolve(request.Request{Project: c}, p)
	if err != nil || len(jobs.List) == 0 || jobs.Runs("webhook") {
		return ""
	}
	return "nothing generates the configuration of webhooks; add the argument webhook to the call of controller-gen in " + jobs.List[0].From[0]
}
