package helm

import (
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/rbac"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/workload"
)

// editProject changes the manifests from e.Before to e.Project. In a project that operon
// initialized, a replay follows, which changes the files that operon seeded.
func editProject(e plugin.Event, p *scaffold.Plan) error {
	if e.Before.Namespaced != e.Project.Namespaced {
		derived, err := derives(p, rbac.Path)
		if err != nil {
			return err
		}
		if !derived {
			return fault.Usage("delete it, run operon generate, then repeat the command", "another tool wrote %s, so operon cannot change the scope of its permissions", rbac.Path)
		}
		if err := workload.WatchOwn(e.Project.Namespaced, p); err != nil {
			return err
		}
	}
	return editRuntime(e, p)
}
