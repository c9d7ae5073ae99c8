package templatescmd

import (
	"context"
	"os"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/teamtemplates"
	"github.com/spf13/cobra"
)

// copyTemplates holds the flags of `operon templates copy`.
type copyTemplates struct {
	command.WriteFlags
	dir string

	cmd *cobra.Command
}

func newCopy(a *command.App) *cobra.Command {
	o := &copyTemplates{}
	cmd := &cobra.Command{
		Use:   "copy NAME...",
		Short: "Copy templates, to change them for a project or a team",
		Long: `Copy templates of operon into .operon/templates, where your team changes them.
Every command then renders the copy instead of operon's own template. A repeated
operon init applies the change to the files of the project and keeps what you
edited there, and operon generate applies it to generated files, such as the
files of a chart. Delete the copy to return to operon's template.

Repeat the command after an update of operon: it merges what has changed in
operon's template with what you changed in the copy.`,
		Example: `  operon templates copy golang/init/Makefile.tmpl
  operon templates copy golang/init/Dockerfile.tmpl --dir ../team`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.Usage("operon templates list lists them", "%s needs the names of templates", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeNames,
		RunE:              func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	o.cmd = cmd
	cmd.Flags().StringVar(&o.dir, "dir", "", "folder of templates that several projects share (default: the project)")
	command.CompleteFolder(cmd, "dir")
	o.BindForce(cmd)
	o.Bind(cmd)
	return cmd
}

func (o *copyTemplates) run(a *command.App, names []string) error {
	root, err := o.root(a)
	if err != nil {
		return err
	}
	err = a.WritePlan(o.cmd, root, o.WriteFlags, func(_ context.Context, p *scaffold.Plan) error {
		for _, name := range names {
			text, err := content(name)
			if err != nil {
				return err
			}
			file := teamtemplates.File(name)
			if err := p.Recreate(file); err != nil {
				return err
			}
			if err := p.Seed(file, 0o644, text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	next := "edit the copy; operon init and operon generate apply it to the files of this project"
	if o.dir != "" {
		next = "edit the copy; operon edit --templates makes a project use the folder"
	}
	a.NextStep(next)
	return nil
}

// root returns the folder that gets the copies.
func (o *copyTemplates) root(a *command.App) (string, error) {
	if o.dir == "" {
		return project.FindRoot(a.Dir)
	}
	if info, err := os.Stat(a.Path(o.dir)); err != nil || !info.IsDir() {
		return "", fault.Usage("create it: mkdir "+o.dir, "--dir %s is not a folder", o.dir)
	}
	return a.Path(o.dir), nil
}
