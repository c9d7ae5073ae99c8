package olmcmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/cluster"
	"github.com/operon-dev/operon/internal/olm/podsecurity"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
)

// runOptions holds the flags of the commands that run bundles.
type runOptions struct {
	clusterFlags

	source images.RegistryFlags

	mode     string
	local    bool
	host     string
	pod      cluster.Pod
	security string
}

// NewRunBundle returns the command run bundle.
func NewRunBundle(a *command.App) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "bundle BUNDLE",
		Short: "Install the operator in a bundle on a cluster",
		Long: `Install the operator in a bundle: a folder, an OCI layout, a tarball, or an
image in a registry. The command makes a catalog with only the bundle,
subscribes to it, approves the InstallPlan, and waits until the
ClusterServiceVersion succeeds. Then it removes the Subscription and the
catalog; the operator stays.

A pod with opm serves the catalog. With --local, this machine does, and the
cluster needs no nodes. The catalog refers to the bundle if it is an image in a
registry; otherwise, and with --local, it has the manifests.

The cluster must have OLM v0. For OLM v1, operon catalog extension prints the
objects that install the bundle.

If the operator does not start, the command prints conditions, events and logs,
and removes what it created, as it does when it is interrupted. If the version
is installed already, there is nothing to do.`,
		Example: `  operon run bundle bundle --local -n fleet-system
  operon run bundle registry.example.org/fleet-bundle:v0.1.0 -n fleet-system`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, a, args, (*cluster.Client).Install, "installed %s in namespace %s")
		},
	}
	o.bind(a, cmd)
	cmd.Flags().StringVar(&o.mode, "install-mode", "", "AllNamespaces, OwnNamespace, SingleNamespace=OTHER or MultiNamespace=ONE,TWO (default: the mode of the namespace, or the widest one)")
	command.CompleteValues(cmd, "install-mode",
		cluster.AllNamespaces, cluster.OwnNamespace, cluster.SingleNamespace+"=", cluster.MultiNamespace+"=")
	return cmd
}

// NewRunUpgrade returns the command run bundle-upgrade.
func NewRunUpgrade(a *command.App) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "bundle-upgrade BUNDLE",
		Short: "Upgrade an operator on a cluster to the version in a bundle",
		Long: `Upgrade an operator to the version in a bundle. OLM must have installed it, with
operon run bundle or from a catalog. The catalog of the command offers the
bundle as the replacement of the installed version. Afterwards, the Subscription
of the operator is as it was.

If the new version does not start, the command prints conditions, events and
logs, and installs the previous one again. CRDs keep the content of the new
version.`,
		Example: `  operon run bundle-upgrade bundle --local -n fleet-system`,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, a, args, (*cluster.Client).Upgrade, "upgraded to %s in namespace %s")
		},
	}
	o.bind(a, cmd)
	return cmd
}

func (o *runOptions) bind(a *command.App, cmd *cobra.Command) {
	o.clusterFlags.bind(a, cmd, 2*time.Minute)
	o.bindNamespace(cmd, "namespace of the operator")
	f := cmd.Flags()
	f.BoolVar(&o.local, "local", false, "serve the catalog from this machine")
	f.StringVar(&o.host, "host", "", "with --local: `address` at which the cluster reaches this machine (default: the one from which it reaches the cluster)")
	f.StringVar(&o.pod.Image, "index-image", pins.OPMImage, "image with opm for the catalog (default: "+pins.OPMImage+")")
	f.Lookup("index-image").DefValue = ""
	f.StringVar(&o.pod.PullPolicy, "image-pull-policy", "IfNotPresent", "when to pull the image of the pod: Always, IfNotPresent or Never")
	f.StringVar(&o.pod.PullSecret, "pull-secret-name", "", "Secret for pulling the images of the pod and of the bundle")
	f.StringVar(&o.pod.ServiceAccount, "service-account", "", "ServiceAccount of the pod (default: the ServiceAccount default)")
	f.StringVar(&o.security, "security-context-config", podsecurity.Restricted,
		"Pod Security Standard of the pod: "+podsecurity.Restricted+" or "+podsecurity.Legacy+" (none)")
	o.source.Bind(cmd)
	f.BoolVar(&o.source.Registry.PlainHTTP, "use-http", false, "the same as --plain-http")
	f.Lookup("use-http").Hidden = true
	command.CompleteNothing(cmd, "host", "index-image", "pull-secret-name", "service-account")
	command.CompleteValues(cmd, "image-pull-policy", pullPolicies...)
	command.CompleteValues(cmd, "security-context-config", podsecurity.Restricted, podsecurity.Legacy)
}

var pullPolicies = []string{"Always", "IfNotPresent", "Never"}

// podFlags are the flags that a catalog on this machine does not have.
var podFlags = []string{"index-image", "image-pull-policy", "pull-secret-name", "service-account", "security-context-config"}

// check validates the arguments before anything is read.
func (o *runOptions) check(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) != 1:
		return fault.Usage("name its folder or its image, as in "+cmd.CommandPath()+" registry.example.org/fleet-bundle:v0.1.0", "%s needs one bundle, got %d", cmd.CommandPath(), len(args))
	case o.host != "" && !o.local:
		return fault.Usage("add --local", "--host is the address of a catalog on this machine")
	}
	if err := cmp.Or(
		command.CheckValue("image-pull-policy", o.pod.PullPolicy, pullPolicies...),
		command.CheckValue("security-context-config", o.security, podsecurity.Restricted, podsecurity.Legacy),
	); err != nil {
		return err
	}
	for _, name := range podFlags {
		if o.local && cmd.Flags().Changed(name) {
			return fault.Usage("remove the flag, or --local", "--%s cannot be used with --local, which runs no catalog pod", name)
		}
	}
	return o.checkPod()
}

// checkPod validates the references and the names in the flags about the pod.
func (o *runOptions) checkPod() error {
	for _, f := range []struct{ name, value string }{{"pull-secret-name", o.pod.PullSecret}, {"service-account", o.pod.ServiceAccount}} {
		if f.value != "" && len(validation.IsDNS1123Subdomain(f.value)) > 0 {
			return fault.Usage("use lowercase letters, digits, hyphens and dots", "--%s %q is not a valid name", f.name, f.value)
		}
	}
	_, err := o.source.Registry.ParseReference(o.pod.Image)
	return err
}

// run connects to the cluster, reads the bundle, and installs or upgrades. It pulls and pushes nothing
// if there is no cluster with OLM.
func (o *runOptions) run(
	cmd *cobra.Command, a *command.App, args []string,
	do func(*cluster.Client, context.Context, cluster.Options) (bool, error), done string,
) error {
	if err := o.check(cmd, args); err != nil {
		return err
	}
	place, opts := args[0], cluster.Options{Secret: o.pod.PullSecret}
	var err error
	onMachine := isOnMachine(a, place)
	if onMachine {
		if opts.Bundle, err = o.openBundle(cmd.Context(), a, place); err != nil {
			return err
		}
	}
	ctx, cancel, c, err := o.open(cmd.Context(), a)
	if err != nil {
		return err
	}
	defer cancel()
	opts.Namespace = c.kube.Namespace
	if opts.Mode, err = cluster.ParseMode(o.mode, opts.Namespace); err != nil {
		return err
	}
	if err := c.RequireOLM(ctx, "install it with OLM v1: operon catalog extension "+place+" --catalog-image IMAGE | kubectl apply -f -"); err != nil {
		return err
	}
	if !onMachine {
		if opts.Bundle, err = o.openBundle(ctx, a, place); err != nil {
			return err
		}
	}
	if opts.Catalog, err = o.catalog(c); err != nil {
		return err
	}
	changed, err := do(c.Client, ctx, opts)
	return report(a, changed, err, done, opts.Bundle.Name(), opts.Namespace)
}

// isOnMachine reports whether a bundle is on this machine rather than in a registry, as OpenBundle decides.
func isOnMachine(a *command.App, place string) bool {
	_, err := os.Stat(a.Path(place))
	return err == nil || image.IsPath(place)
}

// openBundle reads the bundle. OLM gets the image that was read, also if its tag moves.
func (o *runOptions) openBundle(ctx context.Context, a *command.App, place string) (*bundle.Bundle, error) {
	if !isOnMachine(a, place) {
		var err error
		place, err = images.Await(ctx, func() (string, error) { return o.source.Registry.Resolve(ctx, place) })
		if err != nil {
			return nil, err
		}
		o.pod.Bundle = place
	}
	return images.OpenBundle(ctx, a, place, o.source.Registry)
}

// catalog returns how the catalog reaches OLM.
func (o *runOptions) catalog(c connection) (cluster.Catalog, error) {
	if !o.local {
		o.pod.Restricted = o.security == podsecurity.Restricted
		return o.pod, nil
	}
	address, listen, err := c.kube.Address(o.host)
	return local(o.host, address, listen), err
}

// local returns a catalog on this machine. It asks for no credentials, so it listens on all addresses
// only if --host may be the address of another machine, which forwards requests.
func local(host, address, listen string) cluster.Local {
	if host == "" {
		listen = address
	}
	return cluster.Local{Address: address, Listen: listen}
}

// report prints the outcome of a command.
func report(a *command.App, changed bool, err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	text := fmt.Sprintf(format, args...)
	if !changed {
		text = "nothing to do"
	}
	return a.Print(text + "\n")
}
