package cli

import (
	"context"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// foreignFlags say where types come from that are not the project's.
type foreignFlags struct {
	path, domain, module string
}

func (o *foreignFlags) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.path, "external-api-path", "", "Go import path of types of another module")
	f.StringVar(&o.domain, "external-api-domain", "", "domain of their API group")
	f.StringVar(&o.module, "external-api-module", "", "their module, with @version where go.mod does not say it")
}

// given reports whether any of the flags is set.
func (o *foreignFlags) given() bool { return o.path != "" || o.domain != "" || o.module != "" }

// resolve completes r, of which group, version and kind are known and which is no
// type of the project: as a kind of Kubernetes, or one of another module.
func (o *foreignFlags) resolve(ctx context.Context, a *App, s session, r project.Resource) (project.Resource, error) {
	return r, fault.Usage("create it first", "the project has no kind %s in version %s", r.Kind, r.Version)
}
