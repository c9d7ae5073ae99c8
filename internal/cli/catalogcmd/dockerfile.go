package catalogcmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// dockerfile holds the flags of operon catalog dockerfile.
type dockerfile struct {
	writer

	base string
}

func newDockerfile(a *command.App) *cobra.Command {
	o := &dockerfile{}
	cmd := &cobra.Command{
		Use:   "dockerfile [DIR]",
		Short: "Write the Dockerfile for the image of a catalog",
		Long: `Write DIR.Dockerfile beside the catalog in the folder DIR (default: catalog).
The image serves the catalog with opm, as OLM v0 expects it, and caches it when
it is built. OLM v1 reads the files of the same image.

With --base scratch, the image has the files only. operon catalog image makes
images without Docker.`,
		Example: `  operon catalog dockerfile
  operon catalog dockerfile ./my-catalog --base scratch`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, args) },
	}
	o.cmd = cmd
	cmd.Flags().StringVar(&o.base, "base", pins.OPMImage, "image with opm, or "+images.Scratch)
	o.Bind(cmd)
	command.CompleteValues(cmd, "base", images.Scratch, pins.OPMImage)
	cmd.ValidArgsFunction = command.FolderArgument
	return cmd
}

func (o *dockerfile) run(a *command.App, cmd *cobra.Command, args []string) error {
	folder, err := oneFolder(a, cmd, args)
	if err != nil {
		return err
	}
	if o.base != images.Scratch {
		if _, err := (images.RegistryFlags{}).Registry.ParseReference(o.base); err != nil {
			return err
		}
	}
	if _, _, err := read(a, folder); err != nil {
		return err
	}
	return o.plan(a, folder, func(p *scaffold.Plan, dir string) error {
		base := o.base
		if base == images.Scratch {
			base = ""
		}
		name, content := bundle.Dockerfile(dir), catalog.Dockerfile(dir, base)
		if err := p.Recreate(name); err != nil { // the user asks for it, although it may have been deleted
			return err
		}
		return p.Seed(name, 0, content)
	})
}
