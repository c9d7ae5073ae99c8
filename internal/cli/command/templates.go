package command

import (
	"context"
	"io/fs"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gomod"
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
		if _, s.Sum, err = teamtemplates.Module(ctx, gomod.Go{Dir: root, Environ: a.Environ}, s); err != nil {
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

// openTemplates returns operon's templates with the team's in front. It warns about files that are no templates
// of operon, and about copies of an older template. The user must agree to templates from outside of the
// project.
func (a *App) openTemplates(ctx context.Context, p Project) (fs.FS, error) {
	team, err := teamtemplates.Open(ctx, gomod.Go{Dir: p.Root, Environ: a.Environ}, p.Config, p.Plan, templates.FS)
	if err != nil {
		return nil, err
	}
	if team.IsOutside(p.Root) {
		if err := a.allow(ctx, "Use the templates in", team.Folder, teamtemplates.Checksum(team.Shared)); err != nil {
			return nil, err
		}
	}
	for _, err := range team.Unknown {
		p.Plan.Warn(scaffold.Warning{Rule: "unknown-template", Message: err.Error() + ", so the file has no effect: " + fault.HintOf(err)})
	}
	all := team.All()
	if len(all) == 0 {
		return templates.FS, nil
	}
	for _, t := range all {
		if t.Outdated(templates.FS) {
			p.Plan.Warn(scaffold.Warning{File: t.File, Rule: "outdated-template",
				Message: "operon's template has changed since it was copied; operon templates copy " + t.Name + " merges the change, and shows it with --diff"})
		}
	}
	return teamtemplates.Layer(templates.FS, all), nil
}
