package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/teamtemplates"
	"github.com/operon-dev/operon/templates"
	"github.com/spf13/afero"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
)

// TeamTemplates returns the templates of the team that a project uses: those that it shares with
// other projects, and then its own, which take precedence.
func TeamTemplates(ctx context.Context, p Project) ([]teamtemplates.Template, error) {
	shared, _, err := sharedTemplates(ctx, p)
	if err != nil {
		return nil, err
	}
	own, err := teamtemplates.Read(p.Plan, "", templates.FS)
	return slices.Concat(shared, own), err
}

// sharedTemplates returns the templates of the folder or module that PROJECT names, and where they are.
// They are inputs of the plan.
func sharedTemplates(ctx context.Context, p Project) (all []teamtemplates.Template, dir string, err error) {
	source, err := p.Config.Templates()
	if err != nil || source == (project.TemplateSource{}) {
		return nil, "", err
	}
	name := source.String()
	if dir, err = templatesDir(ctx, p.Root, source); err != nil {
		return nil, "", err
	}
	src, err := scaffold.New(afero.NewReadOnlyFs(afero.NewBasePathFs(afero.NewOsFs(), dir)), scaffold.Options{})
	if err != nil {
		return nil, "", fault.In(name, err)
	}
	if all, err = teamtemplates.Read(src, name, templates.FS); err != nil {
		return nil, "", err
	}
	if len(all) == 0 {
		return nil, "", fault.Usage("operon templates copy NAME --dir creates them", "%s has no templates in %s", name, scaffold.TemplatesDir)
	}
	in, _ := src.Inputs()
	for _, list := range [][]string{in.Looked, in.Listed} {
		for _, path := range list {
			p.Plan.DependsOnFiles(filepath.Join(dir, filepath.FromSlash(path)))
		}
	}
	return all, dir, nil
}

// templatesDir returns the folder of a source. A module must be in the module cache, with the content that PROJECT
// records.
func templatesDir(ctx context.Context, root string, s project.TemplateSource) (string, error) {
	if s.Module == "" {
		dir := s.Path
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, filepath.FromSlash(dir))
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return "", fault.Usage("correct it with operon edit --templates", "the folder of templates %s does not exist", s.Path)
		}
		return dir, nil
	}
	dir, sum, err := cachedModule(ctx, root, s)
	if err == nil && sum != s.Sum {
		err = fault.Failed("find out who changed it; operon edit --templates "+s.String()+" records the new content", "%s does not have the content that PROJECT records: %s instead of %s", s, sum, s.Sum)
	}
	return dir, err
}

// cachedModule returns the folder of a module in the module cache, and its hash as in go.sum. It fetches
// nothing.
func cachedModule(ctx context.Context, dir string, s project.TemplateSource) (folder, sum string, err error) {
	m := module.Version{Path: s.Module, Version: s.Version}
	if err := module.Check(m.Path, m.Version); err != nil {
		return "", "", fault.Usage("write MODULE@VERSION, as in example.org/templates@v1.2.0", "--templates %s: %v", s, err)
	}
	found, err := gomod.Cached(ctx, dir, gomod.Module{Path: m.Path, Version: m.Version})
	if err != nil {
		return "", "", err
	}
	if found.Dir == "" {
		return "", "", fault.Usage("fetch it: go mod download "+s.String(), "the templates %s are not in the module cache", s)
	}
	sum, err = dirhash.HashDir(found.Dir, m.String(), dirhash.Hash1)
	return found.Dir, sum, err
}

// ChooseTemplates records the templates that a flag names, with their hash if they are a module.
func (a *App) ChooseTemplates(ctx context.Context, c *project.Config, root, flag string) error {
	s := project.ParseTemplateSource(flag)
	switch {
	case s.Module != "":
		var err error
		if _, s.Sum, err = cachedModule(ctx, root, s); err != nil {
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

// useTemplates makes plugins render the templates of the team, and warns about those that are copies
// of an older template. The user must agree to templates from outside of the project.
func (a *App) useTemplates(ctx context.Context, p Project) error {
	shared, dir, err := sharedTemplates(ctx, p)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(p.Root, dir); len(shared) > 0 && (err != nil || !filepath.IsLocal(rel)) {
		if err := a.allow(ctx, "Use the templates in", dir, teamtemplates.Checksum(shared)); err != nil {
			return err
		}
	}
	own, err := teamtemplates.Read(p.Plan, "", templates.FS)
	team := slices.Concat(shared, own)
	if err != nil || len(team) == 0 {
		return err
	}
	p.Plan.UseTemplates(teamtemplates.Layer(templates.FS, team))
	for _, t := range team {
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
