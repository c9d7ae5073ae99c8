package hooktest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/hooks/hookproject"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/kubectl"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/project"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// recorder records the requests of a hook.
type recorder struct {
	kubectl.API
	requests *requests
}

type requests struct {
	mu  sync.Mutex
	all []rbac.Request
}

// list returns the requests so far. Background processes of a hook may still send more.
func (r *requests) list() []rbac.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

func (r recorder) record(verb string, k kinds.Kind, namespace, name, subresource string) {
	if !k.Namespaced {
		namespace = ""
	}
	request := rbac.Request{Verb: verb, Group: k.Group, Resource: k.Resource, Subresource: subresource, Namespace: namespace, Name: name}
	r.requests.mu.Lock()
	defer r.requests.mu.Unlock()
	if !slices.Contains(r.requests.all, request) {
		r.requests.all = append(r.requests.all, request)
	}
}

// Get implements patch.API.
func (r recorder) Get(ctx context.Context, k kinds.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	r.record("get", k, namespace, name, "")
	return r.API.Get(ctx, k, namespace, name)
}

func (r recorder) List(ctx context.Context, k kinds.Kind, namespace string, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	r.record("list", k, namespace, rbac.NameSelected(o.FieldSelector), "")
	return r.API.List(ctx, k, namespace, o)
}

func (r recorder) Create(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	r.record("create", k, o.GetNamespace(), "", "")
	return r.API.Create(ctx, k, o)
}

func (r recorder) Update(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured, subresource string) (*unstructured.Unstructured, error) {
	r.record("update", k, o.GetNamespace(), o.GetName(), subresource)
	return r.API.Update(ctx, k, o, subresource)
}

func (r recorder) Patch(ctx context.Context, k kinds.Kind, namespace, name string, t types.PatchType, body []byte, subresource string) (*unstructured.Unstructured, error) {
	r.record("patch", k, namespace, name, subresource)
	return r.API.Patch(ctx, k, namespace, name, t, body, subresource)
}

// Scale implements kubectl.API.
func (r recorder) Scale(ctx context.Context, k kinds.Kind, namespace, name string, replicas int) (*unstructured.Unstructured, error) {
	r.record("patch", k, namespace, name, "scale")
	return r.API.Scale(ctx, k, namespace, name, replicas)
}

func (r recorder) Delete(ctx context.Context, k kinds.Kind, namespace, name string, how metav1.DeletionPropagation) error {
	r.record("delete", k, namespace, name, "")
	return r.API.Delete(ctx, k, namespace, name, how)
}

// permissions are the RBAC rules for the hooks of a project: those in its role file, and
// the rules that operon derives from the current hooks. The zero value allows every
// request.
type permissions struct {
	recorded rbac.Grants
	derived  func() (rbac.Grants, error)
	own      []string // names of the operator's namespace
}

// permissions returns the permissions of the hooks in a folder. Without a role file,
// every request is allowed.
func (p Project) permissions(ctx context.Context, hooksDir string) (permissions, error) {
	var none permissions
	root := hookproject.Root(hooksDir)
	file := filepath.Join(root, filepath.FromSlash(rbac.Path))
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	roles, err := objects.ReadRegular(file, rbac.Path)
	if err != nil {
		return none, err
	}
	perms := permissions{own: []string{HookNamespace}}
	if perms.recorded, err = rbac.GrantsOf(roles); err != nil {
		return none, err
	}
	var cfg *project.Config
	src, err := filestat.ReadFile(filepath.Join(root, project.File))
	switch {
	case errors.Is(err, filestat.ErrIrregular):
		return none, fault.Failed("move it away, and restore the file", "%s is %v", project.File, filestat.ErrIrregular)
	case err == nil:
		if cfg, err = project.Parse(src); err != nil { // the error starts with line:column
			return none, &fault.Error{Code: fault.Code(err), Msg: project.File + ":" + err.Error(), Hint: fault.HintOf(err)}
		}
		perms.own = append(perms.own, cfg.Namespace())
	}
	perms.derived = sync.OnceValues(func() (rbac.Grants, error) {
		result, err := p.Loader.DeriveRoles(ctx, root, hooksDir, cfg, hookproject.RoleOptions{WorkDir: p.WorkDir, OnInvalid: p.OnInvalid})
		if err != nil {
			return rbac.Grants{}, err
		}
		derived, err := hookproject.RoleObjects(result, "")
		if err != nil {
			return rbac.Grants{}, err
		}
		return rbac.GrantsOf(derived)
	})
	return perms, nil
}

// denied returns a message for each request that no rule allows.
func (p permissions) denied(all []rbac.Request) (messages []string, err error) {
	for _, r := range all {
		if p.derived == nil || allowed(p.recorded, r, p.own) {
			continue
		}
		derived, err := p.derived()
		if err != nil {
			return nil, err
		}
		if !allowed(derived, r, p.own) {
			messages = append(messages, "no RBAC rule allows the hook to "+r.String()+"; declare it with a marker in the hook: "+r.Marker())
		}
	}
	return messages, nil
}

// allowed reports whether the rules allow a request. kubectl scale --current-replicas
// updates the scale instead of patching it.
func allowed(g rbac.Grants, r rbac.Request, own []string) bool {
	if g.Allow(r, own...) {
		return true
	}
	if r.Verb != "patch" || r.Subresource != "scale" {
		return false
	}
	r.Verb = "update"
	return g.Allow(r, own...)
}
