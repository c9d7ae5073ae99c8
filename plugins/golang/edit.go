package golang

import (
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// editProject brings the sources from e.Before to e.Project. It needs nothing
// that operon knows of the project beside PROJECT: other tools may have made it.
func editProject(e plugin.Event, p *scaffold.Plan) error {
	if e.Before.MultiGroup != e.Project.MultiGroup {
		if err := relocate(e.Before, e.Project, p); err != nil {
			return err
		}
	}
	if e.Before.Namespaced != e.Project.Namespaced {
		if err := rescope(e, p); err != nil {
			return err
		}
	}
	for _, option := range licenceOptions {
		if _, given := e.Options[option]; given {
			return reheader(e, p)
		}
	}
	return nil
}
