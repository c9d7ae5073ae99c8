package catalogcmd

import (
	"cmp"
	"context"
	"os"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
)

// add holds the flags of operon catalog add.
type add struct {
	writer
	images.RegistryFlags

	image     string
	channels  []string
	upgrade   catalog.Upgrade
	overwrite bool
}

func newAdd(a *command.App) *cobra.Command {
	o := &add{}
	cmd := &cobra.Command{
		Use:   "add [BUNDLE]",
		Short: "Add a bundle to channels of a catalog",
		Long: `Add a bundle to the channels that its metadata lists. The bundle is a folder
(default: bundle), an OCI layout, a tarball, or a reference in a registry, as
for operon catalog render. A package or channel that is missing is added, too.

The ClusterServiceVersion says what the bundle replaces and skips, and the flags
override it. If neither does, the bundle replaces the head of each channel. A
change that OLM would refuse is not made. Comments and other lines of the files
stay.`,
		Example: `  operon catalog add --image ghcr.io/acme/fleet-bundle:v0.2.0
  operon catalog add ghcr.io/acme/fleet-bundle:v0.2.0 --channels stable,fast
  operon catalog add --skips fleet.v0.1.1 --diff`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.image, "image", "", "reference of the image of a bundle on this machine; without it, the catalog has the manifests")
	f.StringSliceVar(&o.channels, "channels", nil, "channels, separated by commas; by default the channels of the bundle")
	f.StringVar(&o.upgrade.Replaces, "replaces", "", "bundle that is upgraded to this one, such as fleet.v0.1.0")
	f.StringSliceVar(&o.upgrade.Skips, "skips", nil, "bundles that are not installed any more, and upgraded to this one")
	f.StringVar(&o.upgrade.SkipRange, "skip-range", "", `versions that are upgraded to this one, such as ">=0.1.0 <0.2.0"`)
	f.BoolVar(&o.overwrite, "overwrite", false, "replace the bundle if the catalog has another one with the same name")
	o.bind(cmd)
	o.Bind(cmd) // of registries
	command.CompleteNothing(cmd, "image", "channels", "replaces", "skips", "skip-range")
	cmd.ValidArgsFunction = command.PlaceArgument
	return cmd
}

func (o *add) run(ctx context.Context, a *command.App, cmd *cobra.Command, args []string) error {
	place, err := oneBundle(a, cmd, args)
	if err != nil {
		return err
	}
	if err := o.checkNames(); err != nil {
		return err
	}
	ref := o.image
	if ref != "" {
		if _, err := o.Registry.ParseReference(ref); err != nil {
			return err
		}
	} else if _, err := os.Stat(a.Path(place)); err != nil && len(args) == 1 {
		ref = place
	}
	b, err := images.OpenBundle(ctx, a, place, o.Registry)
	if err != nil {
		return err
	}
	if err := images.CheckTag(o.image, b.Version()); err != nil {
		return err
	}
	rendered, err := catalog.FromBundle(b, ref)
	if err != nil {
		return err
	}
	x := catalog.Addition{Rendered: rendered, Channels: o.channelsOf(b), Upgrade: o.upgradeOf(b), Overwrite: o.overwrite}
	return o.plan(a, o.folder, func(p *scaffold.Plan, dir string) error {
		c, err := readNew(a, o.folder)
		if err != nil {
			return err
		}
		edits, err := c.Add(x)
		if err != nil {
			return fault.In(o.folder, err)
		}
		if err := apply(p, dir, edits); err != nil {
			return err
		}
		return verify(p, dir, c, edits)
	})
}

// checkNames validates the names in the flags.
func (o *add) checkNames() error {
	for _, channel := range o.channels {
		if err := checkChannel("--channels", channel); err != nil {
			return err
		}
	}
	names := map[string][]string{"skips": o.upgrade.Skips}
	if o.upgrade.Replaces != "" {
		names["replaces"] = []string{o.upgrade.Replaces}
	}
	for _, flag := range []string{"replaces", "skips"} {
		for _, name := range names[flag] {
			if !bundle.IsName(name) {
				return fault.Usage("use the name of a bundle, such as fleet.v0.1.0", "--%s %q is not the name of a bundle", flag, name)
			}
		}
	}
	return nil
}

// checkChannel validates the name of a channel in a flag. Uppercase letters are unusual, but OLM
// accepts them.
func checkChannel(flag, name string) error {
	if name == "" || len(validation.IsValidLabelValue(name)) > 0 {
		return fault.Usage("use letters, digits, hyphens and dots, as in stable-v1", "%s %q is not the name of a channel", flag, name)
	}
	return nil
}

// channelsOf returns the channels without repetitions, the default channel of the bundle first.
func (o *add) channelsOf(b *bundle.Bundle) []string {
	wanted := o.channels
	if len(wanted) == 0 {
		wanted = b.Channels()
	}
	var channels []string
	if preferred := b.Annotations[bundle.DefaultChannelKey]; slices.Contains(wanted, preferred) {
		channels = append(channels, preferred)
	}
	for _, name := range wanted {
		if !slices.Contains(channels, name) {
			channels = append(channels, name)
		}
	}
	return channels
}

// upgradeOf returns what the flags say, or else the bundle.
func (o *add) upgradeOf(b *bundle.Bundle) catalog.Upgrade {
	u := catalog.UpgradeOf(b)
	u.Replaces, u.SkipRange = cmp.Or(o.upgrade.Replaces, u.Replaces), cmp.Or(o.upgrade.SkipRange, u.SkipRange)
	if len(o.upgrade.Skips) > 0 {
		u.Skips = o.upgrade.Skips
	}
	return u
}
