package hookproject

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/engine"
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
	Namespace string   // the namespace of the operator; defaults to the namespace of the project
	Webhooks  string   // the name of the engine's webhook configurations, or ""
}

// DeriveRoles derives the roles of the hooks in dir. cfg is the project at root, or nil.
func (l Loader) DeriveRoles(ctx context.Context, root, dir string, cfg *project.Config, o RoleOptions) (rbac.Result, error) {
	var none rbac.Result
	folder, err := filepath.Rel(root, dir)
	if err != nil {
		return none, fault.In("find the hooks", err)
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
	if err := FirstError(finding.InFolder(filepath.ToSlash(folder), findings)); err != nil {
		return none, err
	}
	if err := hooks.NotExecutableError(folder, hooks.IgnoredHooks(dir, ignored)); err != nil {
		return none, err
	}
	if in.Kinds, err = Kinds(root, o.WorkDir, o.CRDs); err != nil {
		return none, err
	}
	in.Namespace, in.Webhooks = o.Namespace, o.Webhooks
	if cfg != nil {
		in.Namespace = cmp.Or(o.Namespace, cfg.Namespace())
	}
	return rbac.Derive(in)
}

// HookRoles returns the roles of each hook in dir by its name. A hook has the rules of its own bindings and markers, and
// the rules of the markers in libraries.
func HookRoles(root, dir string, all []engine.Hook, o RoleOptions) (map[string]rbac.Result, error) {
	folder, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, fault.In("find the hooks", err)
	}
	known, err := Kinds(root, o.WorkDir, o.CRDs)
	if err != nil {
		return nil, err
	}
	found, _, err := hooks.Discover(dir)
	if err != nil {
		return nil, err
	}
	library, err := hooks.Library(dir, found, filepath.ToSlash(folder))
	if err != nil {
		return nil, err
	}
	byHook := map[string]rbac.Result{}
	for _, h := range all {
		source, err := h.Source(filepath.ToSlash(folder))
		if err != nil {
			return nil, fault.In("read the hook", err)
		}
		byHook[h.Name], err = rbac.Derive(rbac.Input{Kinds: known, Hooks: []rbac.Hook{{Source: source, Config: h.Config}}, Library: library,
			Webhooks: o.Webhooks, Namespace: o.Namespace})
		if err != nil {
			return nil, err
		}
	}
	return byHook, nil
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
