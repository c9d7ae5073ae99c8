package command

import (
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/teamtemplates"
	"github.com/operon-dev/operon/templates"
)

// TeamTemplates returns the templates of the team that a project uses.
func TeamTemplates(p Project) ([]teamtemplates.Template, error) {
	return teamtemplates.Read(p.Plan, "", templates.FS)
}

// useTemplates makes plugins render the templates of the team, and warns about those that are copies
// of an older template.
func useTemplates(p Project) error {
	team, err := TeamTemplates(p)
	if err != nil || len(team) == 0 {
		return err
	}
	p.Plan.UseTemplates(teamtemplates.Layer(templates.FS, team))
	for _, t := range team {
		if !t.Outdated(templates.FS) {
			continue
		}
		now, err := templates.FS.ReadFile(t.Name)
		if err != nil {
			return err
		}
		p.Plan.Warn(scaffold.Warning{File: t.File, Rule: "outdated-template",
			Message: "operon's template has changed since it was copied; operon templates copy " + t.Name + " merges the change",
			Lines:   scaffold.Change{Path: t.Name, Before: t.Copied, After: now}.Diff()})
	}
	return nil
}
