package hookproject

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/module"
	"github.com/operon-dev/operon/internal/hooks/output"
)

// Validation is the result of validating hooks and modules.
type Validation struct {
	Hooks, Modules int // the number of validated hooks and modules
	Files          int // the number of validated files that hooks wrote
	Findings       []finding.Finding
}

// Rules returns the rules of all findings about hooks, modules and their output.
func Rules() []finding.Rule {
	return slices.Concat(hooks.Rules(), []finding.Rule{RuleInvalidCRD, ruleHookGone}, module.Rules(), output.Rules())
}

// Validate validates the hooks folder of a shell-operator, or the part of an
// addon-operator that the folder is. If folder is empty, it validates everything in the
// working folder: an addon-operator and the hooks folder. Findings have paths relative to
// the working folder.
func (l Loader) Validate(ctx context.Context, workDir, folder string) (Validation, error) {
	if a, found := FindAddon(Abs(workDir, folder)); found {
		v, err := l.validateAddon(ctx, workDir, a)
		if err != nil || folder != "" || a.part != "" || !isFolder(Abs(workDir, "hooks")) {
			return v, err
		}
		shell, err := l.validateShell(ctx, workDir, "hooks")
		v.Hooks += shell.Hooks
		v.Findings = finding.Sort(append(v.Findings, shell.Findings...))
		return v, err
	}
	if folder == "" {
		folder = "hooks"
	}
	return l.validateShell(ctx, workDir, folder)
}

// validateShell validates the hooks of a shell-operator. The error is a *NoHooksError if
// there are none.
func (l Loader) validateShell(ctx context.Context, workDir, folder string) (Validation, error) {
	dir, err := Folder(workDir, folder)
	if err != nil {
		return Validation{}, err
	}
	found, findings, err := hooks.Discover(dir)
	if err != nil {
		return Validation{}, err
	}
	if len(found)+len(findings) == 0 {
		return Validation{}, &NoHooksError{Folder: folder}
	}
	known, err := Kinds(Root(dir), workDir, nil)
	if err != nil {
		return Validation{}, err
	}
	sandbox, err := hooks.NewSandbox(dir, l.Path, l.Timeout)
	if err != nil {
		return Validation{}, err
	}
	defer sandbox.Close()
	sandbox.Kinds = known
	more, err := hooks.Validate(ctx, sandbox, found)
	if err != nil {
		return Validation{}, err
	}
	all := finding.InFolder(filepath.ToSlash(folder), append(findings, more...))
	crds, err := invalidCRDs(Root(dir), workDir)
	return Validation{Hooks: len(found), Findings: finding.Sort(append(all, crds...))}, err
}

// invalidCRDs returns the findings of InvalidCRDs with paths relative to the working folder.
func invalidCRDs(root, workDir string) ([]finding.Finding, error) {
	all, err := InvalidCRDs(root)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Rel(workDir, root)
	if err != nil {
		folder = root
	}
	return finding.InFolder(filepath.ToSlash(folder), all), nil
}

// validateAddon validates global hooks, modules and their hooks.
func (l Loader) validateAddon(ctx context.Context, workDir string, a Addon) (Validation, error) {
	common, findings, err := a.Common()
	if err != nil {
		return Validation{}, err
	}
	if a.part != "" && a.part != modulesFolder {
		findings = nil // they are about files outside this part
	}
	modules, all, found, err := a.hooks()
	if err != nil {
		return Validation{}, err
	}
	findings = append(findings, found...)
	known, err := a.Kinds()
	if err != nil {
		return Validation{}, err
	}
	found, err = validateModules(modules, func(m module.Module) ([]finding.Finding, error) { return m.Validate(common, known) })
	if err != nil {
		return Validation{}, err
	}
	findings = append(findings, found...)
	sandbox, err := hooks.NewSandbox(a.Root, l.Path, l.Timeout)
	if err != nil {
		return Validation{}, err
	}
	defer sandbox.Close()
	sandbox.Kinds = known
	found, err = hooks.Validate(ctx, sandbox, all)
	folder, relErr := filepath.Rel(workDir, a.Root)
	if relErr != nil {
		folder = a.Root
	}
	sorted := finding.Sort(append(findings, found...))
	return Validation{Hooks: len(all), Modules: len(modules), Findings: finding.InFolder(filepath.ToSlash(folder), sorted)}, err
}

func validateModules(modules []module.Module, validate func(module.Module) ([]finding.Finding, error)) ([]finding.Finding, error) {
	var all []finding.Finding
	for _, m := range modules {
		found, err := validate(m)
		if err != nil {
			return nil, fmt.Errorf("validate the module %s: %w", m.Name, err)
		}
		all = append(all, found...)
	}
	return all, nil
}
