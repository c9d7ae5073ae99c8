package hookproject

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/roles"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// RoleOptions are the inputs of DeriveRoles besides the hooks.
type RoleOptions struct {
	WorkDir   string
	CRDs      []string // additional files with CRDs
	Patches   []string // additional files with patch operations, besides the tests of the project
	Namespace string   // the namespace of the operator; defaults to the namespace of the project
	Webhooks  string   // the name of the engine's webhook configurations, or ""
	// OnInvalid receives the first error of each hook that is invalid, or that is not
	// executable. The roles leave out that hook. If OnInvalid is nil, such a hook is an error
	// of DeriveRoles.
	OnInvalid func(finding.Finding)
}

// DeriveRoles derives the roles of the hooks in dir. cfg is the project at root, or nil.
func (l Loader) DeriveRoles(ctx context.Context, root, dir string, cfg *project.Config, o RoleOptions) (rbac.Result, error) {
	var none rbac.Result
	folder, err := filepath.Rel(root, dir)
	if err != nil {
		return none, fault.Failed("", "%v", err)
	}
	found, ignored, err := hooks.Discover(dir)
	if err != nil {
		return none, err
	}
	if len(found) == 0 {
		return none, newNoHooksError(folder, ignored)
	}
	sandbox, err := hooks.NewSandbox(dir, l.Path, l.Timeout)
	if err != nil {
		return none, err
	}
	defer sandbox.Close()
	in, findings, err := hooks.ReadRBACInput(ctx, sandbox, found, filepath.ToSlash(folder))
	if err != nil {
		return none, err
	}
	if err := o.checkHooks(findings, dir, folder, ignored); err != nil {
		return none, err
	}
	if in.Kinds, err = Kinds(root, o.WorkDir, o.CRDs); err != nil {
		return none, err
	}
	if in.Recorded, err = recordedPatches(root, o); err != nil {
		return none, err
	}
	in.Namespace, in.Webhooks = o.Namespace, o.Webhooks
	if cfg != nil {
		in.Namespace = cmp.Or(o.Namespace, cfg.Namespace())
	}
	return rbac.Derive(in)
}

// checkHooks reports the hooks that the roles leave out.
func (o RoleOptions) checkHooks(findings []finding.Finding, dir, folder string, ignored []finding.Finding) error {
	ignored = hooks.IgnoredHooks(dir, ignored)
	if o.OnInvalid == nil {
		if err := FirstError(finding.InFolder(filepath.ToSlash(folder), findings)); err != nil {
			return err
		}
		return hooks.NotExecutableError(folder, ignored)
	}
	reported := map[string]bool{}
	for _, f := range slices.Concat(finding.Errors(findings), ignored) {
		if !reported[f.File] {
			reported[f.File] = true
			o.OnInvalid(f)
		}
	}
	return nil
}

// recordedPatches returns the files with patch operations: the tests of the project, and
// the files that the user names.
func recordedPatches(root string, o RoleOptions) ([]rbac.Source, error) {
	var all []rbac.Source
	tests := filepath.Join(root, filepath.FromSlash(rbac.TestDir))
	err := filepath.WalkDir(tests, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !rbac.IsTest(name) {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		text, err := filestat.ReadFile(name)
		all = append(all, rbac.Source{Path: filepath.ToSlash(rel), Text: text})
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Failed("", "%v", err)
	}
	for _, name := range o.Patches {
		text, err := os.ReadFile(Abs(o.WorkDir, name))
		if err != nil {
			return nil, fault.Usage("name a file with patch operations", "--patches %s: %v", name, fault.Reason(err))
		}
		all = append(all, rbac.Source{Path: filepath.ToSlash(name), Text: text})
	}
	return all, nil
}

// RoleObjects returns derived roles as objects for an operator in a namespace.
func RoleObjects(r rbac.Result, namespace string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, role := range r.Roles.Objects(roles.Names{Namespace: namespace}) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(role)
		if err != nil {
			return nil, err
		}
		all = append(all, &unstructured.Unstructured{Object: content})
	}
	return all, nil
}
