package hooktest

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/module"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Project runs the hook tests of a project.
type Project struct {
	WorkDir string // the working folder
	Hooks   string // the folder of hooks, as the user named it
	Loader  hookproject.Loader
	Timeout time.Duration // for one test
	// Open returns the backend for hooks in a folder, and a function that releases
	// it. crds are the CRDs of the project.
	Open   func(ctx context.Context, hooksDir string, hooks []engine.Hook, crds []*unstructured.Unstructured) (Backend, func(), error)
	Record bool // see Suite
}

// Run runs tests and returns their outcomes in the same order. A failed test is an
// outcome; an error means that the tests could not run.
func (p Project) Run(ctx context.Context, tests []*Test) ([]Outcome, error) {
	found, err := hookproject.Find(p.WorkDir, p.Hooks)
	if err != nil {
		return nil, err
	}
	var addon *Addon
	if found.Addon != nil {
		if addon, err = openAddon(found); err != nil {
			return nil, err
		}
	}
	sandbox, err := hooks.NewSandbox(found.Root, p.Loader.Path, p.Loader.Timeout)
	if err != nil {
		return nil, err
	}
	defer sandbox.Close()
	configured, err := loadTested(ctx, sandbox, found, tests)
	if err != nil {
		return nil, err
	}
	crds, err := found.CRDs(p.WorkDir)
	if err != nil {
		return nil, err
	}
	backend, release, err := p.Open(ctx, found.Root, configured, crds)
	if err != nil {
		return nil, explainInvalidCRD(p.WorkDir, err)
	}
	defer release()
	suite := Suite{Hooks: configured, Env: sandbox.Env(), Timeout: p.Timeout, Addon: addon, Backend: backend, Record: p.Record}
	return suite.Run(ctx, tests)
}

// explainInvalidCRD returns the error for the first CRD of the project that an API server
// rejects, or err if there is none.
func explainInvalidCRD(root string, err error) error {
	invalid, readErr := hookproject.InvalidCRDs(root)
	if readErr != nil || len(invalid) == 0 {
		return err
	}
	return fault.Failed("correct the CRD: the API server would reject it", "%s: %s", invalid[0].File, invalid[0].Message)
}

// openAddon loads the modules of an addon-operator. It adds the global hooks and the
// hooks of all modules to found.
func openAddon(found *hookproject.Hooks) (*Addon, error) {
	common, findings, err := found.Addon.Common()
	if err != nil {
		return nil, err
	}
	if i := finding.FirstError(findings); i >= 0 {
		f := findings[i]
		return nil, fault.Failed("operon hooks validate lists all problems", "%s:%d: %s", f.File, max(1, f.Line), f.Message)
	}
	a := &Addon{Dir: found.Root, Common: common, Owners: map[string]module.Module{}}
	if a.Kinds, err = found.Addon.Kinds(); err != nil {
		return nil, err
	}
	if found.All, _, err = found.Addon.GlobalHooks(); err != nil {
		return nil, err
	}
	if a.Modules, _, err = found.Addon.Modules(); err != nil {
		return nil, err
	}
	for _, m := range a.Modules {
		own, _, err := m.Hooks(found.Root)
		if err != nil {
			return nil, err
		}
		for _, h := range own {
			a.Owners[h.Name] = m
		}
		found.All = append(found.All, own...)
	}
	return a, nil
}

// loadTested returns the tested hooks with their configurations. If a test converts
// objects, it returns all hooks with valid configurations, because any hook may be part
// of the conversion path.
func loadTested(ctx context.Context, sandbox *hooks.Sandbox, found *hookproject.Hooks, tests []*Test) ([]engine.Hook, error) {
	names := found.Names()
	for _, t := range tests {
		if t.File.Module == "" && !slices.Contains(names, t.File.Hook) {
			return nil, unknownHook(found, t.File)
		}
	}
	isTested := func(name string) bool {
		return slices.ContainsFunc(tests, func(t *Test) bool { return t.File.Hook == name })
	}
	needsAll := found.Addon == nil && slices.ContainsFunc(tests, (*Test).Converts)
	var needed []hooks.Hook
	for _, h := range found.All {
		if needsAll || isTested(h.Name) {
			needed = append(needed, h)
		}
	}
	for _, h := range needed {
		if err := sandbox.CheckLibrary(h); err != nil {
			return nil, err
		}
	}
	configs, findings, err := hooks.Load(ctx, sandbox, needed)
	if err == nil {
		relevant := slices.DeleteFunc(findings, func(f finding.Finding) bool { return slices.Contains(names, f.File) && !isTested(f.File) })
		err = hookproject.FirstError(found.InProject(relevant))
	}
	if err != nil {
		return nil, err
	}
	var configured []engine.Hook
	for i, h := range needed {
		if configs[i] != nil {
			configured = append(configured, engine.Hook{Hook: h, Config: configs[i]})
		}
	}
	return configured, nil
}

// unknownHook returns the error for a test file of a hook that does not exist, or that is not
// executable.
func unknownHook(found *hookproject.Hooks, f *File) error {
	info, err := os.Stat(filepath.Join(found.Root, filepath.FromSlash(f.Hook)))
	if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 == 0 {
		file := f.Hook
		if found.Addon == nil {
			file = path.Join(filepath.ToSlash(found.Label), f.Hook)
		}
		return fault.Usage("chmod +x "+file, "%s: %s is not executable", f.Path, file)
	}
	return fault.Usage(otherHookHint(found, f.Hook), "%s: %s has no hook %s", f.Path, found.Label, f.Hook)
}

// otherHookHint returns a hint for the name of a hook that does not exist.
func otherHookHint(found *hookproject.Hooks, name string) string {
	fromFolder := strings.TrimPrefix(name, path.Clean(filepath.ToSlash(found.Label))+"/")
	names := found.Names()
	if slices.Contains(names, fromFolder) {
		return "did you mean " + fromFolder + "?"
	}
	if near := fault.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "name an executable file by its path relative to " + found.Label
}
