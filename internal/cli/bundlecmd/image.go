package bundlecmd

import (
	"context"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/spf13/cobra"
)

// imageOptions holds the flags of operon bundle image.
type imageOptions struct {
	images.Destination

	ref    string
	output string
}

func newImage(a *command.App) *cobra.Command {
	o := &imageOptions{}
	cmd := &cobra.Command{
		Use:   "image [DIR]",
		Short: "Build the image of a bundle without Docker",
		Long: `Put the bundle in a folder (default: bundle) into an image, with the labels that
OLM expects, as its Dockerfile does. The image goes to a registry, an OCI layout
or a tarball. Credentials come from the configuration of docker. The same bundle
results in the same digest.`,
		Example: `  operon bundle image --image ghcr.io/acme/fleet-bundle:v0.1.0 --push
  operon bundle image --image ghcr.io/acme/fleet-bundle:v0.1.0 --layout out`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	cmd.Flags().StringVar(&o.ref, "image", "", "reference of the image (required)")
	o.Bind(cmd)
	command.BindOutput(cmd, &o.output)
	command.CompleteNothing(cmd, "image")
	cmd.ValidArgsFunction = command.FolderArgument
	return cmd
}

func (o *imageOptions) run(ctx context.Context, a *command.App, args []string) error {
	switch {
	case len(args) > 1:
		return fault.Usage("name one folder", "operon bundle image accepts one folder, got %d", len(args))
	case o.ref == "":
		return fault.Usage("for example: --image ghcr.io/acme/fleet-bundle:v0.1.0", "--image is required")
	}
	if err := command.CheckOutput(o.output); err != nil {
		return err
	}
	if err := o.Check(a, o.ref); err != nil {
		return err
	}
	folder := a.ProjectFolder("bundle")
	if len(args) > 0 {
		folder = args[0]
	}
	contents, b, err := readBundle(ctx, a, folder)
	if err != nil {
		return err
	}
	if err := images.CheckTag(o.ref, b.Version()); err != nil {
		return err
	}
	img, err := bundleImage(ctx, contents, b)
	if err != nil {
		return err
	}
	content := image.Content{Image: img}
	if err := o.Write(ctx, a, o.ref, content); err != nil {
		return err
	}
	return o.Report(a, "bundle image", o.ref, content, []string{"linux/amd64"}, o.output)
}

// readBundle reads the bundle in a folder.
func readBundle(ctx context.Context, a *command.App, folder string) (map[string][]byte, *bundle.Bundle, error) {
	contents, err := bundle.ReadFolder(a.Path(folder))
	if err != nil {
		return nil, nil, err
	}
	b, err := images.Await(ctx, func() (*bundle.Bundle, error) { return bundle.Parse(contents) })
	if err != nil {
		return nil, nil, fault.In(folder, err)
	}
	return contents, b, images.CheckBundle(folder, contents)
}
