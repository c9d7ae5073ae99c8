package bundlecmd

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/spf13/cobra"
)

// migration holds the flags of operon pkgman-to-bundle.
type migration struct {
	images.RegistryFlags

	outputDir string
	imageBase string
	push      bool
	output    string
}

// NewPackageManifests returns the command pkgman-to-bundle.
func NewPackageManifests(a *command.App) *cobra.Command {
	o := &migration{}
	cmd := &cobra.Command{
		Use:   "pkgman-to-bundle DIR",
		Short: "Convert package manifests to bundles",
		Long: `Convert a package in the format packagemanifests, which bundles replace: DIR has
a file *.package.yaml and a folder for each version. Each version becomes a
bundle with its Dockerfile in bundles/bundle-VERSION. A version is in all
channels that reach it by replaces and skips, and otherwise in the default one.

With --image-tag-base, the command also builds the image of each bundle, with
the folder of its version as the tag: as bundle.tar for docker load, or with
--push into the registry. It needs no Docker.`,
		Example: `  operon pkgman-to-bundle packagemanifests
  operon pkgman-to-bundle packagemanifests --push \
    --image-tag-base ghcr.io/acme/fleet-bundle`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.outputDir, "output-dir", "bundles", "new `folder` for the bundles")
	f.StringVar(&o.imageBase, "image-tag-base", "", "name of the images without a tag")
	f.BoolVar(&o.push, "push", false, "push the images to their registry")
	o.Bind(cmd)
	command.BindOutput(cmd, &o.output)
	command.CompleteNothing(cmd, "image-tag-base")
	command.CompleteFolder(cmd, "output-dir")
	cmd.ValidArgsFunction = command.FolderArgument
	return cmd
}

// migrated is a bundle in the report.
type migrated struct {
	Version  string   `json:"version"`
	Folder   string   `json:"folder"`
	Channels []string `json:"channels"`
	Image    string   `json:"image,omitempty"`

	content image.Content
}

type migrationFrame struct {
	command.Frame
	Items []migrated `json:"items"`
}

func (o *migration) run(ctx context.Context, a *command.App, args []string) error {
	if len(args) != 1 {
		return fault.Usage("for example: operon pkgman-to-bundle packagemanifests", "operon pkgman-to-bundle needs the folder with the package")
	}
	if err := o.check(a); err != nil {
		return err
	}
	releases, err := bundle.ReadPackageManifests(a.Path(args[0]))
	if err != nil {
		return fault.In(args[0], err)
	}
	items, err := o.write(ctx, a, releases)
	if err != nil {
		return err
	}
	return o.report(a, items)
}

// publish pushes the images, if the user asks for it.
func (o *migration) publish(ctx context.Context, a *command.App, items []migrated) error {
	for _, item := range items {
		if !o.push {
			break
		}
		a.Progress("pushing " + item.Image)
		if err := o.Registry.Push(ctx, item.Image, item.content); err != nil {
			return err
		}
	}
	return nil
}

// check validates the flags before anything is read.
func (o *migration) check(a *command.App) error {
	if err := command.CheckOutput(o.output); err != nil {
		return err
	}
	if o.push && o.imageBase == "" {
		return fault.Usage("for example: --image-tag-base ghcr.io/acme/fleet-bundle", "--push needs --image-tag-base")
	}
	if last := path.Base(o.imageBase); strings.ContainsAny(last, ":@") {
		return fault.Usage("remove the tag: it is the version of each bundle", "--image-tag-base %s has a tag", o.imageBase)
	}
	if o.outputDir == "" {
		return fault.Usage("name a new folder", "--output-dir is empty")
	}
	if _, err := os.Stat(a.Path(o.outputDir)); err == nil {
		return fault.Usage("name a new folder with --output-dir", "%s already exists", o.outputDir)
	}
	return nil
}

// write writes all bundles and images into a new folder, and pushes the images. If it fails, there is
// no folder, and the user can repeat the command.
func (o *migration) write(ctx context.Context, a *command.App, releases []bundle.Release) (items []migrated, err error) {
	folder := a.Path(o.outputDir)
	part := folder + ".part"
	made, err := atomicfile.MakeFolder(filepath.Dir(folder))
	if err == nil {
		if err = os.Mkdir(part, 0o755); err != nil && made != "" {
			_ = os.RemoveAll(made)
		}
	}
	if err != nil {
		return nil, fault.Failed("remove it, or name another folder with --output-dir", "%s: %v", part, fault.Reason(err))
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(cmp.Or(made, part))
		}
	}()
	for _, r := range releases {
		item := migrated{Version: r.Bundle.Version(), Folder: path.Join(o.outputDir, "bundle-"+r.Folder, "bundle"), Channels: r.Bundle.Channels()}
		own := filepath.Join(part, "bundle-"+r.Folder)
		for name, content := range r.Files {
			if err := writeFile(filepath.Join(own, "bundle", filepath.FromSlash(name)), content); err != nil {
				return nil, err
			}
		}
		if err := writeFile(filepath.Join(own, bundle.Dockerfile("bundle")), bundle.NewDockerfile("bundle", r.Bundle.Annotations)); err != nil {
			return nil, err
		}
		if o.imageBase != "" {
			item.Image = o.imageBase + ":" + r.Folder
			if err := o.build(ctx, &item, r, own); err != nil {
				return nil, err
			}
		}
		items = append(items, item)
	}
	if err := o.publish(ctx, a, items); err != nil {
		return nil, err
	}
	return items, os.Rename(part, folder)
}

func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o644) //nolint:gosec // not a secret
}

// build builds the image of a bundle, and writes it as a tarball unless it is pushed.
func (o *migration) build(ctx context.Context, item *migrated, r bundle.Release, folder string) error {
	if _, err := o.Registry.ParseReference(item.Image); err != nil {
		return err
	}
	if err := images.CheckBundle(r.Folder, r.Files); err != nil {
		return err
	}
	img, err := bundleImage(ctx, r.Files, r.Bundle)
	if err != nil {
		return err
	}
	item.content = image.Content{Image: img}
	if o.push {
		return nil
	}
	return image.WriteTarball(filepath.Join(folder, "bundle.tar"), item.Image, item.content)
}

// bundleImage builds the image of a bundle from its files.
func bundleImage(ctx context.Context, contents map[string][]byte, b *bundle.Bundle) (v1.Image, error) {
	base, err := image.Scratch(v1.Platform{})
	if err != nil {
		return nil, err
	}
	var files []image.File
	for name, content := range contents {
		if strings.HasPrefix(path.Base(name), ".") {
			continue // such as .DS_Store, which OLM refuses
		}
		files = append(files, image.Text(name, content))
	}
	return image.Build(ctx, base, files, image.Config{Labels: b.Annotations}, time.Unix(0, 0))
}

// report prints the bundles on stdout.
func (o *migration) report(a *command.App, items []migrated) error {
	if o.output == command.FormatJSON {
		return command.PrintJSON(a.Out, migrationFrame{command.NewFrame("pkgman-to-bundle", "BundleList"), items})
	}
	rows := [][]string{{"VERSION", "FOLDER", "CHANNELS", "IMAGE"}}
	for _, item := range items {
		rows = append(rows, []string{item.Version, item.Folder, strings.Join(item.Channels, ","), item.Image})
	}
	return a.PrintTable(rows)
}
