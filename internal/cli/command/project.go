package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// HasHooks reports whether a project consists of shell-operator hooks.
func (a *App) HasHooks(c *project.Config) bool { return a.Catalogue.Has(c.Layout, plugin.Hooks) }

// HasModules reports whether a project consists of addon-operator modules.
func (a *App) HasModules(c *project.Config) bool { return a.Catalogue.Has(c.Layout, plugin.Modules) }

// HasCharts reports whether a project consists of Helm charts that helm-operator installs.
func (a *App) HasCharts(c *project.Config) bool { return a.Catalogue.Has(c.Layout, plugin.Charts) }

// HasGo reports whether a project consists of Go code.
func (a *App) HasGo(c *project.Config) bool {
	return !a.HasHooks(c) && !a.HasModules(c) && !a.HasCharts(c)
}

// Project is an open project: its root folder, its decoded PROJECT, and the plan that
// a command fills. The plan is nil as long as the project is only read.
type Project struct {
	Root   string
	Config *project.Config
	Before *project.Config // PROJECT before the command changes it; empty in a new project
	Plan   *scaffold.Plan
	// AnyLayout lets a command work in projects for which operon has no plugin.
	AnyLayout bool

	source []byte // content of PROJECT that Config was decoded from
}

// OpenProject opens the project around the working folder for reading, without a lock: for
// commands that change nothing, and for prompts.
func (a *App) OpenProject() (Project, error) {
	p, err := a.OpenAnyProject()
	if err == nil {
		err = plugin.CheckLayout(p.Config.Layout)
	}
	return p, err
}

// OpenAnyProject is OpenProject for commands that need no plugin.
func (a *App) OpenAnyProject() (Project, error) {
	root, err := project.FindRoot(a.Dir)
	if err == nil {
		err = project.CheckModuleFiles(root, a.Getenv("GOWORK"))
	}
	if err != nil {
		return Project{}, err
	}
	src, err := input.ReadFile(filepath.Join(root, project.File), input.Text)
	if err != nil {
		return Project{}, fault.Usage("restore it from version control", "%s: %v", project.File, fault.Reason(err))
	}
	cfg, err := ParseConfig(src)
	return Project{Root: root, Config: cfg, source: src}, err
}

// ProjectFolder returns a folder of the project, relative to the working folder, which is in the project.
// Without a project, it is a folder of the working folder.
func (a *App) ProjectFolder(name string) string {
	root, err := project.FindRoot(a.Dir)
	if err != nil {
		return name
	}
	folder, err := filepath.Rel(a.Dir, filepath.Join(root, name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(folder)
}

// InProject calls build to plan changes to the project around the working folder. It locks
// the project, and shows and applies the plan as WritePlan does, including the changes of
// build to the decoded PROJECT.
func (a *App) InProject(cmd *cobra.Command, w WriteFlags, build func(context.Context, Project) error) error {
	root, err := project.FindRoot(a.Dir)
	if err != nil {
		return err
	}
	return a.ChangeProject(cmd, Project{Root: root}, w, build)
}

// InAnyProject is InProject for commands that need no plugin.
func (a *App) InAnyProject(cmd *cobra.Command, w WriteFlags, build func(context.Context, Project) error) error {
	root, err := project.FindRoot(a.Dir)
	if err != nil {
		return err
	}
	return a.ChangeProject(cmd, Project{Root: root, AnyLayout: true}, w, build)
}

// noteModuleBelow says which project a command changes if the working folder is a Go module of its own below it: the
// module may be another project that has lost its PROJECT.
func (a *App) noteModuleBelow(root string) {
	if _, err := os.Stat(a.Path("go.mod")); err != nil {
		return
	}
	if above, err := filepath.Rel(a.Dir, root); err == nil && above != "." {
		a.Notef("note: this folder has a go.mod and no %s; the command changes the project in %s", project.File, filepath.ToSlash(above))
	}
}

// ChangeProject is InProject for an open project, or for a Project that has only a Root. It
// decodes PROJECT again only if another command has changed it.
func (a *App) ChangeProject(cmd *cobra.Command, opened Project, w WriteFlags, build func(context.Context, Project) error) error {
	a.noteModuleBelow(opened.Root)
	return a.WritePlan(cmd, opened.Root, w, func(ctx context.Context, plan *scaffold.Plan) error {
		src, err := plan.Read(project.File)
		if err != nil {
			return err
		}
		cfg := opened.Config
		opened.Config = nil // build changes it, and may be called again
		if cfg == nil || !bytes.Equal(src, opened.source) {
			if cfg, err = ParseConfig(src); err != nil {
				return err
			}
		}
		if !opened.AnyLayout {
			if err := plugin.CheckLayout(cfg.Layout); err != nil {
				return err
			}
		}
		if err := build(ctx, Project{Root: opened.Root, Config: cfg, Before: cfg.Clone(), Plan: plan, source: src}); err != nil {
			return err
		}
		if err := SaveConfig(cfg, plan); err != nil {
			return err
		}
		a.warnUnknown(cfg, plan)
		return nil
	})
}

// LoadConfig decodes PROJECT as the plan sees it. The error wraps
// fs.ErrNotExist if the file does not exist.
func LoadConfig(p *scaffold.Plan) (*project.Config, error) {
	src, err := p.Read(project.File)
	if err != nil {
		return nil, err
	}
	cfg, err := ParseConfig(src)
	if err == nil {
		err = plugin.CheckLayout(cfg.Layout)
	}
	return cfg, err
}

// ParseConfig decodes and validates PROJECT: its values go into files and names.
func ParseConfig(src []byte) (*project.Config, error) {
	cfg, err := project.Parse(src)
	if err != nil {
		// The error starts with line:column, so the result is a position that editors understand.
		return nil, &fault.Error{Code: fault.Code(err), Msg: project.File + ":" + err.Error(), Hint: fault.HintOf(err)}
	}
	if len(cfg.Layout) == 0 || slices.Contains(cfg.Layout, "") {
		return nil, fault.In(project.File, fault.Usage("it lists the plugins of the project, such as go.kubebuilder.io/v4; operon adopt infers it from Go code", "the key layout is missing"))
	}
	if err := cfg.Validate(); err != nil {
		return nil, InPROJECT(err)
	}
	return cfg, nil
}

// InPROJECT returns the error of a validation for a value in PROJECT. Its hint names keys instead of
// flags.
func InPROJECT(err error) error {
	hint := strings.NewReplacer("--project-name ", "projectName: ", "--domain ", "domain: ", "--repo ", "repo: ",
		"--group ", "group: ", "--version ", "version: ", "--kind ", "kind: ", "--plural ", "plural: ",
		"--controller-name ", "name: ", "--crd-version ", "crdVersion: ").Replace(fault.HintOf(err))
	return &fault.Error{Code: fault.Code(err), Msg: project.File, Hint: hint, Err: err}
}

// ReadConfig decodes PROJECT for completion.
func (a *App) ReadConfig() (*project.Config, error) {
	p, err := a.OpenProject()
	return p.Config, err
}

// SaveConfig plans PROJECT: a new file, or edits of the existing one. If anything in it
// changes, it also gets operon's version.
func SaveConfig(cfg *project.Config, p *scaffold.Plan) error {
	if src, err := p.Read(project.File); err == nil {
		if next, err := cfg.Encode(src); err != nil || bytes.Equal(src, next) {
			return err
		}
		cfg.RecordVersion(Version())
		return p.Edit(project.File, cfg.Encode)
	}
	cfg.RecordVersion(Version())
	src, err := cfg.Encode(nil)
	if err != nil {
		return err
	}
	return p.Share(project.File, 0o644, src)
}

// warnUnknown warns about the plugins in PROJECT that neither operon nor the user has, if the command changes
// PROJECT: the files of those plugins may have to follow.
func (a *App) warnUnknown(cfg *project.Config, p *scaffold.Plan) {
	_, unknown, err := a.Catalogue.Select(cfg.Layout)
	changes := slices.ContainsFunc(ChangesToApply(p.Changes()), func(c scaffold.Change) bool { return c.Path == project.File })
	if err != nil || !changes {
		return
	}
	unknown = append(unknown, a.Catalogue.Unknown(slices.Values(recordedPlugins(cfg)))...)
	slices.Sort(unknown)
	unknown = slices.DeleteFunc(slices.Compact(unknown), func(key string) bool {
		_, installed, err := a.pluginFolder().Find(key)
		return err == nil && installed
	})
	if len(unknown) > 0 {
		p.Warn(scaffold.Warning{File: project.File, Rule: "unknown-plugin",
			Message: "operon has no plugin for " + strings.Join(unknown, ", ") + ", whose files do not follow this change"})
	}
}
