package olmcmd

import (
	"cmp"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/olm/cluster"
	"github.com/spf13/cobra"
)

// NewOLM returns the command olm.
func NewOLM(a *command.App) *cobra.Command {
	return command.NewGroup("olm", "Show, install and remove the Operator Lifecycle Manager", newStatus(a), newInstall(a), newUninstall(a))
}

// statusFrame is the JSON report of operon olm status.
type statusFrame struct {
	command.Frame
	Items []cluster.Item `json:"items"`
}

func newStatus(a *command.App) *cobra.Command {
	var (
		f      clusterFlags
		output string
	)
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the Operator Lifecycle Manager and what it manages",
		Long: `List the CRDs and controllers of OLM, and its catalogs, Subscriptions,
InstallPlans and ClusterServiceVersions, with the versions of operators, and
with messages where something is not as it should be. Copies of
ClusterServiceVersions in other namespaces are left out.

The command fails if the cluster has no OLM v0.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := command.CheckOutput(output); err != nil {
				return err
			}
			ctx, cancel, c, err := f.open(cmd.Context(), a)
			if err != nil {
				return err
			}
			defer cancel()
			items, err := c.Status(ctx)
			if err != nil {
				return err
			}
			if err := printStatus(a, items, output); err != nil || len(items) > 0 {
				return err
			}
			return c.RequireOLM(ctx, "show it: kubectl get clusterextensions,clustercatalogs")
		},
	}
	f.bind(a, cmd, 0)
	command.BindOutput(cmd, &output)
	return cmd
}

func printStatus(a *command.App, items []cluster.Item, output string) error {
	if output == command.FormatJSON {
		return command.PrintJSON(a.Out, statusFrame{command.NewFrame("olm status", "OLMStatus"), append([]cluster.Item{}, items...)})
	}
	if len(items) == 0 {
		return nil
	}
	rows := [][]string{{"NAME", "NAMESPACE", "KIND", "VERSION", "STATUS"}}
	for _, i := range items {
		rows = append(rows, []string{i.Name, cmp.Or(i.Namespace, "-"), i.Kind, cmp.Or(i.Version, "-"), cmp.Or(i.Status, "-")})
	}
	if err := a.PrintTable(rows); err != nil {
		return err
	}
	for _, i := range items {
		if i.Message != "" {
			a.Notef("%s %s: %s", i.Kind, i.Name, i.Message)
		}
	}
	return nil
}

func newInstall(a *command.App) *cobra.Command {
	return newManifests(a, "install", "Install the Operator Lifecycle Manager from manifests", `Create the objects in manifests of OLM: a folder, a file, an HTTP or HTTPS URL,
or - for stdin. CRDs and namespaces come first; the others follow when the API
server serves the CRDs. The command waits until all
Deployments are available.

operon downloads nothing else, and includes no manifests: choose a release at
https://github.com/operator-framework/operator-lifecycle-manager/releases. To
install OLM v1, use kubectl apply.

The command refuses a cluster that has another OLM. A repeat completes what an
interrupted command left.`, (*cluster.Client).InstallOLM, "installed OLM from %s")
}

func newUninstall(a *command.App) *cobra.Command {
	return newManifests(a, "uninstall", "Remove the Operator Lifecycle Manager", `Delete the objects in the manifests from which OLM was installed, in the reverse
order: a folder, a file, an HTTP or HTTPS URL, or - for stdin.
CRDs are deleted with all their objects.

The command refuses while OLM has operators; operon cleanup removes them. It
also refuses manifests without a CRD of OLM. These CRDs are deleted last: a
repeat completes what an interrupted command left, and deletes nothing if the
cluster has none of them.`, (*cluster.Client).UninstallOLM, "removed OLM")
}
