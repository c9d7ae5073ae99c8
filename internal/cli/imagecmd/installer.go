package imagecmd

import (
	"context"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/spf13/cobra"
)

// installFile is the file that build-installer in the Makefile of a project writes, too.
const installFile = "dist/install.yaml"

// installer holds the flags of operon installer.
type installer struct {
	command.WriteFlags
	image string
	dir   string

	cmd *cobra.Command
}

// NewInstaller returns the command installer.
func NewInstaller(a *command.App) *cobra.Command {
	o := &installer{}
	cmd := &cobra.Command{
		Use:   "installer",
		Short: "Write all manifests of the operator to " + installFile,
		Long: `Write all manifests of the operator to ` + installFile + `: one file that users
apply to install the operator. The content is what "make build-installer"
writes. The command needs no network and no kustomize. It does not generate: run
operon generate first if the sources have changed.

--image sets the image of the manager in that file alone, and not in
config/manager/kustomization.yaml.`,
		Example: `  operon installer --image registry.example.org/fleet:v1.2.0
  operon installer --check --diff`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.image, "image", "", "image of the manager (default: the one in the manifests)")
	f.StringVar(&o.dir, "kustomize-dir", "config/default", "`folder` of the kustomization, relative to the project")
	o.BindCheck(cmd, installFile+" differs")
	o.Bind(cmd)
	command.CompleteNothing(cmd, "image")
	command.CompleteFolder(cmd, "kustomize-dir")
	return cmd
}

func (o *installer) run(a *command.App) error {
	if o.cmd.Flags().Changed("image") {
		if _, err := (image.Registry{}).ParseReference(o.image); err != nil {
			return err
		}
	}
	if err := o.CheckCheck(o.cmd); err != nil {
		return err
	}
	return a.InAnyProject(o.cmd, o.WriteFlags, func(_ context.Context, s command.Project) error {
		built, err := kustomize.Build(s.Root, filepath.FromSlash(o.dir), kustomize.Options{Image: o.image})
		if err != nil {
			return err
		}
		return s.Plan.Generate("installer", installFile, built.YAML())
	})
}
