// Package imagecmd implements the commands for what operators are shipped as: manifests and
// images.
package imagecmd

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/spf13/cobra"
)

// The values of --load-restrictor, which are kustomize's.
const (
	restrictNothing = "LoadRestrictionsNone"
	restrictToRoot  = "LoadRestrictionsRootOnly"
)

// NewKustomize returns the group kustomize.
func NewKustomize(a *command.App) *cobra.Command {
	return command.NewGroup("kustomize", "Build kustomizations", newKustomizeBuild(a))
}

// kustomizeBuild holds the flags of operon kustomize build.
type kustomizeBuild struct {
	output     string
	restrictor string
}

func newKustomizeBuild(a *command.App) *cobra.Command {
	o := &kustomizeBuild{}
	cmd := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Print the objects of a kustomization",
		Long: `Print the objects of the kustomization in a folder (the working folder), as the
program kustomize does, byte for byte.

The command fetches and runs nothing: it refuses URLs, repositories of git, and
Helm charts. It needs no project.`,
		Example: `  operon kustomize build config/default
  operon kustomize build config/default | kubectl apply --server-side -f -
  operon kustomize build config/crd -o crds.yaml`,
		Args: oneFolder,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write to this `file`, or one file for each object to this folder")
	f.StringVar(&o.restrictor, "load-restrictor", restrictToRoot, restrictNothing+" allows kustomizations to load files from outside of their folders")
	command.CompleteValues(cmd, "load-restrictor", restrictNothing, restrictToRoot)
	cmd.ValidArgsFunction = command.FolderArgument
	return cmd
}

func oneFolder(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fault.Usage("name one folder", "%s accepts one folder, got %d arguments", cmd.CommandPath(), len(args))
	}
	return nil
}

func (o *kustomizeBuild) run(a *command.App, args []string) error {
	if o.restrictor != restrictNothing && o.restrictor != restrictToRoot {
		return fault.Usage("valid values: "+restrictNothing+", "+restrictToRoot, "invalid value %q for --load-restrictor", o.restrictor)
	}
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	built, err := kustomize.Build(a.Dir, dir, kustomize.Options{AnyPath: o.restrictor == restrictNothing})
	if err != nil {
		return err
	}
	if o.output == "" {
		_, err := a.Out.Write(built.YAML())
		return err
	}
	return writeOutput(a.Path(o.output), built)
}

// writeOutput writes what a kustomization results in to a file, or to files in a folder that
// exists.
func writeOutput(to string, built *kustomize.Result) error {
	info, err := os.Stat(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Failed("choose another folder, or make it writable", "cannot write %s: %v", to, fault.Reason(err))
	}
	if err != nil || !info.IsDir() {
		return atomicfile.WriteBytes(to, built.YAML())
	}
	files, err := built.Files()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := atomicfile.WriteBytes(filepath.Join(to, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}
