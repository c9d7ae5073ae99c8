package golang

import (
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/suites"
)

// planWebhookSuite plans the suite that all webhooks of the package share, its helpers
// and, for an external kind, a test object.
func planWebhookSuite(
	c *project.Config, r project.Resource, suite suites.Suite, p *scaffold.Plan, vars map[string]string, data webhookValues,
) error {
	if r.HasExternalTypes() {
		if err := planExternalObject(c, r, p); err != nil {
			return err
		}
	}
	if suite.IsOwn {
		if err := tree(p, "webhooksuite", vars, data, share(p, "BeforeSuite", &suite.File)); err != nil {
			return err
		}
	}
	if suite.Untested {
		return nil
	}
	if err := tree(p, "fixtures", nil, initValues{Values: data.Values, Project: c, Header: data.Header}, seedMissing(p)); err != nil {
		return err
	}
	if suite.File == "" {
		return nil
	}
	spokes, err := conversionSpokes(c, r)
	if err != nil {
		return err
	}
	for _, version := range append(spokes, r) {
		if err := suite.Register(c, version, data.Unwired, p); err != nil {
			return err
		}
	}
	if err := suite.Edit(suites.ServeEdit(r), data.Unwired, p); err != nil || data.Unwired {
		return err
	}
	return suite.Complete(p)
}
