package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/module"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The folders of an addon-operator, in its image below /.
const (
	modulesFolder     = "modules"
	globalHooksFolder = "global-hooks"
)

// addonFolder is a folder with what belongs to an addon-operator.
type addonFolder struct {
	root string // the folder that has modules and global-hooks
	part string // what of it is meant: one of these folders, one module, or "" for all
}

// addonAt tells whether a folder belongs to an addon-operator.
func addonAt(dir string) (addonFolder, bool) {
	dir = filepath.Clean(dir)
	parent, base := filepath.Split(dir)
	parent = filepath.Clean(parent)
	switch {
	case (base == modulesFolder || base == globalHooksFolder) && isFolder(dir):
		return addonFolder{parent, base}, true
	case filepath.Base(parent) == modulesFolder && isFolder(dir):
		return addonFolder{filepath.Dir(parent), base}, true
	case isFolder(filepath.Join(dir, modulesFolder)) || isFolder(filepath.Join(dir, globalHooksFolder)):
		return addonFolder{dir, ""}, true
	}
	return addonFolder{}, false
}

// addon tells whether hooks are those of an addon-operator: where the working folder
// belongs to one, unless it has hooks of a shell-operator beside. The folder hooks of a
// module has none of these.
func addonWith(a *command.App, found string) (addonFolder, bool) {
	d, isAddon := addonAt(a.Dir)
	return d, isAddon && (d.part != "" || !isFolder(inDir(a, found)))
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// validate judges global hooks, modules and their hooks. Findings are named from
// the root.
func (d addonFolder) validate(ctx context.Context, a *command.App, o *hooksValidate) (judged, error) {
	none := judged{}
	common, found, err := module.ReadCommon(filepath.Join(d.root, modulesFolder), filepath.Join(d.root, globalHooksFolder))
	if err != nil {
		return none, fault.Failed("", "read values: %v", err)
	}
	var findings []finding.Finding
	if d.part == "" || d.part == modulesFolder {
		findings = append(findings, found...)
	}
	chosen, all, found, err := d.hooks()
	if err != nil {
		return none, err
	}
	findings = append(findings, found...)
	crds, err := d.crds()
	if err != nil {
		return none, err
	}
	known := kindsWith(crds)
	for _, m := range chosen {
		found, err := m.Validate(common, known)
		if err != nil {
			return none, fault.Failed("", "judge the module %s: %v", m.Name, err)
		}
		findings = append(findings, found...)
	}
	sandbox, err := hooks.NewSandbox(d.root, a.Getenv("PATH"), o.timeout)
	if err != nil {
		return none, err
	}
	defer sandbox.Close()
	sandbox.Kinds = known
	found, err = hooks.Validate(ctx, sandbox, all)
	folder, relErr := filepath.Rel(a.Dir, d.root)
	if relErr != nil {
		folder = d.root
	}
	return judged{folder: filepath.ToSlash(folder), hooks: len(all), modules: len(chosen), findings: finding.Sort(append(findings, found...))}, err
}

// crds are those that all modules install; what is wrong with them, Validate says.
func (d addonFolder) crds() ([]*unstructured.Unstructured, error) {
	modules, _, err := addonFolder{root: d.root}.modules()
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, m := range modules {
		crds, _, err := m.CRDs()
		if err != nil {
			return nil, fault.Failed("", "read the CRDs of the module %s: %v", m.Name, err)
		}
		all = append(all, crds...)
	}
	return all, nil
}

// kindsWith are the kinds of Kubernetes and of the CRDs that modules install: any hook
// may find them, and any chart.
func kindsWith(crds []*unstructured.Unstructured) *kinds.Table {
	var known []kinds.CRD
	for _, o := range crds {
		if crd, err := kinds.FromObject(o); err == nil {
			known = append(known, crd)
		}
	}
	return kinds.Builtin().With(known...)
}

// hooks lists the modules that are meant, and the hooks of all that is.
func (d addonFolder) hooks() (modules []module.Module, found []hooks.Hook, findings []finding.Finding, err error) {
	collect := func(h []hooks.Hook, f []finding.Finding, err error) error {
		found, findings = append(found, h...), append(findings, f...)
		return err
	}
	if d.part == "" || d.part == globalHooksFolder {
		if err := collect(module.GlobalHooks(d.root, filepath.Join(d.root, globalHooksFolder))); err != nil {
			return nil, nil, nil, err
		}
	}
	modules, wrong, err := d.modules()
	if err != nil {
		return nil, nil, nil, err
	}
	findings = append(findings, wrong...)
	for _, m := range modules {
		if err := collect(m.Hooks(d.root)); err != nil {
			return nil, nil, nil, err
		}
	}
	return modules, found, findings, nil
}

// modules lists the modules that are meant.
func (d addonFolder) modules() ([]module.Module, []finding.Finding, error) {
	dir := filepath.Join(d.root, modulesFolder)
	if d.part == globalHooksFolder || !isFolder(dir) {
		return nil, nil, nil
	}
	all, findings, err := module.Find(dir)
	if one := d.part != "" && d.part != modulesFolder; one {
		all = slices.DeleteFunc(all, func(m module.Module) bool { return m.Folder != d.part })
		findings = slices.DeleteFunc(findings, func(f finding.Finding) bool { return f.File != d.part })
	}
	for i := range findings {
		findings[i].File = modulesFolder + "/" + findings[i].File
	}
	return all, findings, err
}
