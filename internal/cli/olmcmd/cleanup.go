package olmcmd

import (
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/cluster"
	"github.com/spf13/cobra"
)

// NewCleanup returns the command cleanup.
func NewCleanup(a *command.App) *cobra.Command {
	var (
		f      clusterFlags
		all    bool
		crds   bool
		groups bool
	)
	cmd := &cobra.Command{
		Use:   "cleanup PACKAGE",
		Short: "Remove an operator that OLM installed from a cluster",
		Long: `Remove the operator of a package from a namespace: its Subscription, its
ClusterServiceVersion with everything that belongs to it, its catalog if operon
made it, its CRDs with all their objects, and the OperatorGroup that operon made
if no other operator uses it.

With --delete-all=false, CRDs and OperatorGroups stay, unless another flag names
them. A CRD that another operator also owns always stays.`,
		Example: `  operon cleanup fleet -n fleet-system
  operon cleanup fleet -n fleet-system --delete-all=false`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.Usage("for example: operon cleanup fleet", "%s needs one package, got %d", cmd.CommandPath(), len(args))
			}
			ctx, cancel, c, err := f.open(cmd.Context(), a)
			if err != nil {
				return err
			}
			defer cancel()
			pkg, namespace := args[0], c.kube.Namespace
			if err := c.RequireOLM(ctx, "remove it with its CRDs: kubectl delete clusterextension "+pkg); err != nil {
				return err
			}
			changed, err := c.Cleanup(ctx, cluster.Removal{Package: pkg, Namespace: namespace, CRDs: all || crds, Group: all, Groups: groups})
			if err == nil && !changed {
				where, err := c.OtherNamespaces(ctx, pkg)
				if err != nil {
					return err
				}
				if len(where) > 0 {
					a.Notef("package %s is in namespace %s", pkg, strings.Join(where, ", "))
				} else {
					a.Notef("package %s is not installed", pkg)
				}
			}
			return report(a, changed, err, "removed %s from namespace %s", pkg, namespace)
		},
	}
	f.bind(a, cmd, 2*time.Minute)
	f.bindNamespace(cmd, "namespace of the operator")
	flags := cmd.Flags()
	flags.BoolVar(&all, "delete-all", true, "also delete CRDs with their objects, and the OperatorGroup of operon")
	flags.BoolVar(&crds, "delete-crds", false, "delete CRDs with their objects, also with --delete-all=false")
	flags.BoolVar(&groups, "delete-operator-groups", false, "delete all OperatorGroups of the namespace")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}
