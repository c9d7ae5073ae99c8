package projectcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// repeat replays the events of PROJECT, so that a second init applies newer templates and
// changes nothing else. It rejects flags that differ from PROJECT.
func (o *initProject) repeat(ctx context.Context, a *command.App, cfg *project.Config, p *scaffold.Plan) error {
	if err := cmp.Or(o.checkConflicts(a, cfg), o.checkFirstKind()); err != nil {
		return err
	}
	if _, _, err := p.Before(initFile); err != nil {
		return err // the bases cannot be read
	}
	if !p.HasBase(initFile) {
		makefile, err := p.Read(initFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if bytes.Contains(makefile, []byte(makeVariable)) {
			return fault.Usage("restore .operon from version control",
				"operon initialized this project, but .operon/base.lines or its line of %s is missing", initFile)
		}
		a.Notef("note: another tool initialized this project; use operon create and operon generate in it")
		return nil
	}
	if a.HasGo(cfg) {
		if err := cfg.ValidateLayout(); err != nil {
			return command.InPROJECT(err)
		}
	}
	inv, err := o.plan(ctx, a, command.Project{Root: a.Dir, Config: cfg, Before: cfg.Clone(), Plan: p})
	if err != nil {
		return err
	}
	if err := inv.Replay(ctx); err != nil {
		return err
	}
	if a.HasCharts(cfg) {
		if err := inv.Generate(ctx); err != nil {
			return err
		}
	}
	if changes := command.ChangesToApply(p.Changes()); len(changes) > 0 { // an upgrade
		cfg.RecordVersion(command.Version())
		o.outdated = slices.ContainsFunc(changes, isSource)
	}
	return command.SaveConfig(cfg, p)
}
