// Package templatescmd implements operon templates: the templates of operon, and the templates of a team that
// replace them.
package templatescmd

import (
	"context"
	"io/fs"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/teamtemplates"
	"github.com/operon-dev/operon/templates"
	"github.com/spf13/afero"
	"github.com/spf13/cobra"
)

// New returns the command templates.
func New(a *command.App) *cobra.Command {
	return command.NewGroup("templates", "List templates, and replace them with templates of a team",
		newList(a), newShow(a), newCopy(a))
}

// teamOf returns the templates of the team in the project around the working folder, by name, and the layout of the
// project. Both are empty outside of a project.
func teamOf(ctx context.Context, a *command.App) (byName map[string]teamtemplates.Template, layout []string, err error) {
	p, err := a.OpenAnyProject()
	if p.Root == "" || err != nil {
		if _, outside := project.FindRoot(a.Dir); outside != nil {
			err = nil
		}
		return nil, nil, err
	}
	fsys := afero.NewBasePathFs(afero.NewOsFs(), p.Root)
	if p.Plan, err = scaffold.New(fsys, scaffold.Options{}); err != nil {
		return nil, nil, err
	}
	team, err := teamtemplates.Open(ctx, gomod.Go{Dir: p.Root, Environ: a.Environ}, p.Config, p.Plan, templates.FS)
	byName = map[string]teamtemplates.Template{}
	for _, t := range team.All() {
		byName[t.Name] = t
	}
	return byName, p.Config.Layout, err
}

// completeNames offers the folders and templates that continue what is typed, without the names that
// are there already.
func completeNames(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	folder := typed[:strings.LastIndex(typed, "/")+1]
	entries, err := fs.ReadDir(templates.FS, strings.TrimSuffix(folder+".", "/."))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	var offers []cobra.Completion
	for _, e := range entries {
		name := folder + e.Name()
		switch {
		case e.IsDir():
			offers = append(offers, name+"/")
			directive |= cobra.ShellCompDirectiveNoSpace
		case teamtemplates.Check(templates.FS, name) == nil:
			offers = append(offers, name)
		}
	}
	return offers, directive
}

// content returns operon's own template.
func content(name string) ([]byte, error) {
	if err := teamtemplates.Check(templates.FS, name); err != nil {
		return nil, err
	}
	return templates.FS.ReadFile(name)
}
