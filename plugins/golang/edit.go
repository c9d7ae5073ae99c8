package golang

import (
	"context"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/relocate"
)

// editProject changes the sources from e.Before to e.Project. It uses only PROJECT and
// the sources, because another tool may have created the project.
func editProject(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	if e.Before.MultiGroup != e.Project.MultiGroup {
		if err := relocate.Packages(e.Before, e.Project, p, serveInSuite); err != nil {
			return err
		}
		if err := registerInSuites(e.Project, p); err != nil {
			return err
		}
	}
	if e.Before.Namespaced != e.Project.Namespaced {
		if err := rescope(e, p); err != nil {
			return err
		}
	}
	if err := changeCertificates(ctx, e, p); err != nil {
		return err
	}
	for _, option := range header.LicenseOptions {
		if _, given := e.Options[option]; given {
			return header.Replace(e, p)
		}
	}
	return nil
}
