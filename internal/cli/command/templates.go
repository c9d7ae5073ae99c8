package command

import (
	"context"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/teamtemplates"
	"github.com/operon-dev/operon/templates"
)

// ChooseTemplates records the templates that a flag names, with their hash if they are a module.
func (a *App) ChooseTemplates(ctx context.Context, c *project.Config, root, flag string) error {
	s := project.ParseTemplateSource(flag)
	switch {
	case s.Module != "":
		var err error
		if _, s.Sum, err = teamtemplates.Module(ctx, root, s); err != nil {
			return err
		}
	case s.Path != "" && !filepath.IsAbs(s.Path) && a.Dir != root: // relative to the working folder
		rel, err := filepath.Rel(root, a.Path(s.Path))
		if err != nil {
			return err
		}
		s.Path = rel
	}
	s.Path = filepath.ToSlash(s.Path)
	c.SetTemplates(s)
	return nil
}

// useTemplates makes plugins render the templates of the team, and warns about files that are no templates
// of operon, and about copies of an older template. The user must agree to templates from outside of the
// project.
func (a *App) useTemplates(ctx context.Context, p Project) error {
	team, err := teamtemplates.Open(ctx, p.Root, p.Config, p.Plan, templates.FS)
	if err != nil {
		return err
	}
	if team.IsOutside(p.Root) {
		if err := a.allow(ctx, "Use the templates in", team.Folder, teamtemplates.Checksum(team.Shared)); err != nil {
			return err
		}
	}
	for _, err := range team.Unknown {
		p.Plan.Warn(scaffold.Warning{Rule: "unknown-template", Message: err.Error() + ", so the file has no effect: " + fault.HintOf(err)})
	}
	all := team.All()
	if len(all) == 0 {
		return nil
	}
	p.Plan.UseTemplates(teamtemplates.Layer(templates.FS, all))
	for _, t := range all {
		if err := warnOutdated(p.Plan, t); err != nil {
			return err
		}
	}
	return nil
}

// warnOutdated warns about a template that is a copy of an older one, with what has changed since.
func warnOutdated(p *scaffold.Plan, t teamtemplates.Template) error {
	if !t.Outdated(templates.FS) {
		return nil
	}
	now, err := templates.FS.ReadFile(t.Name)
	if err != nil {
		return err
	}
	p.Warn(scaffold.Warning{File: t.File, Rule: "outdated-template",
		Message: "operon's template has changed since it was copied; operon templates copy " + t.Name + " merges the change",
		Lines:   scaffold.Change{Path: t.Name, Before: t.Copied, After: now}.Diff()})
	return nil
}
