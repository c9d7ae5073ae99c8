package catalogcmd

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
)

// imageOptions holds the flags of operon catalog image.
type imageOptions struct {
	images.Destination

	ref       string
	base      string
	platforms []string
	output    string
}

func newImage(a *command.App) *cobra.Command {
	o := &imageOptions{}
	cmd := &cobra.Command{
		Use:   "image [DIR]",
		Short: "Build the image of a catalog without Docker",
		Long: `Put the catalog in a folder (default: catalog) into an image, with the label
that OLM expects. The image goes to a registry, an OCI layout or a tarball.
Several platforms result in an index. Credentials come from the configuration of
docker. The same catalog and base result in the same digest.

OLM v1 only reads the files: the base is scratch by default. A catalog for OLM
v0 serves itself, and needs a base with opm, by reference or as an OCI layout:
  --base ` + pins.OPMImage,
		Example: `  operon catalog image --image ghcr.io/acme/catalog:v1 --push
  operon catalog image --image ghcr.io/acme/catalog:v1 --layout out \
    --base ` + pins.OPMImage + ` \
    --platform linux/amd64,linux/arm64`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.ref, "image", "", "reference of the image (required)")
	f.StringVar(&o.base, "base", images.Scratch, "base image: a `reference`, the folder of an OCI layout, or "+images.Scratch)
	f.StringSliceVar(&o.platforms, "platform", nil, "platforms, separated by commas; by default linux/amd64 for scratch, or else the platform of this machine")
	o.Bind(cmd)
	command.BindOutput(cmd, &o.output)
	command.CompleteNothing(cmd, "image", "base")
	command.CompleteValues(cmd, "platform", "linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x")
	cmd.ValidArgsFunction = command.FolderArgument
	return cmd
}

func (o *imageOptions) run(ctx context.Context, a *command.App, cmd *cobra.Command, args []string) error {
	folder, err := oneFolder(a, cmd, args)
	if err != nil {
		return err
	}
	platforms, err := o.check(a)
	if err != nil {
		return err
	}
	if err := validated(a, folder); err != nil {
		return err
	}
	files, err := imageFiles(a.Path(folder))
	if err != nil {
		return err
	}
	bases, err := images.OpenBases(ctx, a, o.base, o.Registry, platforms)
	if err != nil {
		return err
	}
	content, err := o.build(ctx, bases, files)
	if err != nil {
		return err
	}
	if err := o.Write(ctx, a, o.ref, content); err != nil {
		return err
	}
	return o.Report(a, "catalog image", o.ref, content, o.platforms, o.output)
}

// check validates the flags, and returns the platforms.
func (o *imageOptions) check(a *command.App) ([]v1.Platform, error) {
	if o.ref == "" {
		return nil, fault.Usage("for example: --image ghcr.io/acme/catalog:v1", "--image is required")
	}
	if err := command.CheckOutput(o.output); err != nil {
		return nil, err
	}
	if err := o.Check(a, o.ref); err != nil {
		return nil, err
	}
	if o.platforms == nil {
		o.platforms = []string{"linux/amd64"} // files have no architecture, and the digest is the same everywhere
		if o.base != images.Scratch {
			o.platforms = []string{"linux/" + runtime.GOARCH}
		}
	}
	return images.ParsePlatforms(o.platforms, o.Tarball != "")
}

// validated returns an error if OLM would refuse a catalog.
func validated(a *command.App, folder string) error {
	c, found, err := read(a, folder)
	if err != nil {
		return err
	}
	for _, f := range append(found, finding.InFolder(folder, c.Validate())...) {
		if f.IsError() {
			return fault.Usage("run operon catalog validate "+folder, "OLM would refuse the catalog: %s: %s", f.Position(), f.Message)
		}
	}
	return nil
}

// imageFiles returns the files of a folder as the image has them.
func imageFiles(folder string) ([]image.File, error) {
	var files []image.File
	root := input.Folder(folder, input.Catalog)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := fs.Stat(root, name); err == nil && info.IsDir() { // follows links, as operon catalog validate does
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return fault.Usage("remove it, or replace it with a file", "%s/%s: %v", filepath.ToSlash(folder), name, fault.Reason(err))
		}
		files = append(files, image.Text(path.Join(catalog.ImageDir, name), content))
		return err
	})
	return files, err
}

// build returns the image, or the index of several platforms.
func (o *imageOptions) build(ctx context.Context, bases []v1.Image, files []image.File) (image.Content, error) {
	config := image.Config{Labels: catalog.Labels()}
	if o.base != images.Scratch {
		config.Entrypoint, config.Cmd = catalog.Entrypoint, catalog.Serve
	}
	var images []v1.Image
	for _, base := range bases {
		img, err := image.Build(ctx, base, files, config, time.Unix(0, 0))
		if err != nil {
			return image.Content{}, err
		}
		images = append(images, img)
	}
	return image.NewContent(images)
}
