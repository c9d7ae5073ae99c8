package hookproject

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/module"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The folders of an addon-operator. In its image they are below /.
const (
	modulesFolder     = "modules"
	globalHooksFolder = "global-hooks"
)

// Addon is a folder with the modules and global hooks of an addon-operator, or a part of
// it.
type Addon struct {
	Root string // the absolute path of the parent of modules and global-hooks
	part string // modules, global-hooks, the folder name of one module, or "" for all
}

// FindAddon returns the addon-operator that contains a folder, limited to the part that
// the folder is. It reports whether there is one.
func FindAddon(dir string) (Addon, bool) {
	dir = filepath.Clean(dir)
	parent, base := filepath.Split(dir)
	parent = filepath.Clean(parent)
	switch {
	case (base == modulesFolder || base == globalHooksFolder) && isFolder(dir):
		return Addon{parent, base}, true
	case filepath.Base(parent) == modulesFolder && isFolder(dir):
		return Addon{filepath.Dir(parent), base}, true
	case isFolder(filepath.Join(dir, modulesFolder)) || isFolder(filepath.Join(dir, globalHooksFolder)):
		return Addon{dir, ""}, true
	}
	return Addon{}, false
}

// Common returns what all modules share: values.yaml in the folder of modules, and the
// schemas and values of global-hooks.
func (a Addon) Common() (*module.Common, []finding.Finding, error) {
	common, findings, err := module.ReadCommon(filepath.Join(a.Root, modulesFolder), filepath.Join(a.Root, globalHooksFolder))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read values: %w", err)
	}
	return common, findings, nil
}

// Modules returns the modules in this part. Findings have paths relative to Root.
func (a Addon) Modules() ([]module.Module, []finding.Finding, error) {
	dir := filepath.Join(a.Root, modulesFolder)
	if a.part == globalHooksFolder || !isFolder(dir) {
		return nil, nil, nil
	}
	all, findings, err := module.Find(dir)
	if one := a.part != "" && a.part != modulesFolder; one {
		all = slices.DeleteFunc(all, func(m module.Module) bool { return m.Folder != a.part })
		findings = slices.DeleteFunc(findings, func(f finding.Finding) bool { return f.File != a.part })
	}
	return all, finding.InFolder(modulesFolder, findings), err
}

// ModuleNames returns the names of the modules in or around the working folder, for
// completion.
func ModuleNames(workDir string) []string {
	a, found := FindAddon(workDir)
	if !found {
		return nil
	}
	modules, _, err := a.Modules()
	if err != nil {
		return nil
	}
	var names []string
	for _, m := range modules {
		names = append(names, m.Name)
	}
	return names
}

// GlobalHooks returns the global hooks, independent of the part.
func (a Addon) GlobalHooks() ([]hooks.Hook, []finding.Finding, error) {
	return module.GlobalHooks(a.Root, filepath.Join(a.Root, globalHooksFolder))
}

// hooks returns the modules in this part, and all of its hooks.
func (a Addon) hooks() (modules []module.Module, found []hooks.Hook, findings []finding.Finding, err error) {
	collect := func(h []hooks.Hook, f []finding.Finding, err error) error {
		found, findings = append(found, h...), append(findings, f...)
		return err
	}
	if a.part == "" || a.part == globalHooksFolder {
		if err := collect(a.GlobalHooks()); err != nil {
			return nil, nil, nil, err
		}
	}
	modules, wrong, err := a.Modules()
	if err != nil {
		return nil, nil, nil, err
	}
	findings = append(findings, wrong...)
	for _, m := range modules {
		if err := collect(m.Hooks(a.Root)); err != nil {
			return nil, nil, nil, err
		}
	}
	return modules, found, findings, nil
}

// CRDs returns the CRDs of all modules, independent of the part. It skips invalid files,
// which Validate reports.
func (a Addon) CRDs() ([]*unstructured.Unstructured, error) {
	modules, _, err := Addon{Root: a.Root}.Modules()
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, m := range modules {
		crds, _, err := m.CRDs()
		if err != nil {
			return nil, fmt.Errorf("cannot read the CRDs of the module %s: %w", m.Name, err)
		}
		all = append(all, crds...)
	}
	return all, nil
}

// Kinds returns the built-in kinds and the kinds of the CRDs of all modules. Any hook and any
// chart may use them.
func (a Addon) Kinds() (*kubeapi.Kinds, error) {
	crds, err := a.CRDs()
	if err != nil {
		return nil, err
	}
	var all []kubeapi.CRD
	for _, o := range crds {
		if crd, err := kubeapi.ReadCRD(o); err == nil {
			all = append(all, crd)
		}
	}
	return kubeapi.Builtin().With(all...), nil
}
