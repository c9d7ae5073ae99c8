package cli

import (
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/module"
)

// tested are the hooks of modules and the global ones, and what their tests need to
// know of the modules.
func (d addonFolder) tested() (testedHooks, error) {
	found := testedHooks{dir: d.root, shown: "the project"}
	common, wrong, err := module.ReadCommon(filepath.Join(d.root, modulesFolder), filepath.Join(d.root, globalHooksFolder))
	if err != nil {
		return found, fault.Failed("", "read values: %v", err)
	}
	if i := slices.IndexFunc(wrong, finding.Finding.IsError); i >= 0 {
		f := wrong[i]
		return found, fault.Failed("operon hooks validate lists all that is wrong", "%s:%d: %s", f.File, max(1, f.Line), f.Message)
	}
	if found.installed, err = d.crds(); err != nil {
		return found, err
	}
	found.addon = &hooktest.Addon{Dir: d.root, Common: common, Owners: map[string]module.Module{}, Kinds: kindsWith(found.installed)}
	if found.all, _, err = module.GlobalHooks(d.root, filepath.Join(d.root, globalHooksFolder)); err != nil {
		return found, err
	}
	if found.addon.Modules, _, err = d.modules(); err != nil {
		return found, err
	}
	for _, m := range found.addon.Modules {
		own, _, err := m.Hooks(d.root)
		if err != nil {
			return found, err
		}
		for _, h := range own {
			found.addon.Owners[h.Name] = m
		}
		found.all = append(found.all, own...)
	}
	return found, nil
}
