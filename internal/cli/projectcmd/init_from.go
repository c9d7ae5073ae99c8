package projectcmd

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// createFrom plans a new project with the settings and the resources of another PROJECT, and none of the
// code of that project.
func (o *initProject) createFrom(ctx context.Context, a *command.App, p *scaffold.Plan) error {
	if p.Exists(project.File) {
		return fault.Usage("use an empty folder", "--from %s: this folder has a PROJECT file already", o.from)
	}
	src, cfg, err := o.readFrom(a)
	if err != nil {
		return err
	}
	if a.HasGo(cfg) {
		if err := cfg.ValidateLayout(); err != nil {
			return fault.In("--from "+o.from, command.InPROJECT(err))
		}
	}
	if a.HasCharts(cfg) {
		return fault.Usage("copy the folder of the project instead", "--from %s: PROJECT does not contain the charts of a project", o.from)
	}
	if o.cmd.Flags().Changed("templates") {
		err = a.ChooseTemplates(ctx, cfg, a.Dir, o.templates)
	} else {
		err = o.rebaseTemplates(a, cfg)
	}
	if err != nil {
		return err
	}
	if err := o.checkConflicts(a, cfg); err != nil {
		return fault.Usage("remove the flag: the new project gets the settings of the other one", "--from %s: %v", o.from, err)
	}
	if err := checkNested(a); err != nil {
		return err
	}
	o.created = true
	o.name = cfg.ProjectName
	inv, err := o.planChecked(ctx, a, command.Project{Root: a.Dir, Config: cfg, Before: &project.Config{}, Plan: p})
	if err != nil {
		return err
	}
	if err := inv.Replay(ctx); err != nil {
		return err
	}
	kinds := slices.ContainsFunc(cfg.Resources, func(r project.Resource) bool { return r.API != nil || len(r.ControllerNames()) > 0 })
	if kinds || a.HasHooks(cfg) {
		if err := inv.Generate(ctx); err != nil {
			return err
		}
	}
	if kinds {
		o.nextStep = "make test"
	}
	// Only now: the plugins would take what it records for written.
	if err := p.Share(project.File, 0o644, src); err != nil {
		return err
	}
	return command.SaveConfig(cfg, p)
}

// rebaseTemplates makes a relative path of templates start in the new project.
func (o *initProject) rebaseTemplates(a *command.App, cfg *project.Config) error {
	s, err := cfg.Templates()
	if err != nil || s.Path == "" || filepath.IsAbs(s.Path) {
		return err
	}
	root := a.Path(o.from)
	if filepath.Base(root) == project.File {
		root = filepath.Dir(root)
	}
	rel, err := filepath.Rel(a.Dir, filepath.Join(root, filepath.FromSlash(s.Path)))
	if err != nil {
		return fault.Failed("name the folder with --templates", "%v", err)
	}
	s.Path = filepath.ToSlash(rel)
	cfg.SetTemplates(s)
	return nil
}

// readFrom reads the PROJECT file that --from names, or the one in the folder that it names.
func (o *initProject) readFrom(a *command.App) ([]byte, *project.Config, error) {
	name := o.from
	if !filepath.IsAbs(name) {
		name = filepath.Join(a.Dir, name)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, project.File)
	}
	src, err := input.ReadFile(name, input.Text)
	if err != nil {
		return nil, nil, fault.Usage("name a PROJECT file or the folder of a project", "--from %s: %s", o.from, fault.Reason(err))
	}
	cfg, err := command.ParseConfig(src)
	if err == nil {
		for i, key := range cfg.Layout { // the new project gets none of the code that differs
			if project.IsOldGoLayout(key) {
				cfg.Layout[i] = project.LayoutGo
			}
		}
		cfg.Layout = slices.Compact(cfg.Layout)
		err = plugin.CheckLayout(cfg.Layout)
	}
	return src, cfg, fault.In("--from "+o.from, err)
}
