package createcmd

import (
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/charts"
	"github.com/operon-dev/operon/internal/fault"
)

// withChart prepares the command for a Helm project: it reads the chart, which names the kind if
// the flags do not.
func (o *createAPI) withChart(a *command.App) error {
	changed := o.cmd.Flags().Changed
	switch {
	case !o.api:
		return fault.Usage("remove the flag", "--resource=false applies to Go projects, and this project installs charts")
	case changed("controller") && o.controller, o.name != "":
		return fault.Usage("remove the flag", "helm-operator is the controller of all kinds in this project")
	case !o.namespaced:
		return fault.Usage("remove the flag", "helm-operator installs a release into the namespace of its object, so the kind must be namespaced")
	}
	if i := slices.IndexFunc(externalFlagNames, changed); i >= 0 {
		return fault.Usage("remove the flag", "--%s applies to Go projects, and this project installs charts", externalFlagNames[i])
	}
	var err error
	if o.chart, err = charts.Fetch(o.cmd.Context(), a, o.cmd, o.project.Root); err != nil {
		return err
	}
	o.noGo, o.controller = true, false
	return charts.CompleteKind(&o.resource, o.chart, o.project)
}
