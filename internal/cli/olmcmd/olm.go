package olmcmd

import (
	"cmp"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
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
	Versions []string       `json:"versions"` // v0, v1
	Items    []cluster.Item `json:"items"`
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
InstallPlans, ClusterServiceVersions and ClusterExtensions, with the versions of
operators, and with messages where something is not as it should be. Copies of
ClusterServiceVersions in other namespaces are left out.

The command fails if the cluster has no OLM.`,
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
			s, err := c.Status(ctx)
			if err != nil {
				return err
			}
			if err := printStatus(a, s, output); err != nil {
				return err
			}
			if !s.V0 && !s.V1 {
				return fault.Failed("install it: operon olm install SOURCE", "the cluster has no Operator Lifecycle Manager")
			}
			return nil
		},
	}
	f.bind(a, cmd, 0)
	command.BindOutput(cmd, &output)
	return cmd
}

func printStatus(a *command.App, s cluster.Status, output string) error {
	if output == command.FormatJSON {
		versions := []string{}
		if s.V0 {
			versions = append(versions, "v0")
		}
		if s.V1 {
			versions = append(versions, "v1")
		}
		return command.PrintJSON(a.Out, statusFrame{command.NewFrame("olm status", "OLMStatus"), versions, append([]cluster.Item{}, s.Items...)})
	}
	if len(s.Items) == 0 {
		return nil
	}
	rows := [][]string{{"NAME", "NAMESPACE", "KIND", "VERSION", "STATUS"}}
	for _, i := range s.Items {
		rows = append(rows, []string{i.Name, cmp.Or(i.Namespace, "-"), i.Kind, cmp.Or(i.Version, "-"), cmp.Or(i.Status, "-")})
	}
	if err := a.PrintTable(rows); err != nil {
		return err
	}
	for _, i := range s.Items {
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
https://github.com/operator-framework/operator-lifecycle-manager/releases or
https://github.com/operator-framework/operator-controller/releases.

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
