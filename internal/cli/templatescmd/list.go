package templatescmd

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/teamtemplates"
	"github.com/operon-dev/operon/templates"
	"github.com/spf13/cobra"
)

// The states of templates.
const (
	builtIn  = "built-in" // operon's own
	copied   = "copied"   // a template of the team that equals operon's
	edited   = "edited"   // a template of the team that differs
	outdated = "outdated" // ... and operon's own has changed since it was copied
)

// item is the JSON form of a template.
type item struct {
	Name  string `json:"name"`
	State string `json:"state"`
	File  string `json:"file,omitempty"` // of a template of the team
}

type listFrame struct {
	command.Frame
	Items []item `json:"items"`
}

func newList(a *command.App) *cobra.Command {
	var output string
	var team bool
	cmd := &cobra.Command{
		Use:   "list [FOLDER]",
		Short: "List the templates that a team can replace",
		Long: `List the templates of operon, or the templates in a folder. In a project,
without a folder, it omits templates of other layouts. The name of a template
has the plugin, a tree of files, and the path of the file that it writes:
golang/init/Makefile.tmpl writes the Makefile of a new project. A word in
brackets stands for a name, as in golang/types/[apidir]/[kind]_types.go.tmpl.

A template is built-in, or the team has replaced it. Then it is copied, edited,
or outdated: operon's own template has changed since the team copied it.`,
		Example: `  operon templates list golang/init
  operon templates list --team`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.Usage("name one folder, as in operon templates list golang/init", "%s accepts one folder, got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		ValidArgsFunction: completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return list(cmd.Context(), a, strings.TrimSuffix(strings.Join(args, ""), "/"), team, output)
		},
	}
	cmd.Flags().BoolVar(&team, "team", false, "list only the templates that the team has replaced")
	command.BindOutput(cmd, &output)
	return cmd
}

func list(ctx context.Context, a *command.App, folder string, teamOnly bool, output string) error {
	if err := command.CheckOutput(output); err != nil {
		return err
	}
	names, err := teamtemplates.Names(templates.FS, folder)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return teamtemplates.Check(templates.FS, folder)
	}
	team, layout, err := teamOf(ctx, a)
	if err != nil {
		return err
	}
	folders := a.Catalogue.Templates(layout)
	items, rows := []item{}, [][]string{{"TEMPLATE", "STATE", "FILE"}}
	for _, name := range names {
		t, replaced := team[name]
		own, _, _ := strings.Cut(name, "/")
		other := folder == "" && folders != nil && !slices.Contains(folders, own)
		if !replaced && (teamOnly || other) {
			continue
		}
		i := item{name, builtIn, t.File}
		if replaced {
			i.State = state(t)
		}
		items = append(items, i)
		rows = append(rows, []string{i.Name, i.State, cmp.Or(i.File, "-")})
	}
	if output == command.FormatJSON {
		return command.PrintJSON(a.Out, listFrame{command.NewFrame("templates list", "TemplateList"), items})
	}
	if len(items) == 0 {
		a.Notef("the team has replaced no templates")
		return nil
	}
	return a.PrintTable(rows)
}

// state returns the state of a template of the team.
func state(t teamtemplates.Template) string {
	own, err := content(t.Name)
	switch {
	case err == nil && bytes.Equal(own, t.Content):
		return copied
	case t.Outdated(templates.FS):
		return outdated
	}
	return edited
}
