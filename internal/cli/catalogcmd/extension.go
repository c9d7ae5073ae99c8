package catalogcmd

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
	objects "github.com/operon-dev/operon/internal/olm/extension"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// extension holds the flags of operon catalog extension.
type extension struct {
	images.RegistryFlags
	objects.Options

	output string
}

func newExtension(a *command.App) *cobra.Command {
	o := &extension{}
	cmd := &cobra.Command{
		Use:   "extension [BUNDLE]",
		Short: "Print what installs a bundle with OLM v1",
		Long: `Print the objects that install the package of a bundle (default: bundle) with
OLM v1: a Namespace, the ServiceAccount of the installer with the least
permissions for this bundle, a ClusterExtension, and with --catalog-image a
ClusterCatalog.

Newer versions of OLM v1 ignore the ServiceAccount and use their own; leave it
out with --service-account "". An operator for one namespace needs OLM with the
experimental CRDs.`,
		Example: `  operon catalog extension --catalog-image ghcr.io/acme/catalog:v1 |
    kubectl apply -f -
  operon catalog extension ghcr.io/acme/fleet-bundle:v0.1.0 --channels stable`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "name of the ClusterExtension; by default the name of the package")
	f.StringVarP(&o.Namespace, "namespace", "n", "", "namespace of the operator; by default <package>-system")
	f.StringVar(&o.Watch, "watch-namespace", "", "namespace that the operator watches; by default all, or else its own")
	f.StringVar(&o.ServiceAccount, "service-account", "", "ServiceAccount of the installer; by default <name>-installer")
	f.StringSliceVar(&o.Channels, "channels", nil, "channels to install from and to upgrade in; by default all")
	f.StringVar(&o.Version, "version", "", `versions to install, such as 0.1.0 or ">=0.1.0 <1.0.0"; by default the latest`)
	f.StringVar(&o.Catalog, "catalog", "", "name of the ClusterCatalog; by default the name of the package if it is printed, or else any")
	f.StringVar(&o.CatalogImage, "catalog-image", "", "image of the catalog; prints a ClusterCatalog")
	f.StringVarP(&o.output, "output", "o", formatYAML, "output format: yaml or json")
	o.Bind(cmd)
	command.CompleteNothing(cmd, "name", "namespace", "watch-namespace", "service-account", "channels", "version", "catalog", "catalog-image")
	command.CompleteValues(cmd, "output", formatYAML, command.FormatJSON)
	cmd.ValidArgsFunction = command.FolderArgument
	return cmd
}

func (o *extension) run(ctx context.Context, a *command.App, cmd *cobra.Command, args []string) error {
	place, err := oneBundle(a, cmd, args)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	b, err := images.OpenBundle(ctx, a, place, o.Registry)
	if err != nil {
		return err
	}
	if err := o.checkSelection(a, b); err != nil {
		return err
	}
	o.complete(cmd, b)
	o.WatchHint = "name one with --watch-namespace"
	all, err := objects.Objects(b, o.Options)
	if err != nil {
		return err
	}
	if o.output == command.FormatJSON {
		return command.PrintJSON(a.Out, map[string]any{"apiVersion": "v1", "kind": "List", "items": all})
	}
	var out bytes.Buffer
	for _, object := range all {
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	_, err = a.Out.Write(out.Bytes())
	return err
}

// check validates the flags.
func (o *extension) check() error {
	if err := command.CheckValue("output", o.output, formatYAML, command.FormatJSON); err != nil {
		return err
	}
	for _, f := range []struct {
		name, value string
		problems    func(string) []string
	}{
		{"name", o.Name, validation.IsDNS1123Subdomain}, {"service-account", o.ServiceAccount, validation.IsDNS1123Subdomain},
		{"catalog", o.Catalog, validation.IsDNS1123Subdomain},
		{"namespace", o.Namespace, validation.IsDNS1123Label}, {"watch-namespace", o.Watch, validation.IsDNS1123Label},
	} {
		if f.value != "" && len(f.problems(f.value)) > 0 {
			return fault.Usage("use lowercase letters, digits and hyphens", "--%s %q is not a valid name", f.name, f.value)
		}
	}
	if o.Version != "" {
		if _, err := semver.NewConstraint(o.Version); err != nil {
			return fault.Usage(`use a range such as ">=0.1.0 <1.0.0"`, "--version %q is not a range of versions", o.Version)
		}
	}
	for _, channel := range o.Channels {
		if err := checkChannel("--channels", channel); err != nil {
			return err
		}
	}
	if o.CatalogImage != "" {
		_, err := o.Registry.ParseReference(o.CatalogImage)
		return err
	}
	return nil
}

// checkSelection returns an error if the flags exclude the bundle that the permissions are for. The
// catalog of the project, if it has the bundle, names its channels.
func (o *extension) checkSelection(a *command.App, b *bundle.Bundle) error {
	if o.Version != "" {
		wanted, err := semver.NewConstraint(o.Version)
		if err != nil {
			return err
		}
		if version, err := semver.NewVersion(b.Version()); err == nil && !wanted.Check(version) {
			return fault.Usage("name the bundle of a version in the range, or another range", "--version %q excludes the version of the bundle, %s", o.Version, b.Version())
		}
	}
	folder := a.ProjectFolder(defaultFolder)
	if len(o.Channels) == 0 || !isFolder(a.Path(folder)) {
		return nil
	}
	c, _, err := read(a, folder)
	if err != nil {
		return nil //nolint:nilerr // a folder of that name need not be the catalog
	}
	with := c.ChannelsOf(b.Package(), b.Name())
	for _, channel := range o.Channels {
		if len(with) > 0 && !slices.Contains(with, channel) {
			return fault.Usage("it is in "+strings.Join(with, ", ")+"; to add it: operon catalog add --channels "+channel, "%s is not in channel %s of the catalog in %s", b.Name(), channel, folder)
		}
	}
	return nil
}

// complete sets what follows from the package.
func (o *extension) complete(cmd *cobra.Command, b *bundle.Bundle) {
	o.Name = cmp.Or(o.Name, b.Package())
	o.Namespace = cmp.Or(o.Namespace, strings.ReplaceAll(b.Package(), ".", "-")+"-system")
	if !cmd.Flags().Changed("service-account") {
		o.ServiceAccount = o.Name + "-installer"
	}
	if o.CatalogImage != "" {
		o.Catalog = cmp.Or(o.Catalog, b.Package())
	}
}
