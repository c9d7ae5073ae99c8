package golang

import (
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/relocate"
)

// editProject brings the sources from e.Before to e.Project. It needs nothing
// that operon knows of the project beside PROJECT: other tools may have made it.
func editProject(e plugin.Event, p *scaffold.Plan) error {
	if e.Before.MultiGroup != e.Project.MultiGroup {
		if err := relocate.Packages(e.Before, e.Project, p, serveInSuite); err != nil {
			return err
		}
	}
	if e.Before.Namespaced != e.Project.Namespaced {
		if err := rescope(e, p); err != nil {
			return err
		}
	}
	for _, option := range header.LicenceOptions {
		if _, given := e.Options[option]; given {
			return header.Replace(e, p)
		}
	}
	return nil
}
